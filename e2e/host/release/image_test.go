//go:build linux

package release

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
)

// patience is how long one thing may take on a busy computer.
const patience = 3 * time.Minute

// engine starts a real container engine in a folder, and returns what its client needs to reach it.
func engine(t *testing.T) func(args ...string) *exec.Cmd {
	t.Helper()
	hosttest.Require(t, "dockerd", "docker.io", "docker", "docker.io")
	dir, err := os.MkdirTemp("", "remuda-docker-") //nolint:usetesting // short: the path of a socket is bounded
	if err != nil {
		t.Fatal(err)
	}
	socket, group := "unix://"+filepath.Join(dir, "s"), filepath.Base(dir)
	// The containers have a control group of their own: an agent that was killed while it cleaned up may have left the engine's
	// usual group frozen, and each container would hang in it.
	daemon := exec.Command("dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=vfs", "--host="+socket, "--cgroup-parent=/"+group,
		"--data-root="+filepath.Join(dir, "data"), "--exec-root="+filepath.Join(dir, "exec"), "--pidfile="+filepath.Join(dir, "pid"))
	var said strings.Builder
	daemon.Stdout, daemon.Stderr = &said, &said
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Signal(os.Interrupt) // it ends what it runs
		_ = daemon.Wait()
		if t.Failed() {
			t.Log(program.Tail("dockerd", []byte(said.String())))
		}
		namespaces, _ := filepath.Glob(filepath.Join(dir, "exec/netns/*")) // the pattern is a good one
		for _, mount := range namespaces {                                 // the engine leaves the one of the computer mounted
			if err := unix.Unmount(mount, unix.MNT_DETACH); err != nil {
				t.Errorf("unmount %s: %v", mount, err)
			}
		}
		groups, _ := filepath.Glob("/sys/fs/cgroup/*/" + group) // one for each controller where the hierarchy is of version 1
		for _, path := range append(groups, filepath.Join("/sys/fs/cgroup", group)) {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	docker := func(args ...string) *exec.Cmd {
		return exec.Command("docker", append([]string{"--host", socket}, args...)...)
	}
	program.T{TB: t}.Check(program.Until(patience, "the engine answers", func() bool { return docker("version").Run() == nil }))
	return docker
}

// The image runs in a real engine, as nobody in particular and with a file system that cannot be written. It trusts the roots in
// it: a server whose root is not among them is refused, and accepted once an operator mounts that root beside them.
func TestImage_RunsAndTrustsItsRoots(t *testing.T) {
	docker := engine(t)
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			if arch != runtime.GOARCH {
				everyTarget(t)
				hosttest.Emulate(t)
			}
			imageRuns(t, docker, arch)
		})
	}
}

func imageRuns(t *testing.T, docker func(args ...string) *exec.Cmd, arch string) {
	image := one(t, release(t), "*_image_"+arch+".tar")
	out, err := docker("load", "--quiet", "--input", image).CombinedOutput()
	if err != nil {
		t.Fatalf("load: %v\n%s", err, out)
	}
	_, tag, ok := strings.Cut(strings.TrimSpace(string(out)), "Loaded image: ")
	if !ok {
		t.Fatalf("load said %q", out)
	}
	version := strings.Split(filepath.Base(image), "_")[1]
	// The engine warns on standard error of an image for another architecture.
	if out := string(must(t, docker("run", "--rm", "--read-only", "--network=none", tag, "version"))); !strings.HasPrefix(out, "remuda v"+version+" ") || !strings.Contains(out, "linux/"+arch) {
		t.Fatalf("version: %s", out)
	}

	container := strings.TrimSpace(string(must(t, docker("create", tag))))
	archive := must(t, docker("cp", container+":/etc/ssl/certs/ca-certificates.crt", "-"))
	trusted := map[string]bool{}
	for block, rest := pem.Decode(archive); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		trusted[c.Subject.CommonName] = true
	}
	if !trusted["Amazon Root CA 1"] || len(trusted) < 50 {
		t.Errorf("the image trusts %d roots, without Amazon's or too few", len(trusted))
	}

	var asked atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.NotFound(w, nil)
	}))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	root := filepath.Join(t.TempDir(), "root.pem")
	if err := os.WriteFile(root, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o644); err != nil { //nolint:gosec // the container's user reads it
		t.Fatal(err)
	}
	controller := func(until func(said string) bool, mounts ...string) {
		t.Helper()
		args := append([]string{"run", "--rm", "--read-only", "--network=host", "--tmpfs=/var/lib/remuda:uid=65532", "--env=REMUDA_GITHUB_TOKEN=ghp_x"}, mounts...)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := docker(append(args, tag, "controller", "--log-format=text", "--set=http.listen=127.0.0.1:0", "--set=github.url="+server.URL+"/octo/remuda")...)
		var said safe
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		err := program.Until(patience, "the controller has called", func() bool { return ctx.Err() != nil || until(said.String()) })
		_ = cmd.Process.Signal(os.Interrupt) // which the client passes on
		<-ended
		if err != nil {
			t.Errorf("%v; it said:\n%s", err, said.String())
		}
	}
	controller(func(said string) bool { return strings.Contains(said, "certificate signed by unknown authority") })
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests came from a controller that does not know the server's root", n)
	}
	controller(func(string) bool { return asked.Load() > 0 }, "--volume="+root+":/etc/ssl/certs/own.pem:ro")
}
