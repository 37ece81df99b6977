package reconciler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// elector holds the lease, or waits for it. The lease keeps two controllers from acting at once: writes have conditions
// besides, what is done to the fleet and at GitHub rests on it alone. See docs/leadership.md.
type elector struct {
	store   *store.Store
	clock   clock.WithTicker
	offset  func() time.Duration // the store's clock minus ours
	log     *slog.Logger
	holder  string
	ttl     time.Duration
	request time.Duration       // longest time one lease call may take
	health  func() store.Health // told with each renewal; it must not wait

	trusted atomic.Pointer[time.Time] // until when anything may be done, on the local monotonic clock
	began   atomic.Pointer[time.Time] // since when that was so without a gap

	last  int64 // the highest term that records name, though the lease did not
	shown shown
}

// termTaken ends a tenure whose term is no higher than one that records name: someone deleted the lease. Drain
// orders and the names of runners rest on terms that grow, so the next begins beyond it.
type termTaken struct{ last int64 }

func (e *termTaken) Error() string { return fmt.Sprintf("records name term %d", e.last) }

// margin is kept between the end of trust and the end of the lease: what is sent at the last moment arrives, or is
// cut off, before anyone else may act.
func (l *elector) margin() time.Duration { return l.ttl / 4 }

// trust reports whether the term may act now. A slow reply cannot lengthen it: it counts from the
// start of the attempt.
func (l *elector) trust() bool { return l.fence().open() }

// fence holds back the effects of a term that may not be the last any more.
func (l *elector) fence() fence { return fence{clock: l.clock, until: l.until, margin: l.margin()} }

// until returns when trust ends, unless it is extended; zero: there is none.
func (l *elector) until() time.Time {
	if until := l.trusted.Load(); until != nil {
		return *until
	}
	return time.Time{}
}

// since returns when the present time of trust began: now, if there is none. Before it the store took
// no writes of ours, and so perhaps no one's.
func (l *elector) since() time.Time {
	if l.trust() { // asked first: began is set before it
		return *l.began.Load()
	}
	return l.clock.Now()
}

func (l *elector) trustFrom(start time.Time) {
	if !l.trust() {
		now := l.clock.Now()
		l.began.Store(&now)
	}
	until := start.Add(l.ttl - l.margin())
	l.trusted.Store(&until)
}

// run waits for the lease, calls lead while holding it, gives it up, and begins anew when it was
// lost. It returns when ctx ends, or with the error of lead.
func (l *elector) run(ctx context.Context, lead func(ctx context.Context, term int64) error) error {
	defer l.shown.turned.Store(nil)
	for {
		lease, err := l.acquire(ctx)
		if err != nil && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("take the lease: %w", err)
		}
		l.log.Info("this controller leads", logkey.Holder, l.holder, logkey.Term, lease.Term)
		err = l.hold(ctx, lease, lead)
		if taken := (*termTaken)(nil); ctx.Err() == nil && errors.As(err, &taken) {
			l.last = taken.last
			l.log.Warn("the lease was deleted; the next term begins after the last one on record", logkey.Holder, l.holder, logkey.Term, taken.last)
			continue
		}
		if ctx.Err() != nil || err != nil {
			return err
		}
		l.log.Warn("the lease is no longer this controller's; it waits for it again", logkey.Holder, l.holder, logkey.Term, lease.Term)
	}
}

// acquire returns once the lease is ours. Another holder's must not have changed for its whole TTL
// and one request more, on our clock: no clocks are compared.
func (l *elector) acquire(ctx context.Context) (store.Lease, error) {
	pause := l.ttl / 8 // a renewal is seen soon, and so its end
	var seen store.Lease
	var since time.Time
	var warning repeatedWarning
	for waiting := false; ; {
		start := l.clock.Now()
		l.shown.turn(start)
		lease, err := l.read(ctx)
		switch {
		case err != nil:
			since = time.Time{} // not seen is not unchanged
			l.shown.read.CompareAndSwap(nil, new(time.Time))
			warning.warn(l.log, "read", err, start)
		case lease.Version != seen.Version || since.IsZero():
			seen, since = lease, start
			fallthrough
		default:
			l.shown.read.Store(&start)
			l.shown.term.Store(lease.Term)
		}
		if err := lease.Known(); err != nil { // of none that was read there is nothing to say
			return store.Lease{}, err // waiting would only hide that this one cannot take over
		}
		free := err == nil && (lease.Holder == "" || l.clock.Since(since) >= l.ttl+l.request)
		if free {
			if taken, err := l.take(ctx, lease); err == nil {
				return taken, nil
			} else if !errors.Is(err, store.ErrConflict) {
				warning.warn(l.log, "take", err, start)
			}
		} else if err == nil && !waiting {
			waiting = true
			l.log.Info("waiting for the lease", logkey.Holder, lease.Holder, logkey.Term, lease.Term)
		}
		wait := pause
		if left := l.ttl + l.request - l.clock.Since(since); !since.IsZero() && left > 0 {
			wait = min(wait, left) // not a whole pause later than it is free
		}
		select {
		case <-ctx.Done():
			return store.Lease{}, ctx.Err()
		case <-l.clock.After(wait):
		}
	}
}

// repeatPeriod is between two warnings of the same fault: the lease is tried twice a second, and a
// table that is missing stays so until someone makes it.
const repeatPeriod = time.Minute

// repeatedWarning keeps one fault from filling the log.
type repeatedWarning struct {
	text string
	at   time.Time
}

// warn logs what went wrong, if it is news or was last logged repeatPeriod ago.
func (c *repeatedWarning) warn(log *slog.Logger, what string, err error, now time.Time) {
	text := what + ": " + err.Error()
	if text == c.text && now.Sub(c.at) < repeatPeriod {
		return
	}
	c.text, c.at = text, now
	if errors.Is(err, store.ErrInvalid) { // no controller can lead, and none may repair it: it is the fence of them all
		log.Error("the lease cannot be read: delete its item, META#lease TYPE#Lease, and one of the controllers takes it", logkey.Call, what, logkey.Error, err)
		return
	}
	log.Warn("a call for the lease failed", logkey.Call, what, logkey.Error, err)
}

func (l *elector) read(ctx context.Context) (store.Lease, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.request, errLeaseTimeout)
	defer cancel()
	return l.store.Lease(ctx)
}

var errLeaseTimeout = errors.New("lease call took too long")

// take writes a new term over lease.
func (l *elector) take(ctx context.Context, lease store.Lease) (store.Lease, error) {
	lease.Term = max(lease.Term, l.last) + 1
	return l.write(ctx, lease, l.holder)
}

// write stores the lease for holder and begins a window of trust.
func (l *elector) write(ctx context.Context, lease store.Lease, holder string) (store.Lease, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.request, errLeaseTimeout)
	defer cancel()
	start := l.clock.Now()
	lease.Holder, lease.Renewed = holder, store.At(start.Add(l.offset()))
	if holder != "" { // who gives it up has ended already: what it said last stays
		budget := lease.Health.Budget
		l.shown.budget.Store(&budget)
		lease.Health, lease.Schema = l.health(), store.SchemaVersion
	}
	out, err := l.store.PutLease(ctx, lease)
	if err != nil {
		return lease, err
	}
	if holder == l.holder {
		l.trustFrom(start)
	}
	return out, nil
}

// hold runs lead and renews the lease until ctx ends, lead fails, or the lease is lost: another has it. A lease that
// only cannot be renewed is not lost, since no one else may be able to write either: without trust the term does
// nothing, and goes on with all it knows once the store is back (ADR 0016). hold gives the lease up only after lead
// has returned.
func (l *elector) hold(ctx context.Context, lease store.Lease, lead func(ctx context.Context, term int64) error) error {
	leading, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	term := lease.Term // the renewals below write lease
	l.shown.lead(term)
	defer func() { l.shown.follow(l.clock.Now()) }()
	go func() { done <- lead(leading, term) }()
	ticker := l.clock.NewTicker(l.ttl / 4)
	defer ticker.Stop()
	lost := false
	var warning repeatedWarning
	var told time.Time
	for {
		select {
		case err := <-done:
			l.trusted.Store(nil)
			if !lost {
				l.giveUp(ctx, lease)
			}
			if err != nil && ctx.Err() == nil && !lost {
				return fmt.Errorf("lead: %w", err)
			}
			return nil
		case <-ticker.C():
			l.shown.turn(l.clock.Now())
			if lost || ctx.Err() != nil {
				continue // stopping: wait for lead
			}
			start := l.clock.Now()
			renewed, err := l.renew(ctx, lease)
			switch {
			case err == nil:
				lease = renewed
			case errors.Is(err, store.ErrConflict), !l.trust() && l.succeeded(ctx, lease):
				lost = true
				l.trusted.Store(nil)
				cancel()
			default:
				warning.warn(l.log, "renew", err, start) // until trust ends, then everything waits
			}
			if minute := start.Truncate(time.Minute); err == nil && !minute.Equal(told) { // an alarm that counts by minutes finds one in each
				told = minute
				l.log.Info("leading", logkey.Holder, l.holder, logkey.Term, term)
			}
		}
	}
}

// renew extends our term. A write of ours whose reply was lost is recognised by its holder and term.
func (l *elector) renew(ctx context.Context, lease store.Lease) (store.Lease, error) {
	out, err := l.write(ctx, lease, l.holder)
	if !errors.Is(err, store.ErrConflict) {
		return out, err
	}
	now, readErr := l.read(ctx)
	if readErr != nil {
		return lease, readErr
	}
	if now.Holder == l.holder && now.Term == lease.Term {
		return l.write(ctx, now, l.holder) // an earlier try had been applied
	}
	return lease, err
}

// succeeded reports whether another holds the lease by now, as far as can be read: who is cut off from the store
// for writes alone learns it so.
func (l *elector) succeeded(ctx context.Context, lease store.Lease) bool {
	now, err := l.read(ctx)
	return err == nil && now.Term != lease.Term
}

// giveUp lets the next controller start at once. Failing that it waits for the TTL.
func (l *elector) giveUp(ctx context.Context, lease store.Lease) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), l.request, errLeaseTimeout)
	defer cancel()
	if _, err := l.write(ctx, lease, ""); err != nil {
		l.log.Warn("the lease could not be given up; the next controller waits for it to expire", logkey.Error, err)
	}
}
