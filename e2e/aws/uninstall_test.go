package aws

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3test"
)

// An installation with a machine, and another whose name begins alike: the first is uninstalled while its controller runs,
// which drains the machine and is then stopped. What the stack owns is left of it, with --all nothing, and all of the other.
func TestUninstall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world) {
		w.s3 = s3test.New(w, awstest.Region, "remuda-e2e", "remuda-other")
		for _, e := range []endpoints{w.parts.controller, w.parts.client, w.parts.machine} {
			e["s3"] = w.s3.URL
		}
	})
	text, err := os.ReadFile(w.config())
	w.Check(err)
	text = regexp.MustCompile(`(?m)^ec2:\n( +)`).ReplaceAll(text, []byte("ec2:\n${1}bucket: remuda-e2e\n$1"))
	w.Check(os.WriteFile(w.config(), text, 0o600))
	archive := filepath.Join(w.dir, "actions-runner-linux-x64-2.337.0.tar.gz")
	w.init("--publish", "--program", "x86_64="+program.Binary+","+binarySum, "--runner", "x86_64="+archive+","+w.pack(archive))
	other := w.name + "-b"
	w.Check(os.WriteFile(filepath.Join(w.dir, "other.yaml"), []byte(strings.NewReplacer("://"+w.name, "://"+other, "remuda-e2e", "remuda-other").Replace(string(text))), 0o600))
	w.s3.Set("remuda-other", "release.json", []byte(`{"schema":1}`))
	w.init("--config", filepath.Join(w.dir, "other.yaml"))
	w.host()
	w.controller = w.start("controller", w.environ(w.parts.controller), "controller") // without a witness, whose table goes
	_, err = w.Remuda(w.Context(), "request", "--id", "4711", "--count", "1", "--resource-class", "small", "--timeout", patience.String())
	w.Check(err)
	_, err = w.Remuda(w.Context(), "release", "--id", "4711")
	w.Check(err)

	for args, want := range map[string]string{"": "--yes: must be given", "--yes --fleet process:///tmp/x": "fleet: must be ec2://NAME", "--dry-run --timeout 1": "--timeout: must be"} {
		if _, err := w.uninstall(strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("remuda uninstall %s = %v, want %q", args, err, want)
		}
	}
	before := w.made()
	out, err := w.uninstall("--dry-run")
	for _, want := range []string{
		"machines of " + w.name + ": would end (1)", "launch template " + w.name + "-machine: would delete", "queue " + w.name + "-small: would delete", "objects of bucket remuda-e2e: would delete (",
	} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("remuda uninstall --dry-run = %v, says %s, want %s", err, out, want)
		}
	}
	if got := w.made(); !slices.Equal(got, before) || len(w.cloud.Alive()) != 1 {
		t.Errorf("a dry run left %q of %q, and alive %v", got, before, w.cloud.Alive())
	}

	w.s3.Allow(func(_, action, _ string) bool { return action != "s3:DeleteObjectVersion" }) // which keeps nothing else
	env := append(w.environ(w.parts.client), w.env...)
	uninstall := program.Start(w, program.Command{Name: "uninstall", Args: []string{"uninstall", "--yes"}, Dir: w.dir, Env: env, Patience: patience})
	uninstall.Says("waits for the controller to stop: ")
	if got := w.made(); !slices.Equal(got, before) || len(w.cloud.Alive()) != 0 {
		t.Errorf("while a controller leads: left %q of %q, and alive %v", got, before, w.cloud.Alive())
	}
	if code := w.controller.End(syscall.SIGTERM); code != 0 {
		t.Errorf("controller: exit code %d", code)
	}
	uninstall.Says(`bucket: s3:DeleteObjectVersion on bucket remuda-e2e: access denied: allow s3:DeleteObjectVersion`)
	if code := uninstall.Exit(); code != 1 {
		t.Fatalf("uninstall: exit code %d, want 1", code)
	}
	others := []string{"bucket remuda-other", "queue " + other + "-events", "queue " + other + "-small", "table " + other, "template " + other + "-machine"}
	owned := append(others, "queue "+w.name+"-events", "table "+w.name)
	slices.Sort(owned)
	if got, want := w.made(), append([]string{"bucket remuda-e2e"}, owned...); !slices.Equal(got, want) {
		t.Errorf("left: %q, want %q", got, want)
	}
	w.s3.Allow(nil)
	for _, again := range []struct {
		args, says string
		left       []string
	}{
		{"--yes", "objects of bucket remuda-e2e: deleted (", owned}, {"--yes --all", ": 2 deleted", others}, {"--yes --all", "Nothing to delete.", others},
	} {
		if out, err := w.uninstall(strings.Fields(again.args)...); err != nil || !strings.Contains(out, again.says) {
			t.Errorf("remuda uninstall %s = %v, says %s, want %s", again.args, err, out, again.says)
		}
		if got := w.made(); !slices.Equal(got, again.left) {
			t.Errorf("left after %s: %q, want %q", again.args, got, again.left)
		}
	}
}

// uninstall runs `remuda uninstall` as an operator.
func (w *world) uninstall(args ...string) (string, error) {
	out, err := w.run(w.Context(), w.parts.client, append([]string{"uninstall"}, args...)...)
	return string(out), err
}

// made is what exists of installations whose names begin with that of w, and which of the two buckets hold objects.
func (w *world) made() (out []string) {
	w.Helper()
	var tables []string
	for pages := dynamodb.NewListTablesPaginator(w.db(), &dynamodb.ListTablesInput{}); pages.HasMorePages(); {
		page, err := pages.NextPage(w.Context())
		w.Check(err)
		tables = append(tables, page.TableNames...)
	}
	queues, err := sqs.NewFromConfig(awstest.Config(w, w.moto)).ListQueues(w.Context(), &sqs.ListQueuesInput{QueueNamePrefix: &w.name})
	w.Check(err)
	for _, name := range tables {
		if strings.HasPrefix(name, w.name) {
			out = append(out, "table "+name)
		}
	}
	for _, url := range queues.QueueUrls {
		out = append(out, "queue "+url[strings.LastIndexByte(url, '/')+1:])
	}
	for _, name := range w.cloud.Templates() {
		out = append(out, "template "+name)
	}
	for _, name := range []string{"remuda-e2e", "remuda-other"} {
		if w.s3.Objects(name) > 0 {
			out = append(out, "bucket "+name)
		}
	}
	slices.Sort(out)
	return out
}
