package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/remuda-run/remuda/statemachine"
)

// Gone reports whether the fleet has confirmed that the instance is gone. Terminated alone is only an order, which the
// fleet may refuse.
func (r *Instance) Gone() bool { return r.State == statemachine.Terminated && !r.ExpiresAt.IsZero() }

// Transition is one event on one instance and what it brings along.
type Transition struct {
	Event   statemachine.Event
	Now     time.Time // the clock reading the decision was made with
	Limits  statemachine.Limits
	Limit   time.Duration // from Now to the new threshold; 0: what Limits gives the new state
	RunID   RequestID     // Claim only
	Attempt int           // Claim only
	Ahead   bool          // Claim only: the machine listens, and goes on under its present registration
	Release ReleaseMode   // Released and Unclaimed only
	Reason  string        // transitions to terminated
	Detail  string        // of the same; its end is kept
	Why     string        // a short detail of the reason, for the history

	StateReason string // why the fleet ended the machine, as the fleet reports it
}

// After returns the record that t makes of in, or why t may not happen: ErrNoRule of package
// statemachine, ErrExpired, or ErrInvalid. It is pure; every change of state passes through here.
func (in Instance) After(t Transition) (Instance, error) {
	next, err := statemachine.Next(in.State, t.Event)
	if err != nil {
		return in, err
	}
	out := in
	out.State = next
	out.changed(t.Now)
	if e, tells := t.entry(); tells {
		out.History = in.History.With(in.CreatedAt, e)
	}
	if next == statemachine.Terminated {
		out.assign("", 0, t.Now)
		out.Threshold = Time{}
		out.Since = At(t.Now)
		out.Reason, out.Detail, out.StateReason = t.Reason, Tail(t.Detail), Head(t.StateReason, MaxMessage)
		return out, nil
	}
	if !in.Threshold.After(t.Now) {
		return in, fmt.Errorf("%s of %s: %w", t.Event, in.ID, ErrExpired)
	}
	limit := cmp.Or(t.Limit, t.Limits.For(next))
	if limit <= 0 {
		return in, fmt.Errorf("%s of %s: %w: limit must be greater than 0, got %s", t.Event, in.ID, ErrInvalid, limit)
	}
	out.Threshold = At(t.Now.Add(limit))
	switch t.Event {
	case statemachine.Claim:
		if in.PooledAt.IsZero() || t.RunID == "" {
			return in, fmt.Errorf("claim %s: %w: it must be pooled and the run named", in.ID, ErrInvalid)
		}
		if t.Ahead && !in.Ahead() {
			return in, fmt.Errorf("claim %s: %w: it has no registration made ahead", in.ID, ErrInvalid)
		}
		out.assign(t.RunID, t.Attempt, t.Now)
		out.Release = ""
		if out.Limits != (KeptLimits{}) && t.Limits.ClaimGate > 0 {
			out.Limits.ClaimGate = SecondsOf(t.Limits.ClaimGate)
		}
		if t.Ahead {
			out.Registration.Assignment = out.Assignment
		}
	case statemachine.Unclaimed, statemachine.Released:
		out.assign("", 0, t.Now)
		out.Release = t.Release
	case statemachine.Pooled:
		out.PooledAt = later(in.Since, t.Now)
	case statemachine.HandedOver:
		out.Registration.Secret = "" // used: the listener is online
	case statemachine.Renewed:
		if next == statemachine.Idle && in.PooledAt.IsZero() {
			return in, fmt.Errorf("renew %s: %w: an idle one must be pooled", in.ID, ErrInvalid)
		}
	case statemachine.Launched, statemachine.Expired, statemachine.Rejected, statemachine.Lost, statemachine.Dismissed:
		// Register makes the first; the others have ended above.
	}
	if next != in.State {
		out.Since = At(t.Now)
	}
	return out, nil
}

// changed notes a change. The clock may have been read before the last change was made, or be another
// controller's that is slower: times of one record never go back.
func (in *Instance) changed(now time.Time) { in.ChangedAt = later(in.ChangedAt, now) }

// later returns the later of a time of a record and a clock reading.
func later(t Time, now time.Time) Time {
	if at := At(now); at.After(t.Time) {
		return at
	}
	return t
}

// assign changes the owner.
func (in *Instance) assign(run RequestID, attempt int, now time.Time) {
	in.Attempt = attempt
	in.PooledAt = Time{}
	in.Registration.Secret = ""
	if in.RunID == run {
		return
	}
	in.RunID = run
	in.Assignment++
	in.Since = At(now)
}

// Tail returns the end of text that a record may hold, as valid UTF-8: JSON would replace each
// other byte by three, and the record could then be too long to be read again.
func Tail(text string) string {
	if len(text) > MaxDetail {
		text = text[len(text)-MaxDetail:]
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	return strings.ToValidUTF8(text, "?")
}

// Transition writes t over in. ErrConflict means that in is not what is stored.
func (s *Store) Transition(ctx context.Context, in Instance, t Transition) (Instance, error) {
	out, err := in.After(t)
	if err != nil {
		return in, err
	}
	return stored(ctx, s, string(t.Event), in, out)
}

// Register creates the record of a launched instance, owned by in.RunID, in state created for limit.
// ErrConflict means that a record exists and carries another launch token; one with the same token
// is returned as it is.
func (s *Store) Register(ctx context.Context, in Instance, now time.Time, limit time.Duration) (Instance, error) {
	if limit <= 0 {
		return in, fmt.Errorf("%s of %s: %w: limit must be greater than 0, got %s", statemachine.Launched, in.ID, ErrInvalid, limit)
	}
	next, err := statemachine.Next(statemachine.None, statemachine.Launched)
	if err != nil {
		return in, err
	}
	out := in
	out.State, out.Assignment, out.Version = next, 1, 0
	out.Since, out.CreatedAt, out.ChangedAt = At(now), At(now), At(now)
	out.Threshold = At(now.Add(limit))
	out.History = in.History.With(out.CreatedAt, Entry{now, CodeLaunched, string(in.RunID)})
	err = s.put(ctx, &out, 0)
	if current, ok := conflicting(err); ok {
		var have Instance
		if decode(*current, &have) == nil && have.LaunchToken == in.LaunchToken {
			return have, nil
		}
	}
	if err != nil {
		return in, fmt.Errorf("%s: %w", statemachine.Launched, err)
	}
	return out, nil
}

// SetRegistration gives the instance the material for its next registration, or clears it.
func (s *Store) SetRegistration(ctx context.Context, in Instance, reg Registration, now time.Time) (Instance, error) {
	out := in
	out.Registration = reg
	if reg.Secret != "" && in.RunID != "" { // those of an idle machine are renewed for as long as it waits
		out.History = in.History.With(in.CreatedAt, Entry{At: now, Code: CodeMinted})
	}
	out.changed(now)
	return stored(ctx, s, "set registration", in, out)
}

// Retire lets the record of a terminated instance expire. The fleet must have confirmed its end.
func (s *Store) Retire(ctx context.Context, in Instance, expiresAt, now time.Time) (Instance, error) {
	if in.State != statemachine.Terminated {
		return in, fmt.Errorf("retire %s: %w: state is %s", in.ID, ErrInvalid, in.State)
	}
	out := in
	out.ExpiresAt = expiresAt.Truncate(time.Second)
	out.changed(now)
	return stored(ctx, s, "retire", in, out)
}

// Instance reads the record of an instance. ErrNotFound means that there is none, or that its expiry, which its
// agent may write, is none: as one that has passed it takes the record away.
func (s *Store) Instance(ctx context.Context, c Consistency, p Principal) (Instance, error) {
	k := InstanceKey(p, KindInstance)
	item, err := s.item(ctx, c, k)
	if err != nil {
		return Instance{}, err
	}
	if errors.Is(item.Broken, ErrExpiry) {
		return Instance{}, fmt.Errorf("read %s %s: %w: %w", k.Partition, k.Sort, ErrNotFound, item.Broken)
	}
	if last := s.last.Load(); last != nil && last.is(item) {
		return last.instance, nil
	}
	var in Instance
	if err := decode(item, &in); err != nil {
		return Instance{}, err
	}
	s.last.Store(&decoded{item, in})
	return in, nil
}

// decoded is an item and what it says: an agent reads its own record all the time, and mostly it is what it was.
type decoded struct {
	item     Item
	instance Instance
}

func (d *decoded) is(item Item) bool {
	return d.item.Key == item.Key && d.item.Version == item.Version && d.item.ExpiresAt.Equal(item.ExpiresAt) &&
		bytes.Equal(d.item.Attributes, item.Attributes)
}

// signalLife is how long heartbeats and signals outlive their last write (design: one day).
const signalLife = 24 * time.Hour

// Window is how old a heartbeat that says b may be and still be healthy.
func (b Beat) Window(l statemachine.Limits) time.Duration {
	if b.Idle {
		return l.IdleWindow()
	}
	return l.Window()
}

// Beat writes the agent's heartbeat.
func (s *Store) Beat(ctx context.Context, p Principal, beat Beat, now time.Time) error {
	return s.put(ctx, &Heartbeat{
		Principal: p, Value: Ping, UpdatedAt: At(now), Beat: beat, ExpiresAt: now.Add(signalLife).Truncate(time.Second),
	}, Unconditional)
}

// Signal writes the agent's report and notifies. Its failure to notify is not an error: it is a hint.
func (s *Store) Signal(ctx context.Context, p Principal, v SignalValue, now time.Time) error {
	v.Detail = Tail(v.Detail)
	sig := &Signal{Principal: p, Value: v, UpdatedAt: At(now), ExpiresAt: now.Add(signalLife).Truncate(time.Second)}
	if err := s.put(ctx, sig, Unconditional); err != nil {
		return err
	}
	s.notify(ctx, sig.key())
	return nil
}

// Vitals is what an agent last reported. Zero records mean that nothing is stored.
type Vitals struct {
	Heartbeat Heartbeat
	Signal    Signal
}

// Vitals reads heartbeats and signals, consistently. Principals without either are left out;
// bad records are passed to bad and left out.
func (s *Store) Vitals(ctx context.Context, bad func(Key, error), principals ...Principal) (map[Principal]Vitals, error) {
	keys := make([]Key, 0, 2*len(principals))
	for _, p := range principals {
		keys = append(keys, InstanceKey(p, KindHeartbeat), InstanceKey(p, KindSignal))
	}
	found, err := s.find(ctx, fmt.Sprintf("vitals of %d instances", len(principals)), bad, keys)
	return found.Vitals, err
}
