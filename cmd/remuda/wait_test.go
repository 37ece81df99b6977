package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// G1: a client looks for its answer every 50 ms in the first half second, every 100 ms in the first minute, then every second, each
// with a jitter of a fifth.
func TestAwaitAnswer_G1_Pace(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		start := time.Now()
		looks := lookTimes(t, 700, awaitAnswer)
		for i := 1; i < len(looks); i++ {
			want := lookAtOnce
			switch waited := looks[i-1].Sub(start); {
			case waited >= soonFor:
				want = lookLater
			case waited >= atOnceFor:
				want = lookSoon
			}
			pauseIs(t, looks[i].Sub(looks[i-1]), want)
		}
		if last := looks[len(looks)-1].Sub(start); last < soonFor+10*lookLater {
			t.Errorf("the last of %d looks was after %s: too early to show the slow ones", len(looks), last)
		}
	})
}

// What reads more than a status looks quickly at first, then no oftener than pollMax and its jitter.
func TestPoll_SlowsDown(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		start := time.Now()
		looks := lookTimes(t, 20, poll)
		for i := 1; i < len(looks); i++ {
			pauseIs(t, looks[i].Sub(looks[i-1]), min(lookSoon+looks[i-1].Sub(start)/2, pollMax))
		}
	})
}

type waitFunc func(context.Context, clock.WithTicker, func(context.Context) (bool, error)) error

// lookTimes returns when wait looked, n times.
func lookTimes(t *testing.T, n int, wait waitFunc) (looks []time.Time) {
	t.Helper()
	err := wait(t.Context(), clock.RealClock{}, func(context.Context) (bool, error) {
		looks = append(looks, time.Now())
		return len(looks) == n, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return looks
}

func pauseIs(t *testing.T, got, want time.Duration) {
	t.Helper()
	if got < want*8/10 || got > want*12/10 {
		t.Errorf("pause = %s, want %s ± 20 %%", got, want)
	}
}

func TestPoll_Ends(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		end  func(context.Context) (context.Context, context.CancelFunc)
		look func(context.Context) (bool, error)
		want error
	}{
		{"Error", context.WithCancel, func(context.Context) (bool, error) { return false, broken }, broken},
		{"Limit", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return waitLimit(ctx, time.Second, "x")
		}, func(context.Context) (bool, error) { return false, nil }, errTimedOut},
		{"Interrupted", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, func(context.Context) (bool, error) { return false, nil }, errInterrupted},
		{"HangingCall", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return waitLimit(ctx, time.Minute, "x")
		}, func(ctx context.Context) (bool, error) { // each call is cut off, the wait goes on
			<-ctx.Done()
			return false, nil
		}, errTimedOut},
		{"DoneAtTheLimit", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return waitLimit(ctx, time.Second, "x")
		}, func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			return true, nil
		}, nil},
	} {
		t.Run(tt.name, bubbletest.Case(func(t *testing.T) {
			ctx, cancel := tt.end(t.Context())
			defer cancel()
			if err := poll(ctx, clock.RealClock{}, tt.look); !errors.Is(err, tt.want) {
				t.Errorf("poll = %v, want %v", err, tt.want)
			}
		}))
	}
}

// A time-out says what kept failing, but stays a time-out; a definite error ends the wait at once.
func TestSettle(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCLI(nil)
		ctx, cancel := waitLimit(t.Context(), time.Minute, "drain")
		defer cancel()
		err := settle(ctx, c.clock, newProgress(c.streams), "drain", func(context.Context) error { return store.ErrUnavailable })
		if want := "drain: not done after 1m0s (last call: store: unavailable)"; err == nil || err.Error() != want || exitCode(err) != exitTimedOut {
			t.Errorf("settle = %v (exit code %d), want %s (%d)", err, exitCode(err), want, exitTimedOut)
		}
		if strings.Count(c.err.String(), "drain  store does not answer: store: unavailable\n") != 1 {
			t.Errorf("stderr must show the trouble once:\n%s", &c.err)
		}
		start := time.Now()
		for _, definite := range []error{store.ErrNotFound, store.ErrRefused} {
			err = settle(t.Context(), c.clock, newProgress(c.streams), "drain", func(context.Context) error { return definite })
			if !errors.Is(err, definite) || time.Since(start) != 0 {
				t.Errorf("settle = %v after %s, want %v at once", err, time.Since(start), definite)
			}
		}
	})
}

// IAM applies a changed role or policy within seconds. A call fails after three denials that are at least two seconds apart. A success in
// between restarts the count.
func TestSettle_BearsDenials_Review_F7(t *testing.T) {
	denied := fmt.Errorf("%w: %w", store.ErrRefused, awserr.Explain(&smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"}, "dynamodb:GetItem", "table remuda"))
	for name, tt := range map[string]struct {
		denials int
		fails   bool
	}{"One": {1, false}, "ForASecond": {8, false}, "ForGood": {1 << 30, true}} {
		t.Run(name, bubbletest.Case(func(t *testing.T) {
			c, calls, start := newCLI(nil), 0, time.Now()
			err := settle(t.Context(), c.clock, newProgress(c.streams), "drain", func(context.Context) error {
				if calls++; calls <= tt.denials {
					return denied
				}
				return nil
			})
			took := time.Since(start)
			if errors.Is(err, store.ErrRefused) != tt.fails || tt.fails && (took < 2*denialPause || took > 3*denialPause) {
				t.Errorf("settle = %v after %d calls and %s, want a failure: %t, after some %s", err, calls, took, tt.fails, 2*denialPause)
			}
		}))
	}
	var d denials
	now := time.Now()
	for i, want := range []bool{true, true, true, false} { // at 0, 1, 2 and 4 s
		at := now.Add([]time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}[i])
		if got := d.bears(denied, at); got != want {
			t.Errorf("bears() of denial %d = %t, want %t", i+1, got, want)
		}
	}
	if d = (denials{}); d.bears(store.ErrRefused, now) || d.bears(awserr.Explain(&smithy.GenericAPIError{Code: "ResourceNotFoundException"}, "dynamodb:GetItem", "table remuda"), now) {
		t.Error("bears() accepts an error that is no denial")
	}
}

// A store that goes away after it took the request is blamed, not the controller.
func TestRequest_BlamesTheStoreNotTheController(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := &counting{}
		st := memory(t, func(under store.Table) store.Table { table.Table = under; return table })
		time.AfterFunc(time.Second, func() { table.away.Store(true) })
		go func() {
			time.Sleep(20 * time.Second)
			table.away.Store(false)
			newController(t, st, "77", 1).after(0, statemachine.Accept, nil).after(time.Second, statemachine.Fulfil, ready)
		}()
		c := newCLI(st)
		c.ends(t, exitDone, asking()...)
		if !strings.Contains(c.err.String(), "store does not answer") || strings.Contains(c.err.String(), "no controller") {
			t.Errorf("stderr blames the wrong one:\n%s", &c.err)
		}
	})
}

// S35: a heartbeat exactly as old as the window is healthy, one unit of
// record time later it is not; one from the future is fresh. That of an idle machine comes three times as rarely.
func TestHeartbeatView_S35_Window(t *testing.T) {
	now, limits := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), statemachine.DefaultLimits()
	for _, tt := range []struct {
		idle    bool
		age     time.Duration
		healthy bool
		text    string
	}{
		{false, 0, true, "0s"}, {false, 15 * time.Second, true, "15s"}, {false, 15*time.Second + time.Millisecond, false, "15s!"}, {false, -time.Hour, true, "0s"},
		{true, 45 * time.Second, true, "45s"}, {true, 45*time.Second + time.Millisecond, false, "45s!"},
	} {
		beat := store.Heartbeat{UpdatedAt: store.At(now.Add(-tt.age)), Beat: store.Beat{Idle: tt.idle}}
		v := newInstanceView(store.Instance{}, store.Vitals{Heartbeat: beat}, now, limits)
		if v.Heartbeat.Healthy != tt.healthy || beatText(v.Heartbeat) != tt.text {
			t.Errorf("idle %v, age %s: healthy = %v, text %q, want %v, %q", tt.idle, tt.age, v.Heartbeat.Healthy, beatText(v.Heartbeat), tt.healthy, tt.text)
		}
	}
}
