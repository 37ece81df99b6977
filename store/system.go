package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// PutLaunch stores l over the version it carries (0: new).
func (s *Store) PutLaunch(ctx context.Context, l Launch) (Launch, error) {
	return stored(ctx, s, "launch", l, l)
}

// Launch reads a launch, consistently. ErrNotFound means that there is none.
func (s *Store) Launch(ctx context.Context, token string) (Launch, error) {
	var l Launch
	err := s.get(ctx, Consistent, LaunchKey(token), &l)
	return l, err
}

// Lease reads the lease, consistently. The zero Lease means that no controller ever held it.
func (s *Store) Lease(ctx context.Context) (Lease, error) {
	items, err := s.table.Get(ctx, Consistent, LeaseKey)
	if err != nil {
		return Lease{}, fmt.Errorf("read lease: %w", err)
	}
	var l Lease
	if len(items) == 0 {
		return l, nil
	}
	err = decode(items[0], &l)
	return l, err
}

// PutLease stores l over the version it carries, in one try: a lease write that takes long is worth
// nothing. ErrConflict means that another controller came first.
func (s *Store) PutLease(ctx context.Context, l Lease) (Lease, error) {
	out := l
	out.Version = l.Version + 1
	item, err := encode(&out, out.Version)
	if err != nil {
		return l, err
	}
	err = s.table.Put(ctx, item, l.Version)
	if current, ok := conflicting(err); ok && same(*current, item) {
		err = nil
	}
	if err != nil {
		return l, fmt.Errorf("write lease: %w", err)
	}
	return out, nil
}

// OrderDrain stores a drain order, whose id was never used before, and notifies. It is in force once a
// controller has taken it up.
func (s *Store) OrderDrain(ctx context.Context, d DrainOrder) error {
	d.EffectiveAt, d.Term, d.ExpiresAt = Time{}, 0, time.Time{}
	if err := s.put(ctx, &d, 0); err != nil && !errors.Is(err, ErrConflict) { // a conflict: an earlier try was applied
		return err
	}
	s.notify(ctx, d.key())
	return nil
}

// TakeDrain puts an order in force: it dismisses what was there at now, by the clock of the controller of
// this term, and stays for life. One that was taken up before is returned as it is.
func (s *Store) TakeDrain(ctx context.Context, d DrainOrder, now time.Time, term int64, life time.Duration) (DrainOrder, error) {
	if d.Taken() {
		return d, nil
	}
	d.EffectiveAt, d.Term, d.ExpiresAt = At(now), term, now.Add(life).Truncate(time.Second)
	err := s.put(ctx, &d, d.Version)
	return d, err
}

// DrainOrders reads those of the drain orders that exist, consistently. Bad records are passed to bad and left out.
func (s *Store) DrainOrders(ctx context.Context, bad func(Key, error), ids ...string) ([]DrainOrder, error) {
	keys := make([]Key, len(ids))
	for i, id := range ids {
		keys[i] = DrainKey(id)
	}
	found, err := s.find(ctx, fmt.Sprintf("%d drain orders", len(ids)), bad, keys)
	return found.Drains, err
}

// Visitor receives the records of a scan. A nil function skips its kind. Bad receives what cannot be
// decoded: one bad record never hides the others (H70). Junk receives items besides that would stay for ever:
// see Store.ExpireJunk.
type Visitor struct {
	Request   func(RunRequest)
	Client    func(RunClient)
	Status    func(RunStatus)
	Instance  func(Instance)
	Heartbeat func(Heartbeat)
	Signal    func(Signal)
	Launch    func(Launch)
	Drain     func(DrainOrder)
	Floor     func(Floor)
	Bad       func(Key, error)
	Junk      func(Item)
}

// Scan reads the whole table, consistently, and hands every record to v.
func (s *Store) Scan(ctx context.Context, v Visitor) error {
	err := s.table.Scan(ctx, func(item Item) error {
		if v.Junk != nil && junk(item) {
			v.Junk(item)
		}
		if err := v.visit(item); err != nil && v.Bad != nil {
			v.Bad(item.Key, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	return nil
}

func (v Visitor) visit(item Item) error {
	switch item.Key.Sort {
	case KindRunRequest:
		return visit(item, new(RunRequest), v.Request)
	case KindRunClient:
		return visit(item, new(RunClient), v.Client)
	case KindRunStatus:
		return visit(item, new(RunStatus), v.Status)
	case KindInstance:
		return visit(item, new(Instance), v.Instance)
	case KindHeartbeat:
		return visit(item, new(Heartbeat), v.Heartbeat)
	case KindSignal:
		return visit(item, new(Signal), v.Signal)
	case KindLaunch:
		return visit(item, new(Launch), v.Launch)
	case KindDrain:
		return visit(item, new(DrainOrder), v.Drain)
	case KindFloor:
		return visit(item, new(Floor), v.Floor)
	case KindLease, KindDemand, KindCosts: // read by themselves
		return nil
	}
	return fmt.Errorf("kind %s: %w", shown(item.Key.Sort), ErrInvalid)
}

// visit decodes item into r and passes it on.
func visit[R any, P interface {
	*R
	record
}](item Item, r P, yield func(R)) error {
	if yield == nil {
		return nil
	}
	if err := decode(item, r); err != nil {
		return err
	}
	yield(*r)
	return nil
}
