package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// sampleInstance returns the record of instance n as the controller writes it at launch.
func sampleInstance(n int) store.Instance {
	id := store.InstanceID(fmt.Sprintf("i-%05d", n))
	return store.Instance{
		Principal: store.Principal(id), ID: id, State: statemachine.Created, RunID: "1", Attempt: 1,
		Threshold: store.At(epoch.Add(10 * time.Minute)), Assignment: 1, Since: store.At(epoch),
		ResourceClass: "large", UsageClass: store.Spot, InstanceType: "c7i.large", CPU: 2, Mem: 4096, Zone: "zone-a",
		LaunchToken: "l-1", TemplateVersion: "1", CreatedAt: store.At(epoch), ChangedAt: store.At(epoch), Version: 1,
	}
}

// instanceItem returns the stored form of in, also of one that the Store would not write.
func instanceItem(t testing.TB, in store.Instance) store.Item {
	t.Helper()
	attributes, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return store.Item{Key: store.InstanceKey(in.Principal, store.KindInstance), Version: in.Version, Attributes: attributes}
}

// recordItem returns the stored form of an unversioned record of instance n.
func recordItem(t testing.TB, n int, kind string, record any) store.Item {
	t.Helper()
	attributes, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	return store.Item{Key: store.InstanceKey(sampleInstance(n).Principal, kind), Attributes: attributes}
}

func heartbeatItem(t testing.TB, n int) store.Item {
	return recordItem(t, n, store.KindHeartbeat, store.Heartbeat{
		Value: store.Ping, UpdatedAt: store.At(epoch), Beat: store.Beat{Assignment: 1, Runner: "online", AgentVersion: "1.2.3"},
	})
}

func signalItem(t testing.TB, n int) store.Item {
	return recordItem(t, n, store.KindSignal, store.Signal{
		UpdatedAt: store.At(epoch), Value: store.SignalValue{Signal: store.RegOK, RunID: "1", Assignment: 1, Serial: 1},
	})
}

// pooledInstance stores instance 1 as idle and claimable at epoch and returns its record.
func pooledInstance(t testing.TB, s *store.Store) store.Instance {
	t.Helper()
	in, err := s.Register(t.Context(), sampleInstance(1), epoch, time.Hour)
	wantErr(t, "Register()", err, nil)
	for _, event := range []statemachine.Event{statemachine.HandedOver, statemachine.Released, statemachine.Pooled} {
		in = moved(t, s, in, store.Transition{Event: event, Now: epoch, Limit: time.Hour})
	}
	return in
}

// moved applies tr, which must succeed.
func moved(t testing.TB, s *store.Store, in store.Instance, tr store.Transition) store.Instance {
	t.Helper()
	out, err := s.Transition(t.Context(), in, tr)
	wantErr(t, "Transition("+string(tr.Event)+")", err, nil)
	return out
}

func sampleRequest(id store.RequestID) store.RunRequest {
	return store.RunRequest{
		ID: id, Attempt: 1, Count: 3, UsageClasses: []string{store.Spot, store.OnDemand},
		AllowedInstanceTypes: []string{"c*", "m7i.large"}, ResourceClass: "large",
		MaxRuntime: store.SecondsOf(30 * time.Minute), Timeout: store.SecondsOf(10 * time.Minute), CreatedAt: store.At(epoch),
	}
}
