package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// claimOnce lets 100 requests claim one instance at once.
func claimOnce(t *testing.T, table store.Table) {
	s := store.New(table)
	in := pooledInstance(t, s)
	const claimants = 100
	var mu sync.Mutex
	var winners []store.Instance
	var wg sync.WaitGroup
	for n := range claimants {
		wg.Go(func() {
			out, err := s.Transition(t.Context(), in, store.Transition{
				Event: statemachine.Claim, Now: epoch, Limit: time.Hour, RunID: store.RequestID(fmt.Sprint(n)), Attempt: 1,
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				winners = append(winners, out)
			case !errors.Is(err, store.ErrConflict):
				t.Errorf("claim by %d: error = %v, want %v", n, err, store.ErrConflict)
			}
		})
	}
	wg.Wait()
	if len(winners) != 1 {
		t.Fatalf("%d claims succeeded, want 1", len(winners))
	}
	wantInstance(t, s, winners[0])
}

// wantInstance checks the stored record.
func wantInstance(t *testing.T, s *store.Store, want store.Instance) {
	t.Helper()
	got, err := s.Instance(t.Context(), store.Consistent, want.Principal)
	wantErr(t, "Instance()", err, nil)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("stored instance (-want +got):\n%s", diff)
	}
}

// lostReply loses the replies of half of all writes. Every call still says what is true: the
// writer whose write took effect learns so, and no one else does.
func lostReply(t *testing.T, table store.Table) {
	weak := store.New(Weaken(table, Weakness{Seed: 13, LostReply: 0.5}))
	in := pooledInstance(t, weak)
	for n := range 20 {
		run := store.RequestID(fmt.Sprint(n))
		claimed := moved(t, weak, in, store.Transition{Event: statemachine.Claim, Now: epoch, Limit: time.Hour, RunID: run, Attempt: 1})
		wantInstance(t, store.New(table), claimed)
		_, err := weak.Transition(t.Context(), in, store.Transition{
			Event: statemachine.Claim, Now: epoch, Limit: time.Hour, RunID: run + "-late", Attempt: 1,
		})
		wantErr(t, "claim of a claimed instance", err, store.ErrConflict)
		in = moved(t, weak, claimed, store.Transition{Event: statemachine.Unclaimed, Now: epoch, Limit: time.Hour})
		in = moved(t, weak, in, store.Transition{Event: statemachine.Pooled, Now: epoch, Limit: time.Hour})
	}
	if in.Assignment != 2+20*2 {
		t.Errorf("assignment = %d, want one for each change of owner: %d", in.Assignment, 2+20*2)
	}
}

// illegalRecords tries to store what the table of states cannot produce.
func illegalRecords(t *testing.T, table store.Table) {
	s := store.New(table)
	good, err := s.Register(t.Context(), sampleInstance(1), epoch, time.Hour)
	wantErr(t, "Register()", err, nil)
	for _, tt := range []struct {
		name  string
		spoil func(*store.Instance)
	}{
		{"UnknownState", func(in *store.Instance) { in.State = "hibernating" }},
		{"NoState", func(in *store.Instance) { in.State = "" }},
		{"OwnedWithoutRun", func(in *store.Instance) { in.RunID = "" }},
		{"IdleWithRun", func(in *store.Instance) { in.State = statemachine.Idle }},
		{"TerminatedWithRun", func(in *store.Instance) { in.State, in.Threshold = statemachine.Terminated, store.Time{} }},
		{"TerminatedWithThreshold", func(in *store.Instance) { in.State, in.RunID = statemachine.Terminated, "" }},
		{"NoThreshold", func(in *store.Instance) { in.Threshold = store.Time{} }},
		{"PooledButOwned", func(in *store.Instance) { in.PooledAt = store.At(epoch) }},
		{"NoID", func(in *store.Instance) { in.ID = "" }},
		{"DetailTooLong", func(in *store.Instance) { in.Detail = strings.Repeat("x", store.MaxDetail+1) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := good
			tt.spoil(&bad)
			_, err := s.SetRegistration(t.Context(), bad, store.Registration{Serial: 1}, epoch)
			wantErr(t, "SetRegistration()", err, store.ErrInvalid)
			wantInstance(t, s, good)
		})
	}
}

// wholeLife takes an instance through every state; each step is stored as it was returned.
func wholeLife(t *testing.T, table store.Table) {
	s := store.New(table)
	in, err := s.Register(t.Context(), sampleInstance(1), epoch, time.Hour)
	wantErr(t, "Register()", err, nil)
	wantInstance(t, s, in)
	in, err = s.SetRegistration(t.Context(), in, store.Registration{Serial: 1, Assignment: 1, Mode: store.JIT, Secret: "s"}, epoch)
	wantErr(t, "SetRegistration()", err, nil)
	wantInstance(t, s, in)
	for _, event := range []statemachine.Event{
		statemachine.Renewed, statemachine.HandedOver, statemachine.Released, statemachine.Pooled,
		statemachine.Claim, statemachine.Renewed, statemachine.Unclaimed, statemachine.Pooled, statemachine.Dismissed,
	} {
		tr := store.Transition{Event: event, Now: epoch, Limit: time.Hour}
		if event == statemachine.Claim {
			tr.RunID, tr.Attempt = "2", 1
		}
		before := in
		in = moved(t, s, in, tr)
		if in.Version != before.Version+1 {
			t.Errorf("version after %s = %d, want %d", event, in.Version, before.Version+1)
		}
		wantInstance(t, s, in)
		if _, err := s.Transition(t.Context(), before, tr); !errors.Is(err, store.ErrConflict) && in.Version > before.Version+1 {
			t.Errorf("%s over a stale record: error = %v, want %v", event, err, store.ErrConflict)
		}
	}
	_, err = s.Transition(t.Context(), in, store.Transition{Event: statemachine.Claim, Now: epoch, Limit: time.Hour, RunID: "3"})
	wantErr(t, "claim of a terminated instance", err, statemachine.ErrNoRule)

	// Once the fleet has confirmed its end, the record expires and its key may be used again.
	_, err = s.Retire(t.Context(), in, epoch.Add(-time.Hour), epoch)
	wantErr(t, "Retire()", err, nil)
	_, err = s.Instance(t.Context(), store.Consistent, in.Principal)
	wantErr(t, "Instance() of a retired record", err, store.ErrNotFound)
	_, err = s.Register(t.Context(), sampleInstance(1), epoch, time.Hour)
	wantErr(t, "Register() over a retired record", err, nil)
}

// registerTwice records one launch from two places, as recovery and the launch itself may.
func registerTwice(t *testing.T, table store.Table) {
	s := store.New(table)
	first, err := s.Register(t.Context(), sampleInstance(1), epoch, time.Hour)
	wantErr(t, "Register()", err, nil)
	running := moved(t, s, first, store.Transition{Event: statemachine.HandedOver, Now: epoch, Limit: time.Hour})
	again, err := s.Register(t.Context(), sampleInstance(1), epoch.Add(time.Minute), time.Hour)
	wantErr(t, "Register() again", err, nil)
	if diff := cmp.Diff(running, again); diff != "" {
		t.Errorf("Register() again (-stored +got):\n%s", diff)
	}
	other := sampleInstance(1)
	other.LaunchToken = "l-2"
	_, err = s.Register(t.Context(), other, epoch, time.Hour)
	wantErr(t, "Register() of another launch", err, store.ErrConflict)
	wantInstance(t, s, running)
}

func vitals(t *testing.T, table store.Table) {
	s := store.New(table)
	now := time.Now()
	beat := store.Beat{Assignment: 2, Busy: true, Runner: "online", RunnerID: 7, AgentVersion: "1.2.3"}
	signal := store.SignalValue{Signal: store.ScriptFailed, RunID: "1", Assignment: 2, Detail: strings.Repeat("é", store.MaxDetail)}
	wantErr(t, "Beat()", s.Beat(t.Context(), "i-1", beat, now), nil)
	wantErr(t, "Signal()", s.Signal(t.Context(), "i-1", signal, now), nil)
	wantErr(t, "Signal()", s.Signal(t.Context(), "i-2", store.SignalValue{Signal: store.RegOK}, now), nil)
	wantErr(t, "Signal() of no name", s.Signal(t.Context(), "i-2", store.SignalValue{Signal: "UD_MAYBE"}, now), store.ErrInvalid)
	broken := store.InstanceKey("i-3", store.KindHeartbeat)
	mustPut(t, table, store.Unconditional, store.Item{Key: broken, Attributes: []byte(`{"value":"PONG"}`)})

	var bad []store.Key
	got, err := s.Vitals(t.Context(), func(k store.Key, _ error) { bad = append(bad, k) }, "i-1", "i-2", "i-3", "i-4")
	wantErr(t, "Vitals()", err, nil)
	if diff := cmp.Diff([]store.Key{broken}, bad); diff != "" {
		t.Errorf("bad records (-want +got):\n%s", diff)
	}
	if len(got) != 2 || got["i-1"].Heartbeat.Beat != beat || got["i-2"].Signal.Value.Signal != store.RegOK || got["i-2"].Heartbeat.Value != "" {
		t.Errorf("Vitals() = %+v, want those of i-1 and i-2", got)
	}
	detail := got["i-1"].Signal.Value.Detail
	if len(detail) > store.MaxDetail || !strings.HasSuffix(signal.Detail, detail) || detail == "" {
		t.Errorf("detail has %d bytes, want the end of what was reported, at most %d", len(detail), store.MaxDetail)
	}
}
