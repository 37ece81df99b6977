package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// submitted stores request 77 of two, at the given attempt.
func submitted(t *testing.T, st *store.Store, attempt int) {
	t.Helper()
	_, err := st.Submit(t.Context(), store.RunRequest{
		ID: "77", Attempt: attempt, Count: 2, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"c*", "m*"},
		ResourceClass: "small", MaxRuntime: 1800, Timeout: 600, CreatedAt: store.At(time.Now()),
	})
	if err != nil {
		t.Fatal(err)
	}
}

// S81: release waits until nothing is held, and says so.
func TestRelease_S81_WaitsForReleased(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		submitted(t, st, 1)
		ctl := newController(t, st, "77", 1).after(0, statemachine.Accept, func(s *store.RunStatus) { s.Counts.Wanted = 2 }).after(0, statemachine.Fulfil, ready)
		go ctl.after(4*time.Second, statemachine.Finish, nil)
		c := newCLI(st)
		c.ends(t, exitDone, "release", "--id", "77")
		if want := "released 77 attempt 1 after 4."; !strings.HasPrefix(c.out.String(), want) {
			t.Errorf("stdout = %q, want %q…", &c.out, want)
		}
		if want := "77  winding down  was Ready with 2 of 2"; strings.Count(c.err.String(), want) != 1 {
			t.Errorf("stderr lacks %q:\n%s", want, &c.err)
		}
		r, err := st.Request(t.Context(), store.Consistent, "77")
		if err != nil || r.ReleasedAttempt != 1 || r.Release != store.ReleaseDrain {
			t.Errorf("request = %+v, %v, want attempt 1 released by draining", r, err)
		}
	})
}

// Releasing again answers at once; an old attempt frees nothing of a newer one (H41).
func TestRelease_H41_AgainAndOldAttempt(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		submitted(t, st, 2)
		newController(t, st, "77", 2).after(0, statemachine.Accept, nil)
		c, start := newCLI(st), time.Now()
		c.ends(t, exitDone, "release", "--id", "77", "--attempt", "1", "--mode", "now")
		if time.Since(start) != 0 || !strings.HasPrefix(c.out.String(), "released 77 attempt 1 ") {
			t.Errorf("took %s and said %q, want an answer at once", time.Since(start), &c.out)
		}
		r, err := st.Request(t.Context(), store.Consistent, "77")
		if err != nil || r.Released() {
			t.Errorf("request = %+v, %v, want attempt 2 untouched", r, err)
		}
	})
}

func TestRelease_Failures(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		args         []string
		code         int
		want         string
	}{
		{"Unknown", "no such request", []string{"--id", "78"}, exitNotFound, "remuda: request 78: not found\n"},
		{"FutureAttempt", "that attempt never was", []string{"--id", "77", "--attempt", "2"}, exitNotFound, "the stored attempt is 1"},
		{"TimedOut", "no controller winds it down", []string{"--id", "77", "--timeout", "20s"}, exitTimedOut, "release 77: not done after 20s (the release stays in force)"},
		{"BadMode", "drain or now", []string{"--id", "77", "--mode", "kill"}, exitUsage, `--mode: must be one of drain, now, got "kill"`},
		{"BadID", "a label splits at commas", []string{"--id", "7,7"}, exitUsage, "--id: request id: must be"},
		{"BadAttempt", "attempts count from 1", []string{"--id", "77", "--attempt", "0"}, exitUsage, "--attempt: must be a whole number from 1"},
		{"BadTimeout", "a unit is missing", []string{"--id", "77", "--timeout", "20"}, exitUsage, "--timeout: must be a duration"},
		{"Argument", "the id is a flag", []string{"77"}, exitUsage, `argument "77": this command takes none`},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			st := memory(t, nil)
			submitted(t, st, 1)
			c := newCLI(st)
			code := c.run(t.Context(), append([]string{"release"}, tt.args...)...)
			if code != tt.code || !strings.Contains(c.err.String(), tt.want) {
				t.Errorf("%s: exit code = %d, want %d and %q in:\n%s", tt.reason, code, tt.code, tt.want, &c.err)
			}
			if code == exitUsage && c.opened != 0 {
				t.Errorf("%s: the store was opened", tt.reason)
			}
		}))
	}
}

// S42: who gives back, or drains, is told after 5 s and once that no controller leads, as one who asks is; of one that leads
// and waits for jobs there is nothing to tell. Where the lease may not be read, it shows by what nobody has taken up.
func TestHint_NoController_S42(t *testing.T) {
	const never, untouched = "no controller ever led: is", "no controller has taken this up for 5s: is"
	for _, tt := range []struct {
		name  string
		wrap  func(store.Table) store.Table
		leads bool
		args  []string
		want  string
	}{
		{"Release", nil, false, []string{"release", "--id", "77"}, never},
		{"Drain", nil, false, []string{"drain", "--all"}, never},
		{"OneLeads", nil, true, []string{"release", "--id", "77"}, ""},
		{"Unseen", func(t store.Table) store.Table { return leaseless{t} }, false, []string{"release", "--id", "77"}, ""},
		{"UnseenAndUntouched", func(t store.Table) store.Table { return leaseless{t} }, false, append(asking(), "--attempt", "2"), untouched},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			st := memory(t, tt.wrap)
			submitted(t, st, 1)
			newController(t, st, "77", 1).after(0, statemachine.Accept, nil)
			launch(t, st, "i-1", time.Now())
			ctx, interrupt := context.WithCancel(t.Context())
			for n := range 20 {
				if tt.leads {
					time.AfterFunc(time.Duration(n)*time.Second, func() { lead(t, st, nil) })
				}
			}
			time.AfterFunc(20*time.Second, interrupt)
			c := newCLI(st)
			if code := c.run(ctx, tt.args...); code != exitInterrupted {
				t.Errorf("exit code = %d, want %d", code, exitInterrupted)
			}
			want := 0
			if tt.want != "" {
				want = 1
			}
			if got := strings.Count(c.err.String(), "is `remuda controller` running"); got != want || !strings.Contains(c.err.String(), tt.want) {
				t.Errorf("hinted %d times, want %d with %q:\n%s", got, want, tt.want, &c.err)
			}
		}))
	}
}

func TestRelease_InterruptedStaysInForce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		submitted(t, st, 1)
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, interrupt)
		c := newCLI(st)
		if code := c.run(ctx, "release", "--id", "77"); code != exitInterrupted {
			t.Errorf("exit code = %d, want %d", code, exitInterrupted)
		}
		contains(t, c.err.String(), "interrupted (the release stays in force)")
	})
}

// A release that meets a store that is away is made once it is back.
func TestRelease_H12_StoreAway(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := &counting{}
		st := memory(t, func(under store.Table) store.Table { table.Table = under; return table })
		submitted(t, st, 1)
		ctl := newController(t, st, "77", 1).after(0, statemachine.Accept, nil)
		table.away.Store(true)
		go func() {
			time.Sleep(5 * time.Second)
			table.away.Store(false)
			ctl.after(time.Second, statemachine.Finish, nil)
		}()
		c := newCLI(st)
		c.ends(t, exitDone, "release", "--id", "77")
	})
}
