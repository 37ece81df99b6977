package reconciler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// G13: the first is killed at any point of its renewals. The second waits for the lease's time and one
// request more, and leads within 3 s.
func TestLeader_KilledWithoutGivingUp_G13(t *testing.T) {
	for _, at := range []time.Duration{0, 1, 250 * time.Millisecond, 499 * time.Millisecond, 500 * time.Millisecond, 730 * time.Millisecond} {
		t.Run(at.String(), func(t *testing.T) {
			election(t, func(t *testing.T, _ *storetest.Memory, first, second *rival) {
				time.Sleep(10*time.Second + at)
				synctest.Wait()
				if _, _, leads := second.led(); leads {
					t.Fatal("two lead while the first renews")
				}
				killed := time.Now()
				first.link.set(hangs)
				first.cancel()
				time.Sleep(5 * time.Second)
				terms, since, leads := second.led()
				if !leads || terms[0] != 2 {
					t.Fatalf("the second leads %v, terms %v, want term 2", leads, terms)
				}
				renewed := killed.Truncate(first.ttl / 4) // the bubble began at a whole second
				if waited := since[0].Sub(renewed); waited < first.ttl+first.request {
					t.Errorf("the second led %s after the last renewal, want at least %s", waited, first.ttl+first.request)
				}
				if took := since[0].Sub(killed); took > 3*time.Second {
					t.Errorf("the second led after %s, want at most 3 s", took)
				}
			})
		})
	}
}

// A lease that is given up is taken at once, which is at the next look.
func TestLeader_GivenUp(t *testing.T) {
	election(t, func(t *testing.T, _ *storetest.Memory, first, second *rival) {
		time.Sleep(10*time.Second + 100*time.Millisecond)
		left := time.Now()
		first.stop(t)
		if first.trust() {
			t.Error("trusted after it has given up")
		}
		time.Sleep(time.Second)
		terms, since, leads := second.led()
		if !leads || terms[0] != 2 || since[0].Sub(left) > first.ttl/4 {
			t.Errorf("the second leads %v, terms %v since %v, want at once after %v", leads, terms, since, left)
		}
	})
}

// H13: a renewal that was applied and whose reply was lost is recognised: same term, no interruption,
// trust renewed.
func TestLeader_LostReplyOfARenewal_H13(t *testing.T) {
	election(t, func(t *testing.T, table *storetest.Memory, first, second *rival) {
		for range 3 {
			time.Sleep(time.Second - time.Millisecond)
			first.link.set(losesReply)
			time.Sleep(2 * time.Millisecond) // over one renewal
			first.link.set(nil)
			time.Sleep(time.Second)
			if !first.trust() {
				t.Error("not trusted after a lost reply")
			}
		}
		time.Sleep(10 * time.Second)
		if terms, _, leads := first.led(); !leads || len(terms) != 1 {
			t.Errorf("the first leads %v, terms %v, want its first term without a gap", leads, terms)
		}
		if terms, _, _ := second.led(); len(terms) != 0 {
			t.Errorf("the second led in terms %v", terms)
		}
	})
}

// The reply to taking the lease is lost: nobody may know who has it, so its time passes first.
func TestLeader_LostReplyOfTaking(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		clk := clock.RealClock{}
		table := storetest.NewMemory(clk)
		start := time.Now()
		c := newRival(t, "first", table, clk)
		c.link.set(losesReply)
		synctest.Wait()
		c.link.set(nil)
		time.Sleep(5 * time.Second)
		terms, since, leads := c.led()
		if !leads || terms[0] != 2 || since[0].Sub(start) > 3*time.Second+c.request {
			t.Errorf("leads %v, terms %v since %v, want term 2 within a lease's time", leads, terms, since)
		}
		c.stop(t)
	})
}

// While the lease cannot be renewed, writes pass until the window of trust ends and are refused from
// then on; once the store is back they pass again, in the same term, and only from then on does time
// count.
func TestLeader_StoreUnavailable_H12(t *testing.T) {
	election(t, func(t *testing.T, table *storetest.Memory, first, second *rival) {
		trusted := trustedTable{table, first.fence()}
		version := int64(0)
		write := func() error {
			err := trusted.Put(t.Context(), store.Item{Key: store.LaunchKey("l-1"), Version: version + 1, Attributes: []byte("{}")}, version)
			if err == nil {
				version++
			}
			return err
		}
		window := first.ttl - first.margin()
		time.Sleep(10 * time.Second) // a renewal
		synctest.Wait()
		began := first.since()
		first.link.set(fails)
		second.link.set(fails)
		time.Sleep(window - 1)
		if err := write(); err != nil || !first.since().Equal(began) {
			t.Errorf("one tick before the end of trust: put error = %v, trusted since %v, want since %v", err, first.since(), began)
		}
		time.Sleep(1)
		if err := write(); !errors.Is(err, store.ErrNotLeader) {
			t.Errorf("at the end of trust: put error = %v, want ErrNotLeader", err)
		}
		time.Sleep(time.Minute)
		if now := time.Now(); !first.since().Equal(now) {
			t.Errorf("without trust: trusted since %v, want now, %v", first.since(), now)
		}
		first.link.set(nil)
		second.link.set(nil)
		time.Sleep(first.ttl / 4)
		synctest.Wait()
		if err := write(); err != nil {
			t.Errorf("after the store is back: put error = %v", err)
		}
		if age := time.Since(first.since()); age > first.ttl/4 {
			t.Errorf("trusted for %s after a gap that has just ended", age)
		}
		time.Sleep(10 * time.Second)
		if terms, _, leads := first.led(); !leads || len(terms) != 1 {
			t.Errorf("the first leads %v, terms %v, want its first term without a gap", leads, terms)
		}
		if terms, _, _ := second.led(); len(terms) != 0 {
			t.Errorf("the second led in terms %v though the lease was renewed when the store was back", terms)
		}
	})
}

// A deposed leader learns it from the refusal of its renewal, stops leading, and waits for its turn.
func TestLeader_Deposed(t *testing.T) {
	election(t, func(t *testing.T, table *storetest.Memory, first, second *rival) {
		time.Sleep(5 * time.Second)
		first.link.set(fails) // cut off
		time.Sleep(5 * time.Second)
		if terms, _, leads := second.led(); !leads || terms[0] != 2 {
			t.Fatalf("the second leads %v, terms %v, want term 2", leads, terms)
		}
		if err := (trustedTable{table, first.fence()}).Put(t.Context(), store.Item{}, 0); !errors.Is(err, store.ErrNotLeader) {
			t.Errorf("put of the deposed: error = %v, want ErrNotLeader", err)
		}
		first.link.set(nil)
		time.Sleep(time.Second)
		if _, _, leads := first.led(); leads {
			t.Error("the deposed still leads")
		}
		second.stop(t)
		time.Sleep(time.Second)
		if terms, _, leads := first.led(); !leads || terms[len(terms)-1] != 3 {
			t.Errorf("after the second left: the first leads %v, terms %v, want term 3", leads, terms)
		}
	})
}

// Who reads when the lease was renewed compares it with the store's time, not with a clock that is an hour off.
func TestLeader_RenewedIsTheStoresTime_H52(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := storetest.NewMemory(clock.RealClock{})
		l := &elector{
			store: store.New(table), clock: wrongClock{clock.RealClock{}, -time.Hour}, offset: func() time.Duration { return time.Hour },
			log: slog.New(slog.DiscardHandler), holder: "a", ttl: 2 * time.Second, request: time.Second, health: unwell,
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- l.run(ctx, func(ctx context.Context, _ int64) error {
				<-ctx.Done()
				return nil
			})
		}()
		time.Sleep(10 * time.Second)
		lease, err := l.store.Lease(t.Context())
		if ago := time.Since(lease.Renewed.Time); err != nil || lease.Holder != "a" || ago < 0 || ago > l.ttl {
			t.Errorf("lease of %q renewed %s ago, %v, want of a within %s", lease.Holder, ago, err, l.ttl)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// An error of lead ends run, and the lease is free for others.
func TestLeader_LeadFails(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := storetest.NewMemory(clock.RealClock{})
		broken := errors.New("broken")
		l := &elector{store: store.New(table), clock: clock.RealClock{}, offset: none, log: slog.New(slog.DiscardHandler), holder: "a", ttl: 2 * time.Second, request: time.Second, health: unwell}
		if err := l.run(t.Context(), func(context.Context, int64) error { return broken }); !errors.Is(err, broken) {
			t.Errorf("run() error = %v, want %v", err, broken)
		}
		if lease, err := l.store.Lease(t.Context()); err != nil || lease.Holder != "" || l.trust() {
			t.Errorf("lease = %+v, %v, trusted %v, want it given up", lease, err, l.trust())
		}
	})
}

// Each minute of the clock has one line of the leader's, as long as it can renew the lease, and none of another's.
func TestLeader_SaysSoEachMinute(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		clk, utc := clock.RealClock{}, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				a.Value = slog.StringValue(a.Value.Time().UTC().Format("15:04"))
			}
			return a
		}}
		table := storetest.NewMemory(clk)
		said := [2]bytes.Buffer{}
		first := newTellingRival(t, "first", table, clk, slog.New(slog.NewTextHandler(&said[0], utc)))
		synctest.Wait()
		second := newTellingRival(t, "second", table, clk, slog.New(slog.NewTextHandler(&said[1], utc)))
		time.Sleep(4*time.Minute - 20*time.Second)
		first.link.set(hangs)
		time.Sleep(3 * time.Minute)
		first.stop(t)
		second.stop(t)
		want := [2][]string{{"00:00", "00:01", "00:02", "00:03"}, {"00:03", "00:04", "00:05", "00:06"}}
		for i, holder := range []string{"first", "second"} {
			var minutes []string
			for line := range strings.Lines(said[i].String()) {
				if at, rest, _ := strings.Cut(strings.TrimPrefix(line, "time="), " "); rest == fmt.Sprintf("level=INFO msg=leading holder=%s term=%d\n", holder, i+1) {
					minutes = append(minutes, at)
				}
			}
			if !slices.Equal(minutes, want[i]) {
				t.Errorf("the %s leads in %q, want %q; it says\n%s", holder, minutes, want[i], &said[i])
			}
		}
	})
}

// A fault that lasts is logged once a minute, a new one at once.
func TestComplaint_SaidOnce(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	var c repeatedWarning
	for i := range 240 { // two minutes, twice a second
		err := errors.New("no table")
		if i == 100 {
			err = errors.New("no permission")
		}
		c.warn(log, "read lease", err, dawn.Add(time.Duration(i)*500*time.Millisecond))
	}
	lines := strings.Count(out.String(), "\n")
	if lines != 4 { // at the start, the other one, back again, and a minute after that
		t.Errorf("%d lines, want 4:\n%s", lines, &out)
	}
}

// Health is told with each renewal, stays when the lease is given up, and is the next holder's own once that leads.
func TestLeader_TellsHealth(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		table := storetest.NewMemory(clock.RealClock{})
		start := time.Now()
		stand := func(holder string, health func() store.Health) (stop func()) {
			l := &elector{
				store: store.New(table), clock: clock.RealClock{}, offset: none, log: slog.New(slog.DiscardHandler), holder: holder,
				ttl: 2 * time.Second, request: time.Second, health: health,
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				done <- l.run(ctx, func(ctx context.Context, _ int64) error {
					<-ctx.Done()
					return nil
				})
			}()
			return func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		}
		told := func(holder string, want store.Health) {
			t.Helper()
			got, err := store.New(table).Lease(t.Context())
			if err != nil || got.Holder != holder || got.Health != want {
				t.Errorf("lease = %+v, %v, want of %q with %+v", got, err, holder, want)
			}
		}
		ticking := func() store.Health { return store.Health{ControllerVersion: "1", ScannedAt: store.At(time.Now())} }
		stop := stand("a", ticking)
		time.Sleep(10*time.Second + 100*time.Millisecond)
		last := store.Health{ControllerVersion: "1", ScannedAt: store.At(start.Add(10 * time.Second))}
		told("a", last)
		stop()
		told("", last)
		stop = stand("b", func() store.Health { return store.Health{ControllerVersion: "2"} })
		time.Sleep(time.Second)
		told("b", store.Health{ControllerVersion: "2"})
		stop()
	})
}
