package reconciler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// outcome is what one look at a key brings.
type outcome struct {
	after time.Duration
	err   error
}

var errUnknown = errors.New("something else")

// looks lets a controller loose on one key, whose looks bring the outcomes one after the other and
// then nothing, and returns when it was looked at within a time. meanwhile may add keys.
func looks(t *testing.T, within time.Duration, meanwhile func(*controller[string]), outcomes ...outcome) []time.Duration {
	t.Helper()
	var at []time.Duration
	bubbletest.Run(t, func(t *testing.T) {
		start := time.Now()
		c := newController(newQueue[string]("test", clock.RealClock{}, nil), 1, clock.RealClock{}, slog.New(slog.DiscardHandler), func(context.Context, string) (Result, error) {
			at = append(at, time.Since(start))
			if len(at) > len(outcomes) {
				return Result{}, nil
			}
			o := outcomes[len(at)-1]
			return Result{After: o.after}, o.err
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.run(ctx) }()
		c.queue.Add("key")
		if meanwhile != nil {
			meanwhile(c)
		}
		time.Sleep(within - time.Since(start))
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run() error = %v", err)
		}
	})
	return at
}

func TestController_OutcomeToQueue(t *testing.T) {
	const ms, minute = time.Millisecond, time.Minute
	conflict := fmt.Errorf("claim: %w", store.ErrConflict)
	noRule := fmt.Errorf("claim: %w", statemachine.ErrNoRule)
	busy := fmt.Errorf("delete: %w", githubapi.ErrBusy)
	for _, tc := range []struct {
		name     string
		reason   string
		outcomes []outcome
		want     []time.Duration
	}{
		{"Nothing", "a key at rest is looked at once", nil, []time.Duration{0}},
		{"WakeUps", "each look renews the wake-up", []outcome{{after: 15 * minute}, {after: 15 * minute}}, []time.Duration{0, 15 * minute, 30 * minute}},
		{"WakeUpNotRenewed", "a wake-up that is not renewed is lost", []outcome{{after: minute}}, []time.Duration{0, minute}},
		{"RetryAfter", "a job still runs", []outcome{{err: busy}, {err: busy}}, []time.Duration{0, 500 * ms, 1000 * ms}},
		{"Again", "someone else wrote: soon, and ever later if that lasts", []outcome{{err: conflict}, {err: conflict}}, []time.Duration{0, ms, 3 * ms}},
		{"RetryAfterIgnoresWakeUp", "the error decides", []outcome{{after: minute, err: busy}}, []time.Duration{0, 500 * ms}},
		{"BackOff", "twice as long each time", []outcome{{err: errUnknown}, {err: errUnknown}, {err: errUnknown}}, []time.Duration{0, 5 * ms, 15 * ms, 35 * ms}},
		{"Stop", "a bug is not repeated", []outcome{{err: noRule}}, []time.Duration{0}},
		{"SuccessForgets", "after a success the backoff begins anew",
			[]outcome{{err: errUnknown}, {err: errUnknown}, {after: minute}, {err: errUnknown}},
			[]time.Duration{0, 5 * ms, 15 * ms, minute + 15*ms, minute + 20*ms}},
		{"RetryAfterForgets", "after a known error the backoff begins anew",
			[]outcome{{err: errUnknown}, {err: errUnknown}, {err: busy}, {err: errUnknown}},
			[]time.Duration{0, 5 * ms, 15 * ms, 515 * ms, 520 * ms}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, looks(t, 31*time.Minute, nil, tc.outcomes...)); diff != "" {
				t.Errorf("%s: looks (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// A terminal error forgets the failures before it: when something adds the key again it is new.
func TestController_StopForgetsFailures(t *testing.T) {
	again := func(c *controller[string]) {
		time.Sleep(time.Minute)
		c.queue.Add("key")
	}
	got := looks(t, 2*time.Minute, again, outcome{err: errUnknown}, outcome{err: errUnknown}, outcome{err: store.ErrInvalid}, outcome{err: errUnknown})
	want := []time.Duration{0, 5 * time.Millisecond, 15 * time.Millisecond, time.Minute, time.Minute + 5*time.Millisecond}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("looks (-want +got):\n%s", diff)
	}
}

// The pause of a key that keeps failing is bounded.
func TestController_BackOffIsBounded(t *testing.T) {
	failing := make([]outcome, 1000)
	for i := range failing {
		failing[i].err = errUnknown
	}
	at := looks(t, time.Hour, nil, failing...)
	if longest := at[len(at)-1] - at[len(at)-2]; longest != backoffMax {
		t.Errorf("after an hour of failures the pause is %s, want %s", longest, backoffMax)
	}
}

// Of two wake-ups of one key the earlier counts: what a reconciler returns cannot be delayed by
// anybody, and need not be repeated by anybody.
func TestController_EarlierWakeUpWins(t *testing.T) {
	for name, tc := range map[string]struct {
		first, second time.Duration
	}{"LaterIsDropped": {5 * time.Minute, 20 * time.Minute}, "EarlierReplaces": {20 * time.Minute, 5 * time.Minute}} {
		t.Run(name, func(t *testing.T) {
			wake := func(c *controller[string]) {
				synctest.Wait()
				c.queue.AddAfter("key", tc.first)
				c.queue.AddAfter("key", tc.second)
			}
			got := looks(t, time.Hour, wake)
			if diff := cmp.Diff([]time.Duration{0, 5 * time.Minute}, got); diff != "" {
				t.Errorf("looks (-want +got):\n%s", diff)
			}
		})
	}
}

// A key added while it is looked at is looked at once more, afterwards and never at the same time;
// and run returns only when the last look has.
func TestController_OneLookAtATime(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		looking, looks := 0, 0
		c := newController(newQueue[string]("test", clock.RealClock{}, nil), 4, clock.RealClock{}, slog.New(slog.DiscardHandler), func(context.Context, string) (Result, error) {
			if looking++; looking > 1 {
				t.Error("two looks at one key at the same time")
			}
			time.Sleep(time.Second) // heeds no end of its context
			looking--
			looks++
			return Result{}, errUnknown
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.run(ctx) }()
		for range 3 {
			c.queue.Add("key")
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(1500 * time.Millisecond) // into the second look
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run() error = %v", err)
		}
		if looks != 2 {
			t.Errorf("%d looks were finished when run returned, want 2", looks)
		}
	})
}

func TestResult_NeverZeroForWhatIsDue(t *testing.T) {
	now := time.Now()
	for name, tc := range map[string]struct{ got, want Result }{
		"Past":          {wakeAt(now.Add(-time.Hour), now), Result{time.Millisecond}},
		"Now":           {wakeAt(now, now), Result{time.Millisecond}},
		"Future":        {wakeAt(now.Add(time.Minute), now), Result{time.Minute}},
		"Never":         {wakeAt(time.Time{}, now), Result{}},
		"SoonerOfNone":  {Result{}.sooner(time.Minute), Result{time.Minute}},
		"Sooner":        {Result{time.Minute}.sooner(time.Second), Result{time.Second}},
		"NotSooner":     {Result{time.Second}.sooner(time.Minute), Result{time.Second}},
		"EarliestFirst": {earliest(Result{time.Second}, Result{time.Minute}), Result{time.Second}},
		"EarliestOther": {earliest(Result{time.Minute}, Result{time.Second}), Result{time.Second}},
		"EarliestOne":   {earliest(Result{}, Result{time.Second}), Result{time.Second}},
		"EarliestNone":  {earliest(Result{time.Second}, Result{}), Result{time.Second}},
		"NoneAtAll":     {earliest(Result{}, Result{}), Result{}},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %v, want %v", name, tc.got, tc.want)
		}
	}
}
