package action_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// uses is how the examples name the action.
const uses = "remuda-run/remuda@v1"

// actionlint checks workflows in a checkout in which the action is a local one: it knows the inputs and
// outputs of those.
func actionlint(t *testing.T, workflows map[string]string) string {
	t.Helper()
	modfile, err := filepath.Abs(filepath.Join(root, "tools/actionlint/go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "action.yml"), read(t, "action.yml"))
	for _, script := range []string{"index.js", "post.js"} {
		write(t, filepath.Join(dir, "action/dist", script), nil) // it wants to see them
	}
	write(t, filepath.Join(dir, ".git/HEAD"), nil) // by which it knows the checkout
	args := []string{"tool", "-modfile=" + modfile, "actionlint", "-no-color", "-shellcheck=", "-pyflakes="}
	for name, text := range workflows {
		path := filepath.Join(dir, ".github/workflows", name)
		write(t, path, []byte(strings.ReplaceAll(text, uses, "./")))
		args = append(args, path)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	var problems bytes.Buffer // of go, which says there what it downloads first
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		t.Fatalf("actionlint: %v\n%s", err, problems.String())
	}
	return string(out)
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The workflows that users copy are right, and so is action.yml as they use it.
func TestExamples_PassActionlint(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "examples/*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("examples: %d files, %v", len(files), err)
	}
	workflows := map[string]string{}
	for _, file := range files {
		text := string(read(t, "examples/"+filepath.Base(file)))
		if !strings.Contains(text, "uses: "+uses) {
			t.Errorf("%s does not use %s", file, uses)
		}
		workflows[filepath.Base(file)] = text
	}
	if out := actionlint(t, workflows); out != "" {
		t.Errorf("actionlint:\n%s", out)
	}
}

// Were an input or an output misspelt, the check above would say so.
func TestExamples_MistakesAreFound(t *testing.T) {
	good := string(read(t, "examples/ci.yml"))
	for wrong, right := range map[string]string{"instance-counts:": "instance-count:", "outputs.lable }}\n    steps": "outputs.label }}\n    steps"} {
		bad := strings.Replace(good, right, wrong, 1)
		if out := actionlint(t, map[string]string{"bad.yml": bad}); bad == good || !strings.Contains(out, "not defined") {
			t.Errorf("with %q: actionlint said %q", wrong, out)
		}
	}
}
