//go:build unix

package actionsrunner

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/store"
)

// What the real program said, line by line, is read as what it did: once it listens it listens or has a job, and
// in the end there is a cause where it gave one.
func TestApply_RealProgram_H71(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "internal", "githubsim", "simrunner", "testdata", "plays.txt"))
	if err != nil {
		t.Fatal(err)
	}
	causes := map[string]string{
		"deprecated-start": store.CauseDeprecated, "deprecated-idle": store.CauseDeprecated,
		"deleted-before": store.CauseRefused, "deleted-idle": store.CauseRefused, "used-up": store.CauseRefused, "oauth-403-start": store.CauseRefused,
		"conflict-99": agent.CauseConflict,
	}
	line := regexp.MustCompile(`(?m)^ *[\d.]+ (out|ERR|---) +(.*)$`)
	_, text, _ := strings.Cut(string(raw), "\n## ")
	played := 0
	for play := range strings.SplitSeq(text, "\n## ") {
		name, lines, _ := strings.Cut(play, "\n")
		played++
		var st agent.Status
		lives := false
		for _, m := range line.FindAllStringSubmatch(lines, -1) {
			if m[1] == "---" {
				if want := causes[name]; want != "" && strings.HasSuffix(strings.TrimSpace(lines), m[0]) && st.Cause != want {
					t.Errorf("%s: cause at its end = %q, want %q", name, st.Cause, want)
				}
				continue
			}
			if strings.Contains(m[2], "√ Connected") && st.Jobs > 0 {
				st = agent.Status{} // another start
			}
			begins := strings.Contains(m[2], "Running job: ")
			ends := strings.Contains(m[2], " completed with result: ")
			lives = begins || lives && !ends
			online := st.Online
			apply(&st, m[2], func() bool { return lives })
			switch {
			case lives && st.State != agent.Busy, !lives && online && st.State != agent.Listening:
				t.Errorf("%s: after %q %+v, want busy %t, or listening", name, m[2], st, lives)
			case strings.Contains(m[2], "Runner connect error") && st.Cause == "":
				t.Errorf("%s: no cause of %q", name, m[2])
			}
		}
	}
	if played != 34 {
		t.Errorf("%d plays, want 34", played)
	}
}
