package sim

import (
	"maps"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// storiesOfFloors are quiet stories in which machines are kept while nobody asks.
func storiesOfFloors(quiet func(...Step) Script) map[string]Script {
	floor := quiet(Begin(0, Workflow{ID: "100", Count: 1, Hold: 20 * time.Second}))
	floor.Floors, floor.CalmAt = Floors{Small: 1, Age: time.Hour}, 25*time.Minute
	full := floor
	full.Floors.Small, full.Largest = 2, 1
	return map[string]Script{"a floor": floor, "a floor that a cap keeps low": full}
}

// believe has the laws expect another floor of class small than the controllers know of.
func (h hands) believe(change func(*reconciler.Floor)) {
	s := h.w.supervisor
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.Classes = maps.Clone(s.cfg.Classes)
	small := s.cfg.Classes["small"]
	change(&small.Floor)
	s.cfg.Classes["small"] = small
}

// renew puts off the time of an idle machine.
func (h hands) renew() {
	h.of(h.instance(statemachine.Idle, pooled), func(r *store.Instance) {
		now := h.w.clock.Now()
		r.Threshold, r.ChangedAt = store.At(now.Add(9*time.Minute)), store.At(now)
	})
}

// forFloor writes a launch for the floor of class small, and makes its call.
func (h hands) forFloor() {
	rewrite(h, store.LaunchKey("of-nobody"), func(l *store.Launch) {
		l.ResourceClass, l.UsageClass, l.Count, l.CreatedAt = "small", store.Spot, 1, store.At(h.w.clock.Now())
		l.Plan = h.plan("of-nobody").Params
		l.Seats = []store.LaunchSeat{{RequestID: store.FloorOwner("small"), Attempt: 1, Count: 1}}
	})
	h.launches("of-nobody")
}

// floorsBroken are floors that are kept as they must not be.
func floorsBroken() []sabotage {
	return []sabotage{
		{law: Kept, name: "too old", story: "a floor", says: "is the most", at: 6*time.Minute + 2*time.Second, do: func(h hands) {
			h.instance(statemachine.Idle, pooled)
			h.believe(func(f *reconciler.Floor) { f.MaxAge = 10 * time.Minute })
			h.renew()
		}},
		{law: Kept, name: "outdated", story: "a floor", says: "is the present one", at: 6*time.Minute + 2*time.Second, do: func(h hands) {
			h.instance(statemachine.Idle, pooled)
			h.t.records.mu.Lock()
			h.t.facts.template, h.t.facts.templateAt = template{Version: "2"}, h.w.clock.Now().Add(-3*time.Minute)
			h.t.records.mu.Unlock()
			h.renew()
		}},
		{law: Kept, name: "unwanted", story: "a floor", says: "wants any", at: 6*time.Minute + 2*time.Second, do: func(h hands) {
			h.instance(statemachine.Idle, pooled)
			h.believe(func(f *reconciler.Floor) { f.Schedule.Base = 0 })
			h.renew()
		}},
		{law: Filled, name: "not filled", story: "a floor", says: "nothing has kept it from being filled", at: 6*time.Minute + 2*time.Second, also: []string{Bounded}, patient: true, do: func(h hands) {
			h.believe(func(f *reconciler.Floor) { f.Schedule.Base = 2 })
		}},
		{law: Filled, name: "more than it wants", story: "a floor", says: "2 idle and wants 1", change: func(s *Script) { s.Floors.Small, s.CalmAt = 2, 0 }, do: func(h hands) {
			h.until(func() bool { return len(h.instances(statemachine.Idle, pooled)) == 2 })
			h.believe(func(f *reconciler.Floor) { f.Schedule.Base = 1 })
		}},
		{law: Needed, name: "more than the floor wants", story: "a floor", says: "is launched for the floor of small, which wants 1", at: 6*time.Minute + 2*time.Second, do: hands.forFloor},
		{law: Needed, name: "above the caps", story: "a floor that a cap keeps low", says: "above a cap", at: 6*time.Minute + 2*time.Second, do: hands.forFloor},
	}
}
