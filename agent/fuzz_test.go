package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzStateFile: whatever the file holds, the agent starts; what it cannot read makes the machine one
// that was used, on which no job may run; and what it can is written back and read as the same.
func FuzzStateFile_S15_H49(f *testing.F) {
	f.Add([]byte(`{"startedAt":"2026-01-02T03:04:05.678Z","boot":"b","version":7,"work":{"assignment":1,"runId":"12-a","listener":{"pid":-1,"start":0}},"repository":"octo"}`), "12", "Octo/repo")
	f.Add([]byte(`{"work":{"runId":"12-a"`), "12", "octo/repo")
	f.Add([]byte(`{}`), "", "")
	f.Add([]byte(`{"work":{"runId":"-1"}}`), "", "octo/repo")
	f.Add([]byte(`{"work":{"runId":"1"},"repository":"octo"}`), "1", "octopus/repo")
	f.Fuzz(func(t *testing.T, content []byte, run, repository string) {
		dir := t.TempDir()
		path := filepath.Join(dir, stateFile)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		was, readErr := readState(path)
		allowed := JobStarted(dir, []string{"GITHUB_RUN_ID=" + run, "GITHUB_REPOSITORY=" + repository}) == nil
		if owner, _, _ := strings.Cut(repository, "/"); allowed && (readErr != nil || run == "" ||
			!strings.HasPrefix(string(was.Work.RunID)+"-", run+"-") ||
			was.Repository != "" && !strings.EqualFold(was.Repository, owner) && !strings.EqualFold(was.Repository, repository)) {
			t.Errorf("state %s: a job of run %q in %q is allowed", content, run, repository)
		}
		d, err := openDisk(path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatalf("openDisk = %v", err)
		}
		if readErr != nil && !d.get().Work.used() {
			t.Errorf("state %q cannot be read, and the machine counts as unused", content)
		}
		if err := d.update(func(s *State) { s.Serial++ }); err != nil {
			t.Fatalf("update = %v", err)
		}
		if again, err := readState(path); err != nil || again != d.get() {
			t.Errorf("read again = %+v, %v, want %+v", again, err, d.get())
		}
	})
}

// FuzzBaselineFile: what cannot be read is an error, never an empty baseline, after which nothing would
