package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// deep is a folder whose name is longer than the address of a socket may be.
func deep(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// S15: a job that comes before the agent of an idle machine knows of its run waits until the agent has read the record, says
// so in its log, and is admitted or refused by what the record says then: with the program of the hook, and the real socket.
func TestGuardJob_S15_Ahead(t *testing.T) {
	for _, tt := range []struct {
		name, run string
		claimed   bool
		admitted  bool
	}{{"Own", "77", true, true}, {"Foreign", "78", true, false}, {"StillIdle", "77", false, false}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			g.dir = deep(t)
			agenttest.Write(t, filepath.Join(g.dir, agent.VerdictFile), "")
			if err := agent.WriteHook(g.dir, os.Args[0], ""); err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			w.options.Dir, w.options.HookSocket, w.runner.Latency = g.dir, true, 0
			w.options.Poll, w.options.IdlePoll = time.Hour, time.Hour // the agent learns nothing by itself
			w.launch("a")
			w.do(store.Transition{Event: statemachine.Unclaimed, Release: store.ReleaseDrain})
			w.do(store.Transition{Event: statemachine.Pooled})
			w.grantAhead()
			w.boot()
			defer func() { w.stop() }()
			for listening := false; !listening; time.Sleep(time.Millisecond) {
				_, h := w.said()
				listening = h.Beat.Listening > 0
			}
			if tt.claimed {
				w.claimAhead("77")
			}
			w.table.set(func(_ context.Context, c call) verdict {
				if !c.put && c.c == store.Consistent {
					return down
				}
				return fine
			})
			g.work(tt.run)
			for !strings.Contains(g.said(), "waits for the machine's agent") {
				time.Sleep(time.Millisecond)
			}
			if got := g.verdicts(); got != "" {
				t.Errorf("while the record cannot be read the hook says %q, want nothing", got)
			}
			w.table.set(nil)
			if !tt.admitted {
				g.wantKilled()
				return
			}
			if err := g.cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if got := g.verdicts(); got != agent.VerdictAdmitted+"\n" {
				t.Errorf("verdicts = %q", got)
			}
		})
	}
}

// A socket that an agent left is no hindrance to the next, and a job that waits is served by that.
func TestAgent_SocketIsOpenedAnew(t *testing.T) {
	dir := deep(t)
	state, err := json.Marshal(map[string]any{"version": 1, "script": map[string]any{"done": true}, "work": map[string]any{"assignment": 2, "ahead": true, "serial": 1}})
	if err != nil {
		t.Fatal(err)
	}
	agenttest.Write(t, filepath.Join(dir, "agent-state.json"), string(state))
	agenttest.Write(t, filepath.Join(dir, agent.HookSocket), "")
	w := newWorld(t)
	w.options.Dir, w.options.HookSocket = dir, true
	w.launch("a")
	w.do(store.Transition{Event: statemachine.Unclaimed, Release: store.ReleaseDrain})
	w.boot()
	defer w.stop()
	for {
		info, err := os.Stat(filepath.Join(dir, agent.HookSocket))
		if err == nil && info.Mode()&os.ModeSocket != 0 && info.Mode().Perm() == 0o666 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
