//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// H38: the job of a listener that was killed ends as it would have, whether or not a run waits for its machine; the release
// waits for it, and the machine goes on. An order to stop at once ends it.
func TestListenerKilled_H38_ItsJobEnds(t *testing.T) {
	t.Parallel()
	for _, mode := range []store.ReleaseMode{store.ReleaseDrain, store.ReleaseNow} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			if mode == store.ReleaseNow {
				program.Long(t, "waits until GitHub gives a job up")
			}
			s := serving(t)
			got := s.request("100", 1)
			dir := t.TempDir()
			up, letGo := filepath.Join(dir, "up"), filepath.Join(dir, "go")
			s.job(githubsim.Job{
				ID: "j", Name: "j", Label: "100", RunID: "100",
				Script: fmt.Sprintf("echo >'%s'\nuntil test -e '%s'; do sleep 0.05; done\n", up, letGo),
			})
			s.Check(program.Until(patience, "the job runs", func() bool { _, err := os.Stat(up); return err == nil }))
			listener, err := process.Lookup(s.listener(got.ids()[0]))
			s.Check(err)
			s.Check(process.Signal(listener, syscall.SIGKILL))
			// A simulated worker that ends sooner finds it there, and leaves the report to it.
			s.Check(program.Until(patience, "the listener ends", func() bool { return !listener.Alive() }))
			if mode == store.ReleaseNow {
				_, err := s.remuda(patience, "release", "--id", "100", "--mode", "now")
				s.Check(err)
				if rec := s.ended("j"); rec.Conclusion == githubsim.Success {
					t.Errorf("job = %+v, want it cut", rec)
				}
			} else {
				s.Check(os.WriteFile(letGo, nil, 0o600))
				if rec := s.ended("j"); rec.Conclusion != githubsim.Success || rec.InstanceID != got.ids()[0] {
					t.Errorf("job = %+v, want success on %v", rec, got.ids())
				}
				s.job(githubsim.Job{ID: "next", Name: "next", Label: "100", RunID: "100", Script: "true"})
				if rec := s.ended("next"); rec.Conclusion != githubsim.Success || rec.InstanceID != got.ids()[0] {
					t.Errorf("job after it = %+v, want success on %v", rec, got.ids())
				}
				s.Check(s.release("100"))
			}
			s.end(1, "100")
		})
	}
}
