package awserrors

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/faults"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// site is an account, an operator's configuration file, and a proxy that refuses some calls.
type site struct {
	program.T
	name    string // of the installation, its table and its queues
	dir     string
	dynamo  string // endpoints behind the proxies
	moto    string
	ec2     string
	proxies []*faults.Transport
	env     []string
}

// namePrefix begins the name of every installation: whatever else is in the account was left unowned.
const namePrefix = "err-"

// githubToken is the credential of the simulated GitHub, which always serves.
const githubToken = "simulated"

// patience is how long one thing may take on a busy machine.
const patience = 2 * time.Minute

// newSite makes what an operator has before `remuda init`. Calls that rules are about fail.
func newSite(t testing.TB, rules ...faults.Rule) *site {
	t.Helper()
	s := &site{
		T: program.T{TB: t}, name: namePrefix + strings.ToLower(rand.Text()[:10]), dir: t.TempDir(),
		dynamo: awstest.DynamoDBLocal(t), moto: awstest.Moto(t),
	}
	cloud := ec2test.New(t)
	s.ec2 = cloud.URL
	cloud.SetProfile(s.name, ec2test.RoleID)
	through := func(upstream string) string {
		endpoint, proxy := faults.Proxy(t, upstream, faults.Faults{Seed: 1, Rules: rules})
		s.proxies = append(s.proxies, proxy)
		return endpoint
	}
	ec2 := through(s.ec2)
	hub := httptest.NewServer(githubsim.Handler(githubsim.New(githubsim.Options{Clock: clock.RealClock{}}), githubToken))
	t.Cleanup(hub.Close)
	s.env = append(awstest.Env(map[string]string{"dynamodb": through(s.dynamo), "sqs": through(s.moto), "ec2": ec2, "iam": ec2, "sts": s.moto}),
		"PATH="+os.Getenv("PATH"), "HOME="+s.dir, "REMUDA_CONFIG="+filepath.Join(s.dir, "remuda.yaml"), "REMUDA_GITHUB_TOKEN="+githubToken)
	at := func(scheme string) string { return scheme + "://" + s.name + "?region=" + awstest.Region }
	s.write("remuda.yaml", map[string]any{
		"name": s.name, "store": at("dynamodb"), "pool": at("sqs"), "fleet": at("ec2"),
		"classes": map[string]any{"small": map[string]int{"cpu": 2, "mem": 4096}},
		"github":  map[string]any{"url": hub.URL + "/octo/repo"},
		"agent":   map[string]any{"runnerUser": "ci"},
		"ec2": map[string]any{
			"subnets": cloud.Subnets()[:2], "securityGroups": []string{ec2test.Group}, "ami": ec2test.AMI, "instanceProfile": s.name,
		},
	})
	return s
}

// heal lets every call through.
func (s *site) heal() {
	for _, p := range s.proxies {
		p.Enable(false)
	}
}

// fail lets the rules strike again.
func (s *site) fail() {
	for _, p := range s.proxies {
		p.Enable(true)
	}
}

func (s *site) write(name string, content any) string {
	s.Helper()
	text, err := yaml.Marshal(content)
	s.Check(err)
	path := filepath.Join(s.dir, name)
	s.Check(os.WriteFile(path, text, 0o600))
	return path
}

// start runs a verb in the background until the test ends, and then wants it to end well unless the test has
// seen its end.
func (s *site) start(args ...string) *program.Daemon {
	s.Helper()
	d := program.Start(s, program.Command{Name: args[0], Args: args, Dir: s.dir, Env: s.env, Patience: patience})
	s.Cleanup(func() {
		if d.State() == nil {
			s.exits(exitDone, d.End(syscall.SIGTERM), d)
		}
	})
	return d
}

// exits wants an exit code.
func (s *site) exits(want, got int, d *program.Daemon) {
	s.Helper()
	if got != want {
		s.Errorf("%s: exit code %d, want %d", d.Name, got, want)
	}
}

// run runs one command line and returns what it printed and its exit code. Later settings in env win.
func (s *site) run(env []string, args ...string) (out, problems string, code int) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program.Binary, args...)
	cmd.Dir, cmd.Env = s.dir, append(s.env[:len(s.env):len(s.env)], env...)
	var o, p bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &p
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		s.Fatalf("remuda %s: %v: %v", strings.Join(args, " "), err, context.Cause(ctx))
	}
	return o.String(), p.String(), cmd.ProcessState.ExitCode()
}

// ends runs a command line that must end with code and say everything that is wanted.
func (s *site) ends(code int, want []string, args ...string) {
	s.Helper()
	out, problems, got := s.run(nil, args...)
	s.judge(strings.Join(args, " "), out, problems, got, code, want)
}

func (s *site) judge(what, out, problems string, got, code int, want []string) {
	s.Helper()
	if got != code {
		s.Errorf("remuda %s: exit code %d, want %d\n%s%s", what, got, code, out, problems)
	}
	for _, w := range want {
		if !strings.Contains(problems, w) {
			s.Errorf("remuda %s does not say %q:\n%s", what, w, problems)
		}
	}
	if strings.Contains(problems, "SDK ") || strings.Contains(problems, "secretForTestsOnly") || len(problems) > 6000 {
		s.Errorf("remuda %s tells a secret, what only the SDK understands, or too much: %d bytes\n%.6000s", what, len(problems), problems)
	}
}
