package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// aStart stores request 77, which was Ready with a cold machine after 38 s and has lost another whose script wrote control characters.
func aStart(t *testing.T) *store.Store {
	t.Helper()
	st, start := memory(t, nil), time.Now()
	submitted(t, st, 1)
	ctl := newController(t, st, "77", 1).after(0, statemachine.Accept, func(s *store.RunStatus) { s.Counts.Wanted = 1 })
	note := func(in *store.Instance, codes ...store.Code) {
		for _, code := range codes {
			in.History = in.History.With(in.CreatedAt, store.Entry{At: time.Now(), Code: code})
		}
	}
	time.Sleep(time.Second)
	cold, bad := launch(t, st, "i-0bbbbbbbbbbbbbbb2", time.Now()), launch(t, st, "i-0ddddddddddddddd4", time.Now())
	time.Sleep(31 * time.Second)
	note(&cold, store.CodeBooted)
	note(&bad, store.CodeBooted)
	time.Sleep(2 * time.Second)
	note(&cold, store.CodeScript)
	move(t, st, bad, store.Transition{Event: statemachine.Rejected, Now: time.Now(), Reason: "script\x1b[31m failed", Detail: secret})
	time.Sleep(3 * time.Second)
	note(&cold, store.CodeOnline)
	time.Sleep(time.Second)
	move(t, st, cold, store.Transition{Event: statemachine.HandedOver, Now: time.Now(), Limit: 30 * time.Minute})
	ctl.after(0, statemachine.Fulfil, func(s *store.RunStatus) {
		s.Counts = store.Counts{Wanted: 1, Ready: 1}
		for _, e := range []store.Entry{
			{At: start.Add(500 * time.Millisecond), Code: store.CodeAsked, Detail: "2 spot"},
			{At: start.Add(34 * time.Second), Code: store.CodeLostSeat, Detail: "i-0ddddddddddddddd4 script\x1b[31m failed"},
		} {
			s.History = s.History.With(s.PendingAt, e)
		}
	})
	time.Sleep(10 * time.Second)
	return st
}

func TestExplain_Golden(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := aStart(t)
		overAndWaiting(t, st)
		for file, args := range map[string][]string{
			"explain_request.txt":  {"77"},
			"explain_request.json": {"77", "-o", "json"},
			"explain_instance.txt": {"i-0ddddddddddddddd4"},
			"explain_failed.txt":   {"60"},
			"explain_unseen.txt":   {"80"},
		} {
			c := newCLI(st)
			c.ends(t, exitDone, append([]string{"explain"}, args...)...)
			golden(t, testdata(file), c.out.String())
			if strings.ContainsAny(c.out.String(), "\x1b") || strings.Contains(c.out.String(), secret) {
				t.Errorf("%s lets a script's output through:\n%q", file, c.out.String())
			}
		}
	})
}

// Which requests an id names: its own, those of a run by their ids, and those that name the run. No other begins alike.
func TestExplain_FindsTheRequestsOfARun(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		for _, r := range []store.RunRequest{{ID: "77"}, {ID: "77-gpu"}, {ID: "771"}, {ID: "own-name", Repository: "o/r", WorkflowRun: 77, WorkflowAttempt: 1}, {ID: "own-name-2"}} {
			r.Attempt, r.Count, r.UsageClasses, r.AllowedInstanceTypes = 1, 1, []string{store.Spot}, []string{"*"}
			r.ResourceClass, r.MaxRuntime, r.Timeout, r.CreatedAt = "small", 60, 60, store.At(time.Now())
			if _, err := st.Submit(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		for id, want := range map[string]string{"77": "77 77-gpu own-name", "771": "771", "own-name": "own-name", "77-gpu": "77-gpu"} {
			c := newCLI(st)
			c.ends(t, exitDone, "explain", id, "-o", "json")
			var got explanation
			if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, one := range got.Timelines {
				ids = append(ids, one.ID)
			}
			if strings.Join(ids, " ") != want {
				t.Errorf("explain %s tells of %q, want %s", id, ids, want)
			}
		}
		c := newCLI(st)
		c.ends(t, exitNotFound, "explain", "0")
		contains(t, c.err.String(), "0: neither a run, a request nor an instance of the last day")
		c.ends(t, exitUsage, "explain")
		c.ends(t, exitUsage, "explain", "77", "-o", "wide")
	})
}

// Of a request with many machines people are told the few that tell why; programs get all.
func TestExplain_OfManyMachinesTellsTheSlowest(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st, last := memory(t, nil), ""
		submitted(t, st, 1)
		newController(t, st, "77", 1).after(0, statemachine.Accept, nil)
		for _, id := range []store.InstanceID{"i-1", "i-2", "i-3", "i-4", "i-5", "i-6"} {
			in := launch(t, st, id, time.Now())
			time.Sleep(time.Duration(len(last)+1) * time.Second)
			move(t, st, in, store.Transition{Event: statemachine.HandedOver, Now: time.Now(), Limit: time.Minute})
			last += "x"
		}
		c := newCLI(st)
		c.ends(t, exitDone, "explain", "77")
		contains(t, c.out.String(), "i-6", "i-3", "and 2 more: -o json has them all")
		if strings.Contains(c.out.String(), "i-1 ") {
			t.Errorf("the quickest is told:\n%s", &c.out)
		}
	})
}
