package reconciler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/costs"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// adopter creates the records of machines.
type adopter struct {
	*tenure
	cache      *cache
	badRecords *badRecords
}

// adopt creates the record of a machine, unless it has one.
func (a *adopter) adopt(ctx context.Context, m fleet.Machine, run store.RequestID, attempt int) error {
	if _, known := a.cache.instances.get(store.InstanceID(m.ID)); known {
		return nil
	}
	if m.TemplateVersion == "" {
		m.TemplateVersion = a.planned(m.LaunchToken)
	}
	price := costs.Price(store.Instance{UsageClass: m.UsageClass, InstanceType: m.InstanceType, Zone: m.Zone}, a.cfg.priceOf())
	end, landed := a.cache.counting.begin(a.clock.Now()), false
	defer func() { end(landed, a.clock.Now()) }()
	in, err := a.cache.store.Register(ctx, store.Instance{
		Principal: store.Principal(m.Principal), ID: store.InstanceID(m.ID), RunID: run, Attempt: attempt,
		ResourceClass: m.ResourceClass, UsageClass: m.UsageClass, InstanceType: m.InstanceType,
		CPU: m.CPU, Mem: m.Mem, Zone: m.Zone, LaunchToken: m.LaunchToken, TemplateVersion: m.TemplateVersion, Price: price, Term: a.term,
		Limits: store.Kept(a.cfg.Limits),
	}, a.clock.Now(), a.cfg.Limits.Created)
	landed = err == nil || errors.Is(err, store.ErrConflict)
	if errors.Is(err, store.ErrConflict) { // another wrote it first, or what it wrote cannot be read
		if known, readErr := a.recorded(ctx, m); known || readErr != nil {
			return readErr
		}
	}
	if err != nil {
		return fmt.Errorf("adopt %s: %w", m.ID, err)
	}
	a.cache.instances.apply(in)
	if m.State == fleet.Ending || m.State == fleet.Ended { // the instance failed to start
		a.cache.instances.with(in.ID, func(in *instance) { in.machine.cloud, in.machine.reason = statemachine.Gone, m.StateReason })
	}
	a.recorder.Transitioned(store.Instance{}, in, statemachine.Launched)
	a.log.Info("instance launched", logkey.InstanceID, in.ID, logkey.RequestID, run, logkey.Launch, m.LaunchToken,
		logkey.Class, in.ResourceClass, logkey.Usage, in.UsageClass, logkey.Type, in.InstanceType)
	a.queues.instances.Add(in.ID)
	return nil
}

// planned returns the template version in the plan of a launch, or "". The fleet may list an instance without its version. An idle instance
// of an unknown version would terminate as outdated.
func (a *adopter) planned(token string) string {
	l, ok := a.cache.launches.launch(token)
	var plan fleet.Plan
	if !ok || json.Unmarshal(l.Plan, &plan) != nil { // carryOut reports an invalid plan
		return ""
	}
	return plan.TemplateVersion
}

// recorded reads whether a machine that the cache lacks has a record all the same: the last leader's, whose write came
// late, or one that cannot be decoded. Such a machine belongs to a record, and is not ended for what we cannot
// read: its agent ends it in time.
func (a *adopter) recorded(ctx context.Context, m fleet.Machine) (bool, error) {
	rec, err := a.cache.store.Instance(ctx, store.Consistent, store.Principal(m.Principal))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return false, nil
	case errors.Is(err, store.ErrInvalid):
		a.badRecords.badRecord(store.InstanceKey(store.Principal(m.Principal), store.KindInstance), err)
		return true, nil
	case err != nil:
		return false, fmt.Errorf("machine %s: %w", m.ID, err)
	}
	a.cache.instances.apply(rec)
	a.queues.instances.Add(rec.ID)
	return true, nil
}
