//go:build linux

package procfleet

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/machinelog"
)

// An agent that is killed says nothing more; what it and its runner had written stays, beyond the machine's folder.
func TestLog_OfAKilledMachine_S11(t *testing.T) {
	t.Parallel()
	f := running(t, t.TempDir(), Options{Command: script(
		`mkdir -p runner/_diag; echo "job with ghp_0123456789abcdefghij" >runner/_diag/Worker_1.log; echo begun; echo ok >ready; exec sleep 600`)})
	r := launchOne(t, f, "ready")
	if l, err := f.Log(t.Context(), r.ID); err != nil || l.Reason != "it has not ended yet" || len(l.Sources) != 2 {
		t.Errorf("Log of a live one = %+v, %v", l, err)
	}
	if err := syscall.Kill(r.Leader.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantState(t, f, r.ID, fleet.Ended)
	if err := os.RemoveAll(f.disk.folder(r.ID)); err != nil {
		t.Fatal(err)
	}
	l, err := f.Log(t.Context(), r.ID)
	if err != nil || len(l.Sources) != 2 || !strings.Contains(l.Reason, causeExited) {
		t.Fatalf("Log = %+v, %v", l, err)
	}
	for i, want := range []string{"==> agent.log <==\nbegun\n", "==> _diag/Worker_1.log <==\njob with ***\n"} {
		if got := l.Sources[i].Text; got != want {
			t.Errorf("source %s = %q, want %q", l.Sources[i].Name, got, want)
		}
	}
	if err := newRunner(f).tidy(time.Now().Add(machinelog.Keep + time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Log(t.Context(), r.ID); !errors.Is(err, machinelog.ErrNone) {
		t.Errorf("Log after a week = %v", err)
	}
}

// What the agent kept knows the secrets, and is not replaced.
func TestLog_KeptByTheAgent(t *testing.T) {
	t.Parallel()
	f := running(t, t.TempDir(), Options{Command: script(`echo ok >ready; exec sleep 600`)})
	r := launchOne(t, f, "ready")
	own := machinelog.Log{InstanceID: r.ID, TakenAt: time.Now().UTC(), Reason: "threshold passed"}
	if err := Logs(f.disk.dir).Put(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	terminate(t, f, r.ID)
	wantState(t, f, r.ID, fleet.Ended)
	if l, err := f.Log(t.Context(), r.ID); err != nil || l.Reason != own.Reason {
		t.Errorf("Log = %+v, %v", l, err)
	}
}
