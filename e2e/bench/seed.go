package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// types is how many instance types seeded instances are of, in turn.
const types = 20

// IdleInstance returns the record of instance i, idle and pooled at now for limit, after its first run.
func IdleInstance(i int, now time.Time, limit time.Duration) store.Instance {
	id := fmt.Sprintf("i-%017x", i)
	at := store.At(now)
	return store.Instance{
		Principal: store.Principal(id), ID: store.InstanceID(id), State: statemachine.Idle,
		Threshold: store.At(now.Add(limit)), Assignment: 2, Since: at, PooledAt: at, Release: store.ReleaseDrain,
		ResourceClass: Class, UsageClass: store.Spot, InstanceType: fmt.Sprintf("c%d.large", i%types), CPU: 2, Mem: 4096,
		Zone: "eu-west-1a", LaunchToken: fmt.Sprintf("l-%034x", i/10), TemplateVersion: "1",
		Registration: store.Registration{Serial: 1, Assignment: 1, Mode: store.JIT, Name: id + "-1", RunnerID: int64(i) + 1, URL: "https://github.com/octo/repo", MintedAt: at},
		CreatedAt:    at, ChangedAt: at,
	}
}

// Seed fills a store with n instances that are idle and pooled for limit, and their last signals.
// Their heartbeats are Beat's.
func Seed(ctx context.Context, table store.Table, n int, limit time.Duration) error {
	now := time.Now()
	for i := range n {
		in := IdleInstance(i, now, limit)
		signal := store.Signal{UpdatedAt: store.At(now), Value: store.SignalValue{Signal: store.RemoveOK, Assignment: in.Assignment}}
		err := put(ctx, table, store.InstanceKey(in.Principal, store.KindInstance), 1, time.Time{}, in)
		if err == nil {
			err = put(ctx, table, store.InstanceKey(in.Principal, store.KindSignal), 0, now.Add(24*time.Hour), signal)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Beat writes the heartbeat of seeded instance i.
func Beat(ctx context.Context, s *store.Store, i int) error {
	return s.Beat(ctx, IdleInstance(i, time.Time{}, 0).Principal, store.Beat{Assignment: 2, Runner: "none", AgentVersion: "bench"}, time.Now())
}

// SeedFleet puts the machines of n seeded instances into the fleet. They run nothing.
func (w *World) SeedFleet(n int) {
	for i := range n {
		in := IdleInstance(i, time.Now(), time.Hour)
		w.Fleet.Add(fleet.Machine{
			ID: string(in.ID), Principal: string(in.Principal), InstanceType: in.InstanceType, UsageClass: in.UsageClass,
			ResourceClass: in.ResourceClass, CPU: in.CPU, Mem: in.Mem, Zone: in.Zone, LaunchToken: in.LaunchToken,
			TemplateVersion: in.TemplateVersion,
		})
	}
}
