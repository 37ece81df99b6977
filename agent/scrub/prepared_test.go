package scrub_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/process"
)

// The first cleanup would end a daemon of the operator's script, so the script fails at once with the daemon's name and a remedy. A process
// that ends soon is no daemon. Cleanups keep a daemon that the operator names.
func TestPrepare_Daemons_Review_Kind2(t *testing.T) {
	daemon := filepath.Join(t.TempDir(), "collector")
	agenttest.Write(t, daemon, "#!/bin/sh\nwhile :; do sleep 1; done\n")
	start := fmt.Sprintf("setsid %s >/dev/null 2>&1 & true", daemon)
	for name, tt := range map[string]struct {
		script string
		keep   []string
		want   string
	}{
		"Nothing": {"true", nil, ""},
		"Ends":    {"sleep 0.3 & true", nil, ""},
		"Fails":   {"exit 3", nil, "exit status 3"},
		"Daemon":  {start, nil, "(sh) running, and the first cleanup would end it: start it as a system service"},
		"Kept":    {start, []string{"collector"}, ""},
		"Other":   {start, []string{"other"}, "add it to agent.keep.processes"},
	} {
		t.Run(name, func(t *testing.T) {
			id, root := agenttest.Instance(t), t.TempDir()
			s := scrubber(root, id)
			s.Keep.Processes = tt.keep
			err := s.Prepare(t.Context(), agenttest.Shell(t, id, tt.script))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Prepare = %v, want %q", err, tt.want)
			}
			if name != "Kept" {
				return
			}
			if err := s.TakeBaseline(t.Context()); err != nil {
				t.Fatal(err)
			}
			for run := range 3 {
				if err := agenttest.Shell(t, id, start).Run(t.Context()); err != nil { // a job's own with the same name
					t.Fatal(err)
				}
				if err := s.Scrub(t.Context(), "small"); err != nil {
					t.Fatal(err)
				}
				if left, err := process.Find(agent.EnvMarker, id); err != nil || !runs(left, daemon) {
					t.Fatalf("after run %d the daemon is gone: %v", run, err)
				} else if n := daemons(left, daemon); n != 1 {
					t.Fatalf("after run %d there are %d daemons, want the machine's alone", run, n)
				}
			}
			if err := s.EndAll(t.Context()); err != nil { // with the instance everything ends
				t.Fatal(err)
			}
			if left, err := process.Find(agent.EnvMarker, id); err != nil || len(left) != 0 {
				t.Errorf("%d processes outlive the instance: %v", len(left), err)
			}
		})
	}
}

func runs(left []process.Ref, program string) bool { return daemons(left, program) > 0 }

// daemons counts the processes that interpret a program.
func daemons(left []process.Ref, program string) (n int) {
	for _, r := range left {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", r.PID)); strings.Contains(string(line), program) {
			n++
		}
	}
	return n
}

// The error of a refused cleanup has the cause that the cleanup is counted under.
func TestScrub_Causes_Review_R16(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(s *scrub.Scrubber)
		cause string
	}{
		"Script":  {func(s *scrub.Scrubber) { s.Script = agenttest.Shell(t, s.InstanceID, "exit 1") }, "script"},
		"Account": {func(s *scrub.Scrubber) { s.Refresh = func() (scrub.Scrubber, error) { return *s, errors.New("gone") } }, "account"},
		"Files":   {func(s *scrub.Scrubber) { s.Fresh = append(s.Fresh, scrub.Folder{Path: "none/../../outside"}) }, "files"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scrubber(folder(t), agenttest.Instance(t))
			tt.spoil(&s)
			var refused *agent.CleanupError
			if err := s.Scrub(t.Context(), "small"); !errors.As(err, &refused) || refused.Cause != tt.cause || !errors.Is(err, scrub.ErrNotClean) {
				t.Errorf("Scrub = %v, want cause %s", err, tt.cause)
			}
		})
	}
}
