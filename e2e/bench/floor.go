package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Floor is what a warm start cannot do without: a straight-line program that makes only the
// unavoidable calls, on the same file, with the same delays, and waits for nobody. Client,
// controller and agents have a connection each. What it writes is nobody else's.
type Floor struct {
	client, controller, agent store.Table
	instances                 []store.Instance
}

// Floor returns a floor of n instances. The caller closes it.
func (w *World) Floor(ctx context.Context, n int) (_ *Floor, err error) {
	f := new(Floor)
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	for _, t := range []*store.Table{&f.client, &f.controller, &f.agent} {
		opened, err := w.Table(ctx, new(Meter))
		if err != nil {
			return nil, err
		}
		*t = apart{opened}
	}
	now := time.Now()
	for i := range n {
		in := IdleInstance(i, now, time.Hour)
		if err := put(ctx, f.controller, store.InstanceKey(in.Principal, store.KindInstance), 1, time.Time{}, in); err != nil {
			return nil, err
		}
		in.Version = 1
		f.instances = append(f.instances, in)
	}
	return f, nil
}

// Close closes the connections.
func (f *Floor) Close() error {
	var errs []error
	for _, t := range []store.Table{f.client, f.controller, f.agent} {
		if t != nil {
			errs = append(errs, t.Close())
		}
	}
	return errors.Join(errs...)
}

// Start makes the calls of a warm start: the request is written and read, each instance claimed, the
// claim read, the signal written and read, running written, the status written and read.
func (f *Floor) Start(ctx context.Context, id string) error {
	err := f.start(ctx, id, func(now time.Time) error { return f.report(ctx, store.RegOK, now) })
	if err != nil {
		return err
	}
	_, err = store.New(f.client).Status(ctx, store.Eventual, store.RequestID(id))
	return err
}

// StartAhead makes the calls of a warm start whose listeners are online already, up to the write of Ready: between the claims and the
// hand-over no agent is asked, and label is called for each instance, all at once.
func (f *Floor) StartAhead(ctx context.Context, id string, label func(context.Context) error) error {
	return f.start(ctx, id, func(time.Time) error { return f.each(func(*store.Instance) error { return label(ctx) }) })
}

// start makes the calls up to the write of Ready; register is what comes between claims and hand-over.
func (f *Floor) start(ctx context.Context, id string, register func(now time.Time) error) error {
	now := time.Now()
	request := Spec(id, len(f.instances))
	if err := f.ask(ctx, request, 1); err != nil {
		return err
	}
	if err := f.move(ctx, store.Transition{Event: statemachine.Claim, Now: now, Limit: time.Hour, RunID: request.ID, Attempt: 1}); err != nil {
		return err
	}
	if err := register(now); err != nil {
		return err
	}
	if err := f.move(ctx, store.Transition{Event: statemachine.HandedOver, Now: now, Limit: time.Hour}); err != nil {
		return err
	}
	status := store.RunStatus{Attempt: 1, Phase: statemachine.Ready, ReadyAt: store.At(now)}
	for _, in := range f.instances {
		status.Instances = append(status.Instances, store.Seat{InstanceID: in.ID, InstanceType: in.InstanceType, UsageClass: in.UsageClass})
	}
	return put(ctx, f.controller, store.RequestKey(request.ID, store.KindRunStatus), 1, time.Time{}, status)
}

// Return makes the calls of a return: the release is written and read, each instance released, that
// read, the signal written and read, and the instance pooled.
func (f *Floor) Return(ctx context.Context, id string) error {
	now := time.Now()
	request := Spec(id, len(f.instances))
	request.ReleasedAttempt, request.Release = 1, store.ReleaseDrain
	if err := f.ask(ctx, request, 2); err != nil {
		return err
	}
	if err := f.move(ctx, store.Transition{Event: statemachine.Released, Now: now, Limit: time.Hour, Release: store.ReleaseDrain}); err != nil {
		return err
	}
	if err := f.report(ctx, store.RemoveOK, now); err != nil {
		return err
	}
	return f.move(ctx, store.Transition{Event: statemachine.Pooled, Now: now, Limit: time.Hour})
}

// ask writes a version of a request, and reads it as the controller.
func (f *Floor) ask(ctx context.Context, request store.RunRequest, version int64) error {
	key := store.RequestKey(request.ID, store.KindRunRequest)
	if err := put(ctx, f.client, key, version, time.Time{}, request); err != nil {
		return err
	}
	if err := f.client.Notify(ctx, key); err != nil {
		return err
	}
	_, err := store.New(f.controller).Run(ctx, store.Consistent, request.ID)
	return err
}

// report lets every agent read its instance and signal, and watches.
func (f *Floor) report(ctx context.Context, signal store.SignalName, now time.Time) error {
	agent := store.New(f.agent)
	err := f.each(func(in *store.Instance) error {
		if _, err := agent.Instance(ctx, store.Eventual, in.Principal); err != nil {
			return err
		}
		return agent.Signal(ctx, in.Principal, store.SignalValue{Signal: signal, RunID: in.RunID, Assignment: in.Assignment}, now)
	})
	if err != nil {
		return err
	}
	return f.watch(ctx)
}

// watch reads what the agents reported.
func (f *Floor) watch(ctx context.Context) error {
	principals := make([]store.Principal, 0, len(f.instances))
	for _, in := range f.instances {
		principals = append(principals, in.Principal)
	}
	var bad error
	_, err := store.New(f.controller).Vitals(ctx, func(k store.Key, err error) { bad = fmt.Errorf("%v: %w", k, err) }, principals...)
	return errors.Join(err, bad)
}

// move writes one transition of every instance.
func (f *Floor) move(ctx context.Context, t store.Transition) error {
	s := store.New(f.controller)
	return f.each(func(in *store.Instance) error {
		out, err := s.Transition(ctx, *in, t)
		*in = out
		return err
	})
}

// each calls do for all instances at once.
func (f *Floor) each(do func(*store.Instance) error) error {
	var all errgroup.Group
	for i := range f.instances {
		all.Go(func() error { return do(&f.instances[i]) })
	}
	return all.Wait()
}

// put writes a record as version over the one before.
func put(ctx context.Context, table store.Table, key store.Key, version int64, expires time.Time, record any) error {
	body, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode %s %s: %w", key.Partition, key.Sort, err)
	}
	expect := version - 1
	if version == 0 {
		expect = store.Unconditional
	}
	return table.Put(ctx, store.Item{Key: key, Version: version, ExpiresAt: expires.Truncate(time.Second), Attributes: body}, expect)
}

// apart keeps items out of everybody's sight: their partitions have names that nobody reads.
type apart struct{ store.Table }

const apartPrefix = "FLOOR#"

func (a apart) Put(ctx context.Context, item store.Item, expect int64) error {
	item.Key.Partition = apartPrefix + item.Key.Partition
	return a.Table.Put(ctx, item, expect)
}

func (a apart) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	ask := make([]store.Key, 0, len(keys))
	for _, k := range keys {
		ask = append(ask, store.Key{Partition: apartPrefix + k.Partition, Sort: k.Sort})
	}
	items, err := a.Table.Get(ctx, c, ask...)
	for i := range items {
		items[i].Key.Partition = strings.TrimPrefix(items[i].Key.Partition, apartPrefix)
	}
	return items, err
}

func (a apart) Notify(ctx context.Context, keys ...store.Key) error {
	ask := make([]store.Key, 0, len(keys))
	for _, k := range keys {
		ask = append(ask, store.Key{Partition: apartPrefix + k.Partition, Sort: k.Sort})
	}
	return a.Table.Notify(ctx, ask...)
}
