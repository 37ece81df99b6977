package aws

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3test"
)

// commands are the blocks of shell of a page.
var commands = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

const (
	motoAccount = "123456789012"
	// mostCommands is how many the quickstart may ask for.
	mostCommands = 8
)

// docs/quickstart.md as it stands: a stack by CloudFormation, an App, the program, a doctor who finds nothing, and then a run on what
// all of this made (S13). Stood in for are ids of the network, GitHub's address, the runner's archive, and the host, which this test
// switches on as the stack's would be.
func TestQuickstart(t *testing.T) {
	t.Parallel()
	const bucket = "remuda-" + motoAccount + "-" + awstest.Region
	w := newWorld(t, func(w *world) {
		w.name, w.dynamo = "remuda", w.moto // where the stack makes its table
		w.s3 = s3test.New(w, awstest.Region, bucket)
		ssm := w.parameters()
		for _, e := range []endpoints{w.parts.controller, w.parts.client, w.parts.machine} {
			e["s3"], e["dynamodb"], e["ssm"], e["service_quotas"] = w.s3.URL, w.moto, ssm, w.ec2
			for _, service := range []string{"cloudformation", "secrets_manager", "cloudwatch_logs"} {
				e[service] = w.moto
			}
		}
	})
	w.env = []string{
		"REMUDA_CONFIG=ssm:/remuda/config", "REMUDA_GITHUB_URL=" + w.github.Root + "/octo/remuda", "REMUDA_INTERVALS_HOUSEKEEPING=1s", "REMUDA_HTTP_LISTEN=127.0.0.1:0",
		"REMUDA_AGENT_RUNNER_USER=root", // these machines are folders: jobs run as the agent does
	}
	w.devConfig = w.config()
	page, err := os.ReadFile("../../docs/quickstart.md")
	w.Check(err)
	network, err := ec2.NewFromConfig(awstest.Config(t, w.moto)).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	w.Check(err)
	subnet := network.Subnets[0]
	w.cloud.SetSubnets(ec2test.Subnet{ID: *subnet.SubnetId, Zone: awstest.Region + "a", Free: 100, VPC: *subnet.VpcId})
	w.cloud.SetRoute(*subnet.SubnetId, ec2test.NAT)
	w.cloud.SetQuota("L-1216C47A", 256)
	w.cloud.SetQuota("L-34B43A08", 256)
	w.cloud.Deny("SimulatePrincipalPolicy") // which no stand-in can answer: package deploy/iam simulates the policies
	// moto passes over secrets.
	_, err = secretsmanager.NewFromConfig(awstest.Config(t, w.moto)).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("remuda/github")})
	w.Check(err)
	var script strings.Builder
	count := 0
	for _, block := range commands.FindAllSubmatch(page, -1) {
		for line := range strings.Lines(string(block[1])) {
			script.WriteString(line)
			if !strings.HasPrefix(line, "export ") {
				count++
			}
		}
	}
	literal := strings.NewReplacer("eu-west-1", awstest.Region, "Owner=owner", "Owner=octo", "Repo=name", "Repo=remuda", "vpc-0123456789abcdef0", *subnet.VpcId, "subnet-0123456789abcdef0", *subnet.SubnetId).Replace(script.String())
	if count == 0 || count > mostCommands {
		t.Errorf("%d commands, want 1 to %d", count, mostCommands)
	}

	begun := time.Now()
	printed := filepath.Join(w.dir, "quickstart.log")
	file, err := os.Create(printed)
	w.Check(err)
	out := func() string {
		text, err := os.ReadFile(printed)
		w.Check(err)
		return string(text)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "set -euxo pipefail\n"+literal)
	cmd.Dir = t.TempDir()
	cmd.Env = append(w.environ(w.parts.client), w.env[1:]...)
	cmd.Env = append(cmd.Env, "PATH="+w.tools()+":"+awstest.CLI(t)+":"+os.Getenv("PATH"), "AWS_DEFAULT_REGION="+awstest.Region)
	cmd.Stdout, cmd.Stderr = file, file
	w.Check(cmd.Start())
	done := make(chan error, 1)
	go func() { done <- errors.Join(cmd.Wait(), file.Close()) }()
	ended := false
	wait := func(what string, holds func() bool) {
		w.Helper()
		w.until(what, func() bool {
			select {
			case err := <-done:
				if ended = true; err != nil {
					t.Fatalf("%v:\n%s", err, out())
				}
			default:
			}
			return ended || holds()
		})
	}

	address := regexp.MustCompile(`open (http://127\.0\.0\.1:\d+/\?key=\w+) in`)
	wait("the page of the App", func() bool { return address.MatchString(out()) })
	groups, err := ec2.NewFromConfig(awstest.Config(t, w.moto)).DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{
		Filters: []ec2types.Filter{{Name: aws.String("description"), Values: []string{"Machines of remuda remuda, nothing comes in"}}},
	})
	w.Check(err)
	w.cloud.SetGroup(*groups.SecurityGroups[0].GroupId, *subnet.VpcId)
	role, err := iam.NewFromConfig(awstest.Config(t, w.moto)).GetRole(t.Context(), &iam.GetRoleInput{RoleName: aws.String("remuda-agent")})
	w.Check(err)
	w.role = role.Role
	w.cloud.SetProfile("remuda-agent", *w.role.RoleId)
	w.Check(w.clicks(address.FindStringSubmatch(out())[1]))
	wait("the release", func() bool { return w.s3.Object(bucket, "release.json") != nil })
	wait("template", func() bool { return len(w.cloud.Templates()) > 0 })
	w.host()
	w.controller = w.start("controller", append(w.environ(w.parts.controller), w.env...), "controller") // not yet with a witness, whose table goes
	wait("the last command", func() bool { return false })
	if !strings.Contains(out(), "Nothing is new for the stack's host, which is of arm64: ") {
		t.Error("a build that is no release is published without a word about the host")
	}
	t.Logf("%d commands in %s, of simulated AWS and GitHub", count, time.Since(begun).Round(time.Second))
	t.Run("a run", func(t *testing.T) {
		watched := *w
		watched.T = program.T{TB: t}
		watched.watch()
		watched.warmUp("4711", 1)
	})
	t.Log(out())
	w.endsWithoutTrace(bucket, append(cmd.Env, w.env[0])) // which the page exports
}

// endsWithoutTrace ends the installation as docs/aws.md says, with its stack.
func (w *world) endsWithoutTrace(bucket string, env []string) {
	w.Helper()
	if left := w.stackMade(); len(left) < 8 || w.s3.Objects(bucket) == 0 {
		w.Errorf("before the end there are %q and %d objects, want more", left, w.s3.Objects(bucket))
	}
	uninstall := program.Start(w, program.Command{Name: "uninstall", Args: []string{"uninstall", "--yes"}, Dir: w.dir, Env: env, Patience: patience})
	uninstall.Says("waits for the controller to stop: ")
	if code := w.controller.End(syscall.SIGTERM); code != 0 {
		w.Errorf("controller: exit code %d", code)
	}
	if code := uninstall.Exit(); code != 0 {
		w.Fatalf("uninstall: exit code %d", code)
	}
	if alive, n := w.cloud.Alive(), w.s3.Objects(bucket); len(alive)+n > 0 { // CloudFormation refuses a bucket that is not empty
		w.Errorf("after uninstall machines %v are alive, and %d objects are in the bucket", alive, n)
	}
	remove := exec.CommandContext(w.Context(), "bash", "-c", "aws cloudformation delete-stack --stack-name remuda")
	remove.Env = env
	if out, err := remove.CombinedOutput(); err != nil {
		w.Fatalf("delete the stack: %v\n%s", err, out)
	}
	if left := w.stackMade(); len(left) > 0 {
		w.Errorf("the stack and its installation leave %q", left)
	}
}

// stackMade is what exists of the installation and its stack, by what has a name.
func (w *world) stackMade() []string {
	w.Helper()
	out := w.made()
	roles, err := iam.NewFromConfig(awstest.Config(w, w.moto)).ListRoles(w.Context(), &iam.ListRolesInput{})
	w.Check(err)
	for _, r := range roles.Roles {
		if strings.HasPrefix(*r.RoleName, w.name+"-") {
			out = append(out, "role "+*r.RoleName)
		}
	}
	groups, err := cloudwatchlogs.NewFromConfig(awstest.Config(w, w.moto)).DescribeLogGroups(w.Context(), &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: aws.String("/" + w.name)})
	w.Check(err)
	for _, g := range groups.LogGroups {
		out = append(out, "log group "+*g.LogGroupName)
	}
	return out
}

// tools are what stands before the programs of the path: remuda as it was built, told where a runner's archive is.
func (w *world) tools() string {
	w.Helper()
	archive := filepath.Join(w.dir, "actions-runner-linux-x64-2.337.0.tar.gz")
	sum := w.pack(archive)
	dir := filepath.Join(w.dir, "bin")
	w.Check(os.MkdirAll(dir, 0o755))
	w.Check(os.WriteFile(filepath.Join(dir, "remuda"), fmt.Appendf(nil, `#!/bin/bash
case "$*" in
"init --publish") set -- "$@" --runner 'x86_64=%s,%s' ;;
esac
exec '%s' "$@"
`, archive, sum, program.Binary), 0o755))
	return dir
}

// parameters is Systems Manager: AWS's own images, and the parameters of the stack.
func (w *world) parameters() string {
	for _, arch := range []string{"amd64", "arm64"} {
		w.cloud.SetParameter("/aws/service/debian/release/13/latest/"+arch, ec2test.AMI)
	}
	to := func(address string) http.Handler {
		u, err := url.Parse(address)
		w.Check(err)
		return httputil.NewSingleHostReverseProxy(u)
	}
	images, stack := to(w.ec2), to(w.moto)
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte("/aws/service/")) {
			images.ServeHTTP(rw, r)
			return
		}
		stack.ServeHTTP(rw, r)
	}))
	w.Cleanup(srv.Close)
	return srv.URL
}

var (
	formAction = regexp.MustCompile(`<form method="post" action="([^"]+)"`)
	formField  = regexp.MustCompile(`name="(\w+)" value="([^"]*)"`)
	installURL = regexp.MustCompile(`/apps/[\w-]+/installations/new`)
)

// clicks are those of a person before the page of `remuda init github-app`.
func (w *world) clicks(page string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	fetched := func(method, address string, form url.Values) (string, error) {
		return fetched(w.Context(), &http.Client{Jar: jar}, method, address, form)
	}
	text, err := fetched(http.MethodGet, page, nil)
	for _, at := range []string{page, w.github.Root} {
		if err != nil {
			return err
		}
		action := formAction.FindStringSubmatch(text)
		if action == nil {
			return fmt.Errorf("no form in %s", text)
		}
		to := html.UnescapeString(action[1])
		if strings.HasPrefix(to, "/") {
			to = at + to
		}
		fields := url.Values{}
		for _, m := range formField.FindAllStringSubmatch(text, -1) {
			fields.Set(m[1], html.UnescapeString(m[2]))
		}
		text, err = fetched(http.MethodPost, to, fields)
	}
	if err != nil {
		return err
	}
	_, err = fetched(http.MethodPost, w.github.Root+installURL.FindString(text), url.Values{})
	return err
}

// fetched asks for a page, and follows where it leads.
func fetched(ctx context.Context, client *http.Client, method, address string, form url.Values) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, address, resp.Status, text)
	}
	return string(text), err
}
