package aws

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3test"
	"github.com/remuda-run/remuda/internal/finding"
	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
	"github.com/remuda-run/remuda/store"
)

// From an empty bucket to a runner: `remuda init --publish` puts program and runner there, machines fetch both as their role,
// which may do no more in the bucket than deploy/iam/agent.json says, and a request is Ready.
func TestPublished(t *testing.T) {
	t.Parallel()
	const bucket = "remuda-e2e"
	w := newWorld(t, func(w *world) {
		w.env = []string{"REMUDA_INTERVALS_HOUSEKEEPING=500ms"}
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
	w.warmUp("4711", 1)
	first := string(w.machine(func(in store.Instance) bool { return !in.PooledAt.IsZero() }).ID)
	w.diagnosed(
		"ok bucket: s3://remuda-e2e/release.json has program ", "ok program: s3://remuda-e2e/program/"+binarySum+"/remuda, for "+arch[0],
		"ok runner: s3://remuda-e2e/runner/"+sum, "ok instance profile: "+w.name+" has the role ", "ok github: ", "ok controller: ",
	)
	w.s3.Set(bucket, "program/"+binarySum+"/remuda", []byte("other"))
	w.diagnosed("failed program: s3://remuda-e2e/program/" + binarySum + "/remuda has SHA-256 ")

	// Another program is published: machines are made of it, and the warm one goes.
	content, err := os.ReadFile(program.Binary)
	w.Check(err)
	next := filepath.Join(w.dir, "next")
	w.Check(os.WriteFile(next, append(content, "next"...), 0o600)) // what follows a program's end is not read
	w.init("--publish", "--program", arch[0]+"="+next, "--runner", arch[0]+"="+archive+","+sum)
	w.controller.Says("something else is published: machines will be made of it")
	w.gone(first)
	_, err = w.Remuda(w.Context(), "request", "--id", "4712", "--count", "1", "--resource-class", "small", "--timeout", patience.String())
	w.Check(err)
	second := w.machine(func(in store.Instance) bool { return in.RunID == "4712" })
	if !strings.HasSuffix(second.TemplateVersion, "/2") {
		t.Errorf("machine %s is of template %s, want version 2, of what is published now", second.ID, second.TemplateVersion)
	}

	// What it printed last outlives it, in the bucket.
	id := string(second.ID)
	w.Check(w.machines.ShutDown(id))
	w.until("output of "+id+" is in the bucket", func() bool { return w.s3.Object(bucket, "logs/"+string(second.Principal)+"/last.json") != nil })
	got, err := w.Remuda(w.Context(), "logs", id, "--source", "runner")
	w.Check(err)
	if !strings.Contains(string(got), "Listening for Jobs") {
		t.Errorf("remuda logs %s = %s, want what the runner printed", id, got)
	}
}

// machine returns the first of a kind.
func (w *world) machine(is func(store.Instance) bool) store.Instance {
	w.Helper()
	w.Check(w.witness.Look(w.Context()))
	all := w.witness.Instances()
	i := slices.IndexFunc(all, is)
	if i < 0 {
		w.Fatalf("no such machine among %v", all)
	}
	return all[i]
}

// diagnosed expects findings of `remuda doctor`, each by its verdict, check and the beginning of its detail.
func (w *world) diagnosed(wants ...string) {
	w.Helper()
	out, err := w.run(w.Context(), w.parts.controller, "doctor", "-o", "json")
	var view struct{ Checks []finding.Finding }
	if bad := json.Unmarshal(out, &view); bad != nil {
		w.Fatalf("remuda doctor: %v, %v", bad, err)
	}
	for _, want := range wants {
		if !slices.ContainsFunc(view.Checks, func(f finding.Finding) bool {
			return strings.HasPrefix(fmt.Sprintf("%s %s: %s", f.Verdict, f.Check, f.Detail), want)
		}) {
			w.Errorf("remuda doctor finds %v, want %s", view.Checks, want)
		}
	}
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
