package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// asRun asks for run 77 of octo/app.
func asRun(more ...string) []string {
	return asking(append([]string{"--repository", "octo/app"}, more...)...)
}

// ofEarlierPolicy is a table for a role that may not write the run.
type ofEarlierPolicy struct{ store.Table }

func (p ofEarlierPolicy) Put(ctx context.Context, item store.Item, expect int64) error {
	if strings.Contains(string(item.Attributes), "repository") || strings.Contains(string(item.Attributes), "noWait") {
		return fmt.Errorf("dynamodb:PutItem: access denied: %w", store.ErrRefused)
	}
	return p.Table.Put(ctx, item, expect)
}

func earlierPolicy(under store.Table) store.Table { return ofEarlierPolicy{under} }

// stored returns request 77.
func stored(t *testing.T, st *store.Store) store.RunRequest {
	t.Helper()
	r, err := st.Request(context.WithoutCancel(t.Context()), store.Consistent, "77")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Nobody waits. The label is printed at once, no controller is needed, and no client was seen that could be lost.
func TestRequest_NoWait(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := &counting{}
		st, start := memory(t, func(under store.Table) store.Table { table.Table = under; return table }), time.Now()
		c := newCLI(st)
		c.ends(t, exitDone, asRun("--no-wait", "--run-attempt", "2")...)
		golden(t, testdata("request_no_wait.txt"), c.out.String()+c.err.String())
		c.ends(t, exitDone, asRun("--no-wait", "--run-attempt", "2", "-o", "json")...)
		golden(t, testdata("request_no_wait.json"), c.out.String())
		if took := time.Since(start); took != 0 || table.seen.Load() != 0 || table.notifications.Load() != 2 {
			t.Errorf("took %s, seen %d times, notified %d times, want 0, 0, 2", took, table.seen.Load(), table.notifications.Load())
		}
		r := stored(t, st)
		w, named := r.Workflow()
		if want := (store.Workflow{Repository: "octo/app", Run: 77, Attempt: 2}); !r.NoWait || !named || w != want || r.Attempt != 2 {
			t.Errorf("stored = %+v, want noWait, attempt 2 of %+v", r, want)
		}
	})
}

// The same request again by a client that does wait: it waits.
func TestRequest_WaitsForWhatNobodyElseDoes(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		c := newCLI(st)
		c.ends(t, exitDone, asRun("--no-wait")...)
		go func() {
			newController(t, st, "77", 1).after(0, statemachine.Accept, nil).after(10*time.Second, statemachine.Fulfil, ready)
		}()
		c.ends(t, exitDone, asRun()...)
		contains(t, c.out.String(), "label 77: 2 ready")
		if text := c.err.String(); strings.Contains(text, "workflow.json") {
			t.Errorf("stderr blames the policy:\n%s", text)
		}
	})
}

// A role of an earlier policy: the request is stored as it always was, and so it is waited for; one warning names the policy.
func TestRequest_EarlierPolicy(t *testing.T) {
	for _, args := range [][]string{asRun(), asRun("--no-wait"), asking("--no-wait")} {
		t.Run(strings.Join(args[len(ask):], " "), bubbletest.Case(func(t *testing.T) {
			st := memory(t, earlierPolicy)
			go func() {
				newController(t, st, "77", 1).after(0, statemachine.Accept, nil).after(10*time.Second, statemachine.Fulfil, ready)
			}()
			c, start := newCLI(st), time.Now()
			c.ends(t, exitDone, args...)
			if n := strings.Count(c.err.String(), "deploy/iam/workflow.json"); n != 1 {
				t.Errorf("the policy is named %d times, want once:\n%s", n, &c.err)
			}
			if took := time.Since(start); took < 10*time.Second || !strings.Contains(c.out.String(), "2 ready") {
				t.Errorf("took %s and printed %q, want the answer of 10 s later", took, &c.out)
			}
			if r := stored(t, st); r.Repository != "" || r.NoWait || r.Count != 2 {
				t.Errorf("stored = %+v, want it without its run", r)
			}
		}))
	}
}

// A client that takes over what the controller asked for goes on with that attempt, and leaves alone the answer that was
// for the controller.
func TestRequest_TakesOver(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		again := store.RunRequest{
			ID: "77", Attempt: 3, Count: 1, OriginalCount: 4, ResourceClass: "small", UsageClasses: []string{store.Spot},
			AllowedInstanceTypes: []string{"*"}, Repository: "octo/app", WorkflowRun: 77, WorkflowAttempt: 2, CreatedAt: store.At(time.Now()),
		}
		if _, err := st.Submit(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		own := newController(t, st, "77", 3).after(0, statemachine.Accept, func(s *store.RunStatus) { s.OriginalCount = 4 }).
			after(0, statemachine.Fulfil, func(s *store.RunStatus) { s.Counts.Ready = 1 })
		go func() {
			time.Sleep(5 * time.Second)
			own.after(0, statemachine.Accept, func(s *store.RunStatus) { s.OriginalCount = 0 }).after(time.Second, statemachine.Fulfil, ready)
		}()
		c, start := newCLI(st), time.Now()
		c.ends(t, exitDone, asRun("--run-attempt", "2", "-o", "json")...)
		var got runResult
		if err := json.Unmarshal(c.out.Bytes(), &got); err != nil || got.Attempt != 3 || got.ReadyCount != 2 || time.Since(start) < 6*time.Second {
			t.Errorf("answer = %+v, %v after %s, want attempt 3 with 2 ready after 6 s", got, err, time.Since(start))
		}
		r := stored(t, st)
		seen, err := st.Run(t.Context(), store.Consistent, "77")
		if err != nil || r.ByController() || r.Attempt != 3 || r.Count != 2 || seen.Client == nil || seen.Client.Attempt != 3 {
			t.Errorf("stored = %+v with client %+v, %v, want the client's attempt 3", r, seen.Client, err)
		}
	})
}

// H30: a client that took over gives back the attempt that it holds.
func TestRequest_H30_TakenOverAndInterrupted(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		if _, err := st.Submit(t.Context(), store.RunRequest{
			ID: "77", Attempt: 3, Count: 1, OriginalCount: 1, ResourceClass: "small", AllowedInstanceTypes: []string{"*"},
			Repository: "octo/app", WorkflowRun: 77, WorkflowAttempt: 2,
		}); err != nil {
			t.Fatal(err)
		}
		contains(t, runInterrupted(t, st, asRun("--run-attempt", "2")...), "interrupted: request 77 attempt 3 was released")
		wantReleased(t, st)
	})
}

// The reply to the submission never comes, and the client is interrupted: what it stored is given back, and not what the
// controller asked for.
func TestRequest_H30_InterruptedWhileStoring(t *testing.T) {
	for _, byController := range []bool{false, true} {
		bubbletest.Run(t, func(t *testing.T) {
			table := &deaf{}
			st := memory(t, func(under store.Table) store.Table { table.Table = under; return table })
			if byController {
				table.applies = false
				r := store.RunRequest{ID: "77", Attempt: 2, Count: 1, OriginalCount: 1, Repository: "octo/app", WorkflowRun: 77, WorkflowAttempt: 2}
				if _, err := store.New(table.Table).Submit(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			} else {
				table.applies = true
			}
			table.until = time.Now().Add(3 * time.Second)
			runInterrupted(t, st, asRun("--run-attempt", "2")...)
			if r := stored(t, st); r.Released() == byController || r.ByController() != byController {
				t.Errorf("by the controller: %t: stored = %+v, want it given back only if it is the client's", byController, r)
			}
		})
	}
}

// A table that answers no read at the moment of an interruption does not keep the runners.
func TestRequest_GivesBackAgain_Review_F7(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := &mute{since: time.Now().Add(2 * time.Second), until: time.Now().Add(5 * time.Second)}
		st := memory(t, func(under store.Table) store.Table { table.Table = under; return table })
		contains(t, runInterrupted(t, st, asRun()...), "interrupted: request 77 attempt 1 was released")
		wantReleased(t, st)
	})
}

// mute is a table that answers no read from one instant to another.
type mute struct {
	store.Table
	since, until time.Time
}

func (m *mute) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if now := time.Now(); now.Before(m.since) || !now.Before(m.until) {
		return m.Table.Get(ctx, c, keys...)
	}
	return nil, store.ErrUnavailable
}

// deaf is a table that answers no write before an instant; applies: although it does what was asked.
type deaf struct {
	store.Table
	until   time.Time
	applies bool
}

func (d *deaf) Put(ctx context.Context, item store.Item, expect int64) error {
	if !time.Now().Before(d.until) {
		return d.Table.Put(ctx, item, expect)
	}
	if d.applies {
		_ = d.Table.Put(ctx, item, expect) // the conflict with itself, from the second try on
	}
	return store.ErrUnavailable
}

// Where the run is not watched nobody gives its machines back: the answer says so, in one line of its own.
func TestRequest_SaysThatTheRunIsNotWatched(t *testing.T) {
	for state, want := range map[store.WatchState]string{
		"": "", store.Watched: "",
		store.WatchUnnamed: "request 77: its run is not watched (unnamed: the request names no run): add a release job, if it has none\n",
		store.WatchOutside: "request 77: its run is not watched (outside: its repository is not within github.url): add a release job, if it has none\n",
		store.WatchDenied:  "request 77: its run is not watched (denied: GitHub does not show its runs): add a release job, if it has none\n",
		store.WatchOff:     "request 77: its run is not watched (off: runs.share is 0): add a release job, if it has none\n",
		"later":            "request 77: its run is not watched (later): add a release job, if it has none\n",
	} {
		bubbletest.Run(t, func(t *testing.T) {
			st := memory(t, nil)
			go func() {
				newController(t, st, "77", 1).after(0, statemachine.Accept, nil).after(time.Second, statemachine.Fulfil, func(s *store.RunStatus) {
					ready(s)
					s.Watch.State = state
				})
			}()
			c := newCLI(st)
			c.ends(t, exitDone, asRun()...)
			_, said, _ := strings.Cut(c.err.String(), "request 77: ")
			if said != strings.TrimPrefix(want, "request 77: ") {
				t.Errorf("%q: stderr = %q, want %q", state, &c.err, want)
			}
		})
	}
}

// A request without a repository is told how to name its run.
func TestRequest_SaysHowToNameTheRun(t *testing.T) {
	st := store.RunStatus{ID: "77", Watch: store.Watch{State: store.WatchUnnamed}}
	contains(t, unwatched(store.RunRequest{ID: "77"}, st), "(unnamed: the request names no run): name it with --repository, or add a release job")
}

// A release names an attempt of the run: it gives back what the controller asked for in that one too, and waits for it.
func TestRelease_OfTheRunsAttempt(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		if _, err := st.Submit(t.Context(), store.RunRequest{ID: "77", Attempt: 4, Count: 1, OriginalCount: 1, Repository: "octo/app", WorkflowRun: 77, WorkflowAttempt: 2}); err != nil {
			t.Fatal(err)
		}
		go newController(t, st, "77", 4).after(0, statemachine.Accept, nil).after(5*time.Second, statemachine.Finish, nil)
		c := newCLI(st)
		c.ends(t, exitDone, "release", "--id", "77", "--attempt", "2")
		contains(t, c.out.String(), "released 77 attempt 4 after 5.")
		if r := stored(t, st); !r.Released() || r.ReleaseReason != "" {
			t.Errorf("stored = %+v, want it given back by a client", r)
		}
	})
}
