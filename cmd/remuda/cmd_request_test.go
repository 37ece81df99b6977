package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

var ask = []string{"request", "--id", "77", "--count", "2", "--resource-class", "small", "--timeout", "1m"}

func asking(more ...string) []string { return append(append([]string{}, ask...), more...) }

// ready seats two instances, one of them warm.
func ready(st *store.RunStatus) {
	st.Instances = []store.Seat{
		{InstanceID: "i-1", InstanceType: "c6i.large", UsageClass: store.Spot, Warm: true, Seconds: 0.4},
		{InstanceID: "i-2", InstanceType: "m6i.large", UsageClass: store.Spot, Seconds: 2},
	}
	st.Counts = store.Counts{Wanted: 2, Ready: 2, Launched: 1}
}

// S80: the answer, its table and its progress.
func TestRequest_S80_Ready(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		go func() {
			newController(t, st, "77", 1).
				after(200*time.Millisecond, statemachine.Accept, nil).
				after(time.Second, statemachine.Observe, func(s *store.RunStatus) {
					s.Counts = store.Counts{Wanted: 2, Claimed: 1, Created: 1, Ready: 1}
				}).
				after(time.Second, statemachine.Fulfil, ready)
		}()
		c := newCLI(st)
		c.ends(t, exitDone, asking()...)
		golden(t, testdata("request_ready.txt"), c.out.String())
		for _, want := range []string{"77  waiting for the controller", "77  Pending  ready 0/2  warm 0  cold 0", "77  Pending  ready 1/2  warm 1  cold 1"} {
			if strings.Count(c.err.String(), want) != 1 {
				t.Errorf("stderr has %q %d times, want once:\n%s", want, strings.Count(c.err.String(), want), &c.err)
			}
		}
	})
}

func TestRequest_JSON(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		go func() {
			newController(t, st, "77", 1).after(0, statemachine.Accept, nil).after(2500*time.Millisecond, statemachine.Fulfil, ready)
		}()
		c := newCLI(st)
		c.ends(t, exitDone, asking("-o", "json")...)
		golden(t, testdata("request_ready.json"), c.out.String())
		stored, err := st.Request(t.Context(), store.Consistent, "77")
		if err != nil {
			t.Fatal(err)
		}
		want := store.RunRequest{
			ID: "77", Attempt: 1, Count: 2, UsageClasses: []string{"spot"}, AllowedInstanceTypes: []string{"*"},
			ResourceClass: "small", MaxRuntime: 1800, Timeout: 60, Version: 1, CreatedAt: stored.CreatedAt,
		}
		if diff := gocmp.Diff(want, stored); diff != "" {
			t.Errorf("stored request (-want +got):\n%s", diff)
		}
	})
}

// On a terminal the line is drawn over, cut to the width, and gone before the result.
func TestRequest_LiveLineOnTerminal(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		go func() {
			newController(t, st, "77", 1).after(0, statemachine.Accept, nil).after(2*time.Second, statemachine.Fulfil, ready)
		}()
		c := newCLI(st)
		c.errTTY = true
		c.size = func() (int, int) { return 30, 24 }
		c.ends(t, exitDone, asking()...)
		lines := strings.Split(c.err.String(), eraseLine)
		if len(lines) < 5 || lines[len(lines)-1] != "" || strings.Contains(c.err.String(), "\n") {
			t.Errorf("live line was not redrawn in place and cleared: %q", c.err.String())
		}
		for _, line := range lines {
			if n := len([]rune(line)); n > 29 {
				t.Errorf("live line of %d columns on a terminal of 30: %q", n, line)
			}
		}
	})
}

// S80: each way to fail has its code and says why.
func TestRequest_S80_Outcomes(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		play         func(*controller)
		code         int
		want         string
	}{
		{"Failed", "the controller said no", func(c *controller) {
			c.after(time.Second, statemachine.Fail, func(s *store.RunStatus) { s.Reason, s.Message = reconciler.ReasonUnsatisfiable, "no type has 3 vCPUs" })
		}, exitFailed, "request 77 attempt 1 failed: unsatisfiable: no type has 3 vCPUs"},
		{"Deadline", "its own timeout passed", func(c *controller) {
			c.after(time.Second, statemachine.Fail, func(s *store.RunStatus) { s.Reason, s.Message = reconciler.ReasonTimeout, "1 of 2 ready" })
		}, exitTimedOut, "failed: timeout: 1 of 2 ready"},
		{"FailedAndWoundDown", "a look may miss the phase Failed", func(c *controller) {
			c.after(0, statemachine.Fail, func(s *store.RunStatus) { s.Reason = reconciler.ReasonLaunchBudget }).after(0, statemachine.Finish, nil)
		}, exitFailed, "failed: launch_budget"},
		{"ReleasedMeanwhile", "another command gave it back", func(c *controller) {
			c.after(time.Second, statemachine.Finish, nil)
		}, exitConflict, "was released meanwhile"},
		{"RunOver", "its run was cancelled", func(c *controller) {
			c.after(time.Second, statemachine.Finish, func(s *store.RunStatus) { s.Message = "its run at GitHub is over" })
		}, exitConflict, "was released meanwhile: its run at GitHub is over"},
		{"Replaced", "a newer attempt took over", func(c *controller) {
			c.after(time.Second, statemachine.Finish, nil)
			c.at.Attempt = 2
			c.after(0, statemachine.Accept, nil)
		}, exitConflict, "attempt 1: was"},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			st := memory(t, nil)
			go func() { tt.play(newController(t, st, "77", 1).after(0, statemachine.Accept, nil)) }()
			c := newCLI(st)
			if code := c.run(t.Context(), asking()...); code != tt.code {
				t.Errorf("%s: exit code = %d, want %d", tt.reason, code, tt.code)
			}
			contains(t, c.err.String(), tt.want)
			if c.out.Len() > 0 {
				t.Errorf("%s: stdout = %q, want nothing", tt.reason, &c.out)
			}
			synctest.Wait()
		}))
	}
}

// S42: no controller answers. The user reads so after 5 s, once; the wait ends; what was asked for is given back.
func TestRequest_S42_NoController(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st, start := memory(t, nil), time.Now()
		c := newCLI(st)
		c.ends(t, exitTimedOut, asking()...)
		if got, want := time.Since(start), time.Minute+giveUpMargin; got != want {
			t.Errorf("gave up after %s, want %s", got, want)
		}
		if got := strings.Count(c.err.String(), "no controller ever led: is `remuda controller` running on this store?"); got != 1 {
			t.Errorf("hint shown %d times, want once:\n%s", got, &c.err)
		}
		wantReleased(t, st)
	})
}

// runInterrupted runs a command, interrupts it after three seconds, and returns its error output.
func runInterrupted(t *testing.T, st *store.Store, args ...string) string {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	time.AfterFunc(3*time.Second, interrupt)
	c := newCLI(st)
	if code := c.run(ctx, args...); code != exitInterrupted {
		t.Errorf("exit code = %d, want %d", code, exitInterrupted)
	}
	return c.err.String()
}

// H30: an interrupted client gives back what it asked for, in whatever state the request is.
func TestRequest_H30_Interrupted(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		go newController(t, st, "77", 1).after(time.Second, statemachine.Accept, nil)
		contains(t, runInterrupted(t, st, asking()...), "interrupted: request 77 attempt 1 was released")
		wantReleased(t, st)
	})
}

func wantReleased(t *testing.T, st *store.Store) {
	t.Helper()
	r, err := st.Request(context.WithoutCancel(t.Context()), store.Consistent, "77")
	if err != nil || !r.Released() || r.Release != store.ReleaseNow {
		t.Errorf("request = %+v, %v, want released now", r, err)
	}
}

// H41: the same attempt is the same request; what contradicts what is stored is a conflict at once.
func TestRequest_H41_Conflicts(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		args         []string
		want         string
	}{
		{"OtherSpec", "same attempt, other count", asking("--count", "3"), "same attempt with another spec"},
		{"OldAttempt", "a late re-run", asking("--attempt", "1", "--max-runtime", "5m"), "older than the stored one"},
		{"Released", "it would never become ready", asking("--attempt", "2"), "was released already"},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			st := memory(t, nil)
			o := requestOptions{id: "77", attempt: "1", count: "2", usage: "spot", types: "*", class: "small", timeout: "1m", output: "table"}
			if tt.name != "OtherSpec" {
				o.attempt = "2"
			}
			if err := o.validate(config.Default()); err != nil {
				t.Fatal(err)
			}
			if _, err := st.Submit(t.Context(), o.want); err != nil {
				t.Fatal(err)
			}
			if tt.name == "Released" {
				if _, err := st.Release(t.Context(), "77", 2, store.ReleaseDrain); err != nil {
					t.Fatal(err)
				}
			}
			c, start := newCLI(st), time.Now()
			if code := c.run(t.Context(), tt.args...); code != exitConflict || !strings.Contains(c.err.String(), tt.want) {
				t.Errorf("%s: exit code = %d, want %d and %q in:\n%s", tt.reason, code, exitConflict, tt.want, &c.err)
			}
			if time.Since(start) != 0 {
				t.Errorf("%s: took %s, want an answer at once", tt.reason, time.Since(start))
			}
		}))
	}
}

// counting counts notifications and signs of life, and can be away.
type counting struct {
	store.Table
	notifications, seen atomic.Int64
	away                atomic.Bool
}

func (c *counting) Notify(ctx context.Context, keys ...store.Key) error {
	c.notifications.Add(1)
	return c.Table.Notify(ctx, keys...)
}

func (c *counting) Get(ctx context.Context, consistency store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if c.away.Load() {
		return nil, store.ErrUnavailable
	}
	return c.Table.Get(ctx, consistency, keys...)
}

func (c *counting) Put(ctx context.Context, item store.Item, expect int64) error {
	if c.away.Load() {
		return store.ErrUnavailable
	}
	if item.Key.Sort == store.KindRunClient {
		c.seen.Add(1)
	}
	return c.Table.Put(ctx, item, expect)
}

// A lost notification costs 3 s: the client notifies until it is answered, and says every 5 s that it waits.
func TestRequest_NotifiesUntilTakenUp_AndStaysSeen(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := &counting{}
		st := memory(t, func(under store.Table) store.Table { table.Table = under; return table })
		go func() {
			newController(t, st, "77", 1).after(10*time.Second, statemachine.Accept, nil).after(20*time.Second, statemachine.Fulfil, ready)
		}()
		c := newCLI(st)
		c.ends(t, exitDone, asking()...)
		if got := table.notifications.Load(); got < 3 || got > 4 { // one with the request, then one per 3 s and a poll
			t.Errorf("rang %d times in 10 s, want 3 or 4", got)
		}
		if got := table.seen.Load(); got < 5 || got > 7 { // at once, then one per 5 s and a poll
			t.Errorf("seen %d times in 30 s, want 5 to 7", got)
		}
	})
}

// H12: a store that is away for a while delays the answer and fails nothing.
func TestRequest_H12_StoreAway(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := &counting{}
		table.away.Store(true)
		st := memory(t, func(under store.Table) store.Table { table.Table = under; return table })
		go func() {
			time.Sleep(5 * time.Second)
			table.away.Store(false)
			newController(t, st, "77", 1).after(time.Second, statemachine.Accept, nil).after(time.Second, statemachine.Fulfil, ready)
		}()
		c := newCLI(st)
		c.ends(t, exitDone, asking()...)
		if !strings.Contains(c.err.String(), "77  store does not answer: write RUN#77") || strings.Contains(c.err.String(), "no controller") {
			t.Errorf("stderr must blame the store, and not the controller:\n%s", &c.err)
		}
	})
}

// An unusable folder is named, and nothing is left behind.
func TestRequest_UnusableFolder(t *testing.T) {
	dir := t.TempDir()
	c := newCLI(nil)
	c.openStore = openStore
	path := filepath.Join(dir, "absent", "remuda.db")
	code := c.run(t.Context(), asking("--store", "sqlite://"+path)...)
	if want := path + ": store: not found: has a controller ever run on it?\n"; code != exitNotFound || !strings.Contains(c.err.String(), want) {
		t.Errorf("exit code = %d, want %d and %q, as status has it, in:\n%s", code, exitNotFound, want, &c.err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The shape of the answer is part of the interface: these keys and no others.
func TestRunResult_EmptyListsAreLists(t *testing.T) {
	b, err := json.Marshal(newRunResult(store.RunStatus{ID: "77", Attempt: 1, Phase: statemachine.Ready}))
	if want := `{"label":"77","requestId":"77","attempt":1,"phase":"Ready","instances":[],"readyCount":0,"warmCount":0,"seconds":0}`; err != nil || string(b) != want {
		t.Errorf("json = %s, %v, want %s", b, err, want)
	}
}
