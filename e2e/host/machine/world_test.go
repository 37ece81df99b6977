//go:build linux

package machine

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/store"
)

// patience is how long one thing may take on a busy computer.
const patience = 4 * time.Minute

// world is an AWS account with an installation whose machines boot.
type world struct {
	program.T
	name      string
	dir       string
	env       []string
	cloud     *ec2test.Server
	endpoints map[string]string
	github    program.GitHub
	computers *computers
}

// image is what an operator's image has for these jobs: an engine, nft, the programs of containers, and what jobs can start later.
var image = hosttest.Image{Packages: []string{"at", "busybox-static", "cron", "dbus-user-session", "docker.io", "libicu72", "nftables", "openssh-client", "uidmap"}}

// jobs is the user of jobs on these machines, who may use the container engine, and their home.
const jobs = "runner"

// bucket is where machines find their program.
const bucket = "s3://host-program/remuda"

// newWorld makes an installation, and switches its controller on. object is the program, as the bucket has it; nil: it has
// none. env adds settings.
func newWorld(t *testing.T, object []byte, env ...string) *world {
	t.Helper()
	hosttest.Require(t)
	w := &world{T: program.T{TB: t}, name: "host-" + strings.ToLower(rand.Text()[:10]), dir: t.TempDir(), cloud: ec2test.New(t), env: env}
	db, moto := awstest.DynamoDBLocal(t), awstest.Moto(t)
	w.endpoints = map[string]string{"dynamodb": db, "sqs": moto, "sts": moto, "ec2": w.cloud.URL, "iam": w.cloud.URL}
	role, err := iam.NewFromConfig(awstest.Config(t, moto)).CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: &w.name, AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[]}`),
	})
	w.Check(err)
	w.cloud.SetProfile(w.name, *role.Role.RoleId)
	w.github = w.start("github", nil, "dev", "github", "--silence", "30s").GitHub()
	w.computers = &computers{
		ec2: w.cloud, sts: sts.NewFromConfig(awstest.Config(t, moto)), role: *role.Role.Arn, dir: filepath.Join(w.dir, "machines"),
		byID: map[string]*hosttest.Machine{},
	}
	s3 := httptest.NewServer(w.s3(object))
	t.Cleanup(s3.Close)
	w.endpoints["s3"] = s3.URL
	w.computers.options = w.options()
	w.configure(object)
	w.beside(func(ctx context.Context) error { return w.computers.run(ctx, t) })
	w.remuda("init")
	w.start("controller", w.environ(), "controller")
	return w
}

// s3 serves the object to machines that sign for it.
func (w *world) s3(object []byte) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		status, code := w.computers.allows(r)
		if code == "" && (object == nil || r.URL.Path != strings.TrimPrefix(bucket, "s3:/")) {
			status, code = http.StatusNotFound, "NoSuchKey"
		}
		if code != "" {
			rw.WriteHeader(status)
			_, _ = fmt.Fprintf(rw, "<Error><Code>%s</Code></Error>", code)
			return
		}
		_, _ = rw.Write(object)
	})
}

func (w *world) configure(object []byte) {
	w.Helper()
	limits, err := os.ReadFile(filepath.Join("testdata", "remuda.yaml"))
	w.Check(err)
	sum := sha256.Sum256(object)
	own := map[string]any{
		"name": w.name, "store": "dynamodb://" + w.name + "?region=" + awstest.Region,
		"pool": "sqs://" + w.name + "?region=" + awstest.Region, "fleet": "ec2://" + w.name + "?region=" + awstest.Region,
		"ec2": map[string]any{
			"subnets": w.cloud.Subnets(), "securityGroups": []string{ec2test.Group}, "ami": ec2test.AMI,
			"instanceProfile": w.name, "binaryUrl": bucket, "binarySha256": hex.EncodeToString(sum[:]),
		},
	}
	text, err := yaml.Marshal(own)
	w.Check(err)
	w.Check(os.WriteFile(w.config(), bytes.Join([][]byte{limits, text, []byte(w.github.Settings)}, []byte("\n")), 0o600))
}

// options are those of a machine: what an operator's image has, and the way to what is outside.
func (w *world) options() hosttest.Options {
	o := hosttest.Options{Image: image, Reach: map[string]string{}, Files: map[string]hosttest.File{
		"/etc/systemd/system.conf.d/aws.conf": environment(map[string]string{
			"dynamodb": w.endpoints["dynamodb"], "sqs": w.endpoints["sqs"], "sts": w.endpoints["sts"], "s3": w.endpoints["s3"],
		}),
		"/etc/sysusers.d/jobs.conf": {Text: "u " + jobs + " 1500 - /srv/" + jobs + " /bin/bash\nm " + jobs + " docker\n", Mode: 0o644},
		"/etc/tmpfiles.d/jobs.conf": {Text: "d /srv/" + jobs + " 0700 " + jobs + " " + jobs + "\n", Mode: 0o644},
		// What forwards packets of containers is the machine's own matter: the engine may write no switch of the kernel here.
		"/etc/docker/daemon.json": {Text: `{"iptables": false, "bridge": "none"}`, Mode: 0o644},
	}}
	for _, raw := range []string{w.endpoints["s3"], w.github.Root, w.endpoints["dynamodb"], w.endpoints["sqs"]} {
		u, err := url.Parse(raw)
		w.Check(err)
		o.Reach[u.Host] = u.Host
	}
	return o
}

func (w *world) config() string { return filepath.Join(w.dir, "remuda.yaml") }

func (w *world) environ() []string {
	env := append(awstest.Env(w.endpoints), w.env...)
	return append(env, "PATH="+os.Getenv("PATH"), "HOME="+w.dir, "REMUDA_CONFIG="+w.config(), "REMUDA_SIMULATED_TOKEN="+w.github.Token)
}

func (w *world) start(name string, env []string, args ...string) *program.Daemon {
	w.Helper()
	return program.Start(w, program.Command{Name: name, Args: args, Dir: w.dir, Env: env, Patience: patience})
}

// remuda runs one command line, which must succeed.
func (w *world) remuda(args ...string) []byte {
	w.Helper()
	out, err := program.Run(w.Context(), w.dir, w.environ(), args...)
	w.Check(err)
	return out
}

// beside runs f until the test ends.
func (w *world) beside(f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	w.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.Error(err)
		}
	})
}

// request asks for one machine and returns its id.
func (w *world) request(run string, more ...string) string {
	w.Helper()
	args := append([]string{"request", "--id", run, "--count", "1", "--resource-class", "small", "--timeout", patience.String(), "-o", "json"}, more...)
	answer, err := program.JSON[struct{ Instances []store.Seat }](w.remuda(args...), nil)
	w.Check(err)
	if len(answer.Instances) != 1 {
		w.Fatalf("request %s: %d instances, want 1", run, len(answer.Instances))
	}
	return string(answer.Instances[0].InstanceID)
}

// job runs one job of a run, which must succeed.
func (w *world) job(run, script string) {
	w.Helper()
	w.remuda("dev", "submit", "--run", run, "--wait", "--script", "set -e\n"+script)
}

// until waits for a condition.
func (w *world) until(what string, holds func() bool) {
	w.Helper()
	w.Check(program.Until(patience, what, holds))
}

// booted waits for the first machine to boot.
func (w *world) booted() (id string, m *hosttest.Machine) {
	w.Helper()
	w.until("a machine boots", func() bool {
		return slices.ContainsFunc(w.cloud.Instances(), func(i ec2test.Instance) bool {
			id, m = i.ID, w.computers.machine(i.ID)
			return m != nil
		})
	})
	return id, m
}

// gone waits until a machine has switched itself off, and EC2 has terminated it for that.
func (w *world) gone(id string, m *hosttest.Machine) {
	w.Helper()
	w.until(id+" is off", func() bool {
		select {
		case <-m.Off():
			return !slices.Contains(w.cloud.Alive(), id)
		default:
			return false
		}
	})
}
