package aws

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3test"
	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
)

// From an empty bucket to a runner: `remuda init --publish` puts program and runner there, machines fetch both as their role,
// which may do no more in the bucket than deploy/iam/agent.json says, and a request is Ready.
func TestPublished(t *testing.T) {
	t.Parallel()
	const bucket = "remuda-e2e"
	w := newWorld(t, func(w *world) {
		w.s3 = s3test.New(w, awstest.Region, bucket)
		w.s3.Allow(func(principal, action, resource string) bool {
			key := strings.TrimPrefix(resource, "arn:aws:s3:::"+bucket+"/")
			return principal == "operator" || action == "s3:GetObject" && (strings.HasPrefix(key, "program/") || strings.HasPrefix(key, "runner/")) ||
				action == "s3:PutObject" && strings.HasPrefix(key, "logs/"+principal+"/")
		})
		for _, e := range []endpoints{w.parts.controller, w.parts.client, w.parts.machine} {
			e["s3"] = w.s3.URL
		}
	})
	text, err := os.ReadFile(w.config())
	w.Check(err)
	text = regexp.MustCompile(`(?m)^ +binary(Url|Sha256): .*\n`).ReplaceAll(text, nil)
	text = regexp.MustCompile(`(?m)^ec2:\n( +)`).ReplaceAll(text, []byte("ec2:\n${1}bucket: "+bucket+"\n$1"))
	w.Check(os.WriteFile(w.config(), text, 0o600))
	if _, err := w.run(w.Context(), w.parts.controller, "init"); err == nil || !strings.Contains(err.Error(), "nothing is published there: run `remuda init --publish`") {
		t.Fatalf("remuda init without a release = %v", err)
	}
	arch := map[string][2]string{"amd64": {"x86_64", "x64"}, "arm64": {"arm64", "arm64"}}[runtime.GOARCH]
	archive := filepath.Join(w.dir, "actions-runner-linux-"+arch[1]+"-2.337.0.tar.gz")
	sum := w.pack(archive)
	out := w.init("--publish", "--program", arch[0]+"="+program.Binary, "--runner", arch[0]+"="+archive+","+sum)
	for _, want := range []string{"program s3://remuda-e2e/program/" + binarySum + "/remuda: created", "runner s3://remuda-e2e/runner/" + sum + "/actions-runner-linux", "release.json: updated"} {
		if !strings.Contains(out, want) {
			t.Errorf("init says %s, want %s", out, want)
		}
	}
	w.begin()
	_, err = w.Remuda(w.Context(), "request", "--id", "4711", "--count", "1", "--resource-class", "small", "--timeout", patience.String())
	w.Check(err)
	_, err = w.Remuda(w.Context(), "release", "--id", "4711")
	w.Check(err)
}

// pack makes an archive of the simulated runner, as GitHub packs the real one.
func (w *world) pack(path string) (sum string) {
	w.Helper()
	dir := w.TempDir()
	w.Check(simrunner.Install(dir, program.Binary))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	files := tar.NewWriter(z)
	w.Check(errors.Join(files.AddFS(os.DirFS(dir)), files.Close(), z.Close()))
	w.Check(os.WriteFile(path, packed.Bytes(), 0o600))
	return fmt.Sprintf("%x", sha256.Sum256(packed.Bytes()))
}
