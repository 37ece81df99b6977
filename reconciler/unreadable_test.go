package reconciler_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// spoil takes the agent of a machine and breaks its record in a way that a machine's role can.
func (w *world) spoil(id store.InstanceID, how func(*storetest.Memory, store.Key)) {
	w.t.Helper()
	in := w.instance(id)
	w.Disturb(id)
	w.Waive(sim.InTime) // nobody reads its threshold
	w.forge(id, func(in store.Instance) (store.Beat, store.SignalValue) {
		return store.Beat{Assignment: in.Assignment, Runner: "none"}, store.SignalValue{Signal: store.RemoveOK, Assignment: in.Assignment}
	})
	role := store.New(w.Under) // it goes on beating, so that only the record is wrong
	w.Go(func(ended <-chan struct{}) {
		for {
			_ = role.Beat(w.t.Context(), in.Principal, store.Beat{Assignment: in.Assignment, Runner: "none"}, w.Clock.Now())
			select {
			case <-ended:
				return
			case <-w.Clock.After(5 * time.Second):
			}
		}
	})
	how(w.Under.(*storetest.Memory), store.InstanceKey(in.Principal, store.KindInstance))
}

var spoils = map[string]func(*storetest.Memory, store.Key){
	"Broken":  (*storetest.Memory).Break, // SET expiresAt = "never"
	"Expired": (*storetest.Memory).Erase, // SET expiresAt = 1
}

// H51: a pooled machine whose record its role broke, or let expire, stops nobody: the others of its class are claimed
// with a registration each, and it is ended.
func TestSpoiledRecord_OfAPooledMachine_StopsNobody_H51(t *testing.T) {
	for name, how := range spoils {
		t.Run(name, storyLed(func(t *testing.T, w *world) {
			w.warm("100", 3)
			var oldest store.Instance
			for _, in := range w.Instances() {
				if in.State == statemachine.Idle && (oldest.ID == "" || in.Threshold.Time.Before(oldest.Threshold.Time) || in.Threshold.Equal(oldest.Threshold) && in.ID < oldest.ID) {
					oldest = in
				}
			}
			w.spoil(oldest.ID, how)
			before := registrations(w)
			st := w.serve(spec("200", 1), 10*time.Second)
			if st.Instances[0].InstanceID == oldest.ID || !st.Instances[0].Warm {
				t.Errorf("served by %+v, want another warm machine", st.Instances[0])
			}
			if n := registrations(w) - before; n > 3 {
				t.Errorf("%d registrations for one seat", n)
			}
			w.await(w.Config().Scan+w.Config().Orphan+time.Minute, "the machine is ended", func() bool {
				return !slices.Contains(w.Fleet.Alive(), string(oldest.ID))
			})
			w.release("200", 1, store.ReleaseDrain)
		}))
	}
}

// H51: nor does it make a machine immortal that runs a job: it is ended, and its seat filled again.
func TestSpoiledRecord_OfARunningMachine_EndsIt_H51(t *testing.T) {
	for name, how := range spoils {
		t.Run(name, storyLed(func(t *testing.T, w *world) {
			st := w.serve(spec("100", 1, lasting(10*time.Minute)), time.Minute)
			id := st.Instances[0].InstanceID
			w.spoil(id, how)
			w.await(10*time.Minute+w.Config().Orphan+time.Minute, "the machine is ended", func() bool {
				return !slices.Contains(w.Fleet.Alive(), string(id))
			})
			w.release("100", 1, store.ReleaseDrain)
		}))
	}
}

const handWritten = `{"attempt":1,"count":1,"usageClass":["spot"],"allowedInstanceTypes":["*"],"resourceClass":"small",
	"maxRuntime":600,"timeout":600,"releasedAttempt":0,"release":"","createdAt":"2026-11-22T08:00:00.000Z"}`

// H70: a request that cannot be read is answered, and the answer names the field; notified of or found by a scan, of a first
// attempt or of a later one.
func TestUnreadableRequest_IsAnswered_H70(t *testing.T) {
	for name, tt := range map[string]struct {
		from, to, field string
		notified        bool
	}{
		"CountIsText":    {`"count":1`, `"count":"1"`, "count: must be of type int, got a string", true},
		"Scanned":        {`"count":1`, `"count":"1"`, "count: must be of type int, got a string", false},
		"CountInParts":   {`"count":1`, `"count":1.5`, "count", true},
		"ClassIsList":    {`"resourceClass":"small"`, `"resourceClass":["small"]`, "resourceClass", true},
		"TimeoutIsText":  {`"timeout":600`, `"timeout":"10m"`, "timeout", true},
		"TypesAreText":   {`["*"]`, `"*"`, "allowedInstanceTypes", true},
		"AttemptIsZero":  {`"attempt":1`, `"attempt":0`, "attempt", true},
		"AttemptIsText":  {`"attempt":1`, `"attempt":"1"`, "attempt", true},
		"ExpiryIsText":   {"", "", "expiresAt", true},
		"AttemptIsThree": {`"attempt":1,"count":1`, `"attempt":3,"count":"1"`, "count", true},
	} {
		t.Run(name, storyLed(func(t *testing.T, w *world) {
			time.Sleep(time.Minute)
			key := store.RequestKey("100", store.KindRunRequest)
			memory := w.Under.(*storetest.Memory)
			body := strings.Replace(handWritten, tt.from, tt.to, 1)
			if err := memory.Put(t.Context(), store.Item{Key: key, Version: 1, Attributes: []byte(body)}, 0); err != nil {
				t.Fatalf("Put() error = %v", err)
			}
			if tt.field == "expiresAt" {
				memory.Break(key)
			}
			limit := w.Config().Scan + time.Second
			if tt.notified {
				limit = 2 * time.Second
				if err := w.Table.Notify(t.Context(), key); err != nil {
					t.Fatalf("Notify() error = %v", err)
				}
			}
			attempt := 1
			if name == "AttemptIsThree" {
				attempt = 3
			}
			st := w.awaitPhase("100", attempt, statemachine.Failed, limit)
			if st.Reason != reconciler.ReasonSpec || !strings.Contains(st.Message, tt.field) {
				t.Errorf("%s: %s, want invalid, naming %s", st.Reason, st.Message, tt.field)
			}
			time.Sleep(3 * w.Config().Scan)
			if n := len(w.alarms.raised()); n > 5 {
				t.Errorf("%d alarms in ten minutes: %q", n, w.alarms.raised())
			}
			memory.Erase(key)
		}))
	}
}

// The instant at which a request was made is for people: however it is written, the request is served.
func TestRequest_WithAnyCreatedAt_IsServed(t *testing.T) {
	for name, text := range map[string]string{
		"WithoutParts": `"2026-11-22T08:00:00Z"`, "WithZone": `"2026-11-22T09:00:00+01:00"`, "Nanoseconds": `"2026-11-22T08:00:00.123456789Z"`,
		"Nonsense": `"nope"`, "Number": `1763798400`, "Null": `null`, "Far": `"99999-01-01T00:00:00Z"`,
	} {
		t.Run(name, storyLed(func(t *testing.T, w *world) {
			body := strings.Replace(handWritten, `"2026-11-22T08:00:00.000Z"`, text, 1)
			key := store.RequestKey("100", store.KindRunRequest)
			if err := w.Table.Put(t.Context(), store.Item{Key: key, Version: 1, Attributes: []byte(body)}, 0); err != nil {
				t.Fatalf("Put() error = %v", err)
			}
			if err := w.Table.Notify(t.Context(), key); err != nil {
				t.Fatalf("Notify() error = %v", err)
			}
			w.awaitPhase("100", 1, statemachine.Ready, 50*time.Second)
			w.give("100", 1, store.ReleaseDrain, time.Minute)
		}))
	}
}
