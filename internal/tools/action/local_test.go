package action_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// localAction runs the sources, not the bundle, with @github/local-action: GitHub's own program for that,
// which reads action.yml and imports the entry point.
func localAction(t *testing.T, dir string) {
	tool := installed(t, "action/smoke")
	write(t, filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`)) // it looks for one beside action.yml
	tests := []struct {
		name, env string
		code      int
		want      []string
	}{
		{"Refresh", "INPUT_MODE=refresh\n", 0, []string{"mode refresh has nothing to do any more"}},
		{"BadInputs", "INPUT_MODE=provision\nINPUT_INSTANCE-COUNT=0\nINPUT_USAGE-CLASS=cheap\nAWS_REGION=eu-west-1\nGITHUB_RUN_ID=1\n", 1, []string{
			`::error title=remuda%3A input::instance-count: must be a whole number from 1 to 10000, got "0"`,
			`::error title=remuda%3A input::usage-class: must be`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := filepath.Join(t.TempDir(), "env")
			write(t, env, []byte(tt.env))
			cmd := exec.CommandContext(t.Context(), filepath.Join(tool, "node_modules/.bin/local-action"), dir, "action/src/main.ts", env)
			cmd.Dir = tool // where it looks for the programs it starts
			cmd.Env = append(os.Environ(), "GITHUB_OUTPUT=", "GITHUB_STATE=", "GITHUB_STEP_SUMMARY=")
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("exit code = %d, %v, want %d", code, err, tt.code)
			}
			for _, want := range tt.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("output lacks %q:\n%s", want, out)
				}
			}
		})
	}
}
