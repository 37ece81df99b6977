package main

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// waits makes a status of a request that waits, which began since ago.
func waits(reason, sentence string, since time.Duration) func(*store.RunStatus) {
	return func(s *store.RunStatus) {
		s.Reason, s.Message, s.ReasonSince = reason, sentence, store.At(time.Now().Add(-since))
	}
}

// The line says what the request waits for, once per sentence, and for how long it has done so.
func TestRequest_SaysWhatItWaitsFor(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		go func() {
			newController(t, st, "77", 1).
				after(0, statemachine.Accept, nil).
				after(time.Second, statemachine.Observe, waits("queue", "1 request of this class is ahead: 76", 0)).
				after(10*time.Second, statemachine.Observe, waits("github", "GitHub does not\nanswer", 4*time.Second)).
				after(5*time.Second, statemachine.Fulfil, ready)
		}()
		c := newCLI(st)
		c.ends(t, exitDone, asking()...)
		for _, want := range []string{
			`(?m)^77  Pending  ready 0/2  warm 0  cold 0  1 request of this class is ahead: 76 for 0s  1s$`,
			`(?m)^77  Pending  ready 0/2  warm 0  cold 0  GitHub does not answer for 4s  11s$`,
		} {
			if n := len(regexp.MustCompile(want).FindAllString(c.err.String(), -1)); n != 1 {
				t.Errorf("%s matches %d times, want once:\n%s", want, n, &c.err)
			}
		}
	})
}

// A terminal that is too narrow for the sentence shows that time passes.
func TestRequest_NarrowTerminalShowsTime(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, nil)
		go func() {
			newController(t, st, "77", 1).
				after(0, statemachine.Accept, waits("cap", strings.Repeat("request 101 holds many, ", 9), 0)).
				after(5*time.Second, statemachine.Fulfil, ready)
		}()
		c := newCLI(st)
		c.errTTY, c.size = true, func() (int, int) { return 60, 24 }
		c.ends(t, exitDone, asking()...)
		contains(t, c.err.String(), "… for 2s  2s", "… for 3s  3s")
		for _, line := range strings.Split(c.err.String(), eraseLine) {
			if n := len([]rune(line)); n > 59 {
				t.Errorf("live line of %d columns on a terminal of 60: %q", n, line)
			}
		}
	})
}

// However a wait ends, the last word says what it was for.
func TestRequest_EndsWithWhatItWaitedFor_S80(t *testing.T) {
	const sentence = "GitHub does not answer"
	fail := func(reason, message string) func(*controller) {
		return func(c *controller) {
			c.after(40*time.Second, statemachine.Fail, func(s *store.RunStatus) { s.Reason, s.Message = reason, message })
		}
	}
	for _, tt := range []struct {
		name, reason string
		play         func(*controller)
		code         int
		want         string // at the end of standard error
	}{
		{"TimedOut", "the controller's word is not of it", fail(reconciler.ReasonTimeout, "0 of 2 ready"), exitTimedOut,
			`failed: timeout: 0 of 2 ready; waited last: GitHub does not answer for (39|40)s`},
		{"SaysSo", "the controller's word has it", fail(reconciler.ReasonTimeout, "0 of 2 ready: "+sentence), exitTimedOut,
			`failed: timeout: 0 of 2 ready: GitHub does not answer`},
		{"IsSo", "it failed for what it waited for", fail("github", "gone for good"), exitFailed, `failed: github: gone for good`},
		{"Silent", "the controller died", func(*controller) {}, exitTimedOut,
			`not done after 1m30s \(waited last: GitHub does not answer for 1m(2[89]|30)s\): request 77 attempt 1 was released`},
		{"Interrupted", "the user has seen enough", nil, exitInterrupted,
			`interrupted \(waited last: GitHub does not answer for (9|10)s\): request 77 attempt 1 was released`},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			st := memory(t, nil)
			go func() {
				c := newController(t, st, "77", 1).after(0, statemachine.Accept, waits("github", sentence, 0))
				if tt.play != nil {
					tt.play(c)
				}
			}()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			if tt.play == nil {
				time.AfterFunc(10*time.Second, interrupt)
			}
			c := newCLI(st)
			if code := c.run(ctx, asking()...); code != tt.code {
				t.Errorf("%s: exit code = %d, want %d", tt.reason, code, tt.code)
			}
			if !regexp.MustCompile(tt.want + `\n$`).MatchString(c.err.String()) {
				t.Errorf("%s: standard error must end with %s:\n%s", tt.reason, tt.want, &c.err)
			}
		}))
	}
}

// Two instants of the controller's clock and two of this client's: however the clocks differ, and whatever is read late, no
// duration is negative or absurd, and none goes back while the same lasts.
func TestWaiting_Durations(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	theirs := func(d time.Duration) store.Time { return store.At(now.Add(24*time.Hour + d)) }
	status := func(since, changed store.Time) store.RunStatus {
		return store.RunStatus{Phase: statemachine.Pending, Reason: "github", Message: "GitHub does not answer", ReasonSince: since, ChangedAt: changed}
	}
	for _, tt := range []struct {
		name, reason string
		first, then  store.RunStatus
		want         string
	}{
		{"Fresh", "counted by this client", status(theirs(0), theirs(0)), status(theirs(0), theirs(0)), " for 7s"},
		{"Known", "what the controller has counted before", status(theirs(0), theirs(40*time.Second)), status(theirs(0), theirs(40*time.Second)), " for 47s"},
		{"WrittenAgain", "with another count", status(theirs(0), theirs(40*time.Second)), status(theirs(0), theirs(46*time.Second)), " for 47s"},
		{"ReadLate", "the controller knows of more", status(theirs(0), theirs(time.Second)), status(theirs(0), theirs(time.Minute)), " for 1m00s"},
		{"ReadOld", "an eventual read", status(theirs(0), theirs(time.Minute)), status(theirs(0), theirs(time.Second)), " for 1m07s"},
		{"Anew", "it was over meanwhile", status(theirs(0), theirs(40*time.Second)), status(theirs(45*time.Second), theirs(46*time.Second)), " for 1s"},
		{"Backwards", "a record of two clocks", status(theirs(time.Hour), theirs(0)), status(theirs(time.Hour), theirs(0)), " for 7s"},
		{"Unknown", "an older controller", status(store.Time{}, theirs(0)), status(store.Time{}, theirs(0)), ""},
	} {
		var w waiting
		w.look(tt.first, now)
		w.look(tt.then, now.Add(7*time.Second))
		w.look(store.RunStatus{Phase: statemachine.Failed, Reason: "timeout"}, now.Add(time.Hour)) // says nothing of a wait
		if got := w.lasted(); got != tt.want {
			t.Errorf("%s (%s): lasted() = %q, want %q", tt.name, tt.reason, got, tt.want)
		}
	}
	if got := lastedText(-time.Hour); got != " for 0s" {
		t.Errorf("lastedText(-1h) = %q", got)
	}
}
