package reconciler

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// window is the default one: three periods of 5 s (S36).
var (
	limits = statemachine.DefaultLimits()
	window = limits.Window()
)

func beatAt(at time.Time) store.Vitals {
	return store.Vitals{Heartbeat: store.Heartbeat{Value: store.Ping, UpdatedAt: store.At(at), Beat: store.Beat{Assignment: 1}}}
}

// S35 S36 S63: a heartbeat is fresh up to the window and stale one nanosecond later; so is one from the
// future. The window is three periods: two missed reports fail nobody.
func TestVitals_Window_S35_S36(t *testing.T) {
	if want := 15 * time.Second; window != want || window != 3*statemachine.DefaultLimits().Beat {
		t.Fatalf("the default window is %s, want %s, three periods", window, want)
	}
	for _, tc := range []struct {
		name string
		age  time.Duration
		want bool
	}{
		{"New", 0, true}, {"TwoMissed", 10*time.Second + 1, true}, {"Window", window, true}, {"WindowAndOne", window + 1, false},
		{"FutureWindow", -window, true}, {"FutureWindowAndOne", -window - 1, false}, {"HalfAnHour", 30 * time.Minute, false},
	} {
		for _, periods := range []time.Duration{1, 3} { // that of an idle machine comes three times as rarely
			var v vitals
			beat := beatAt(dawn)
			beat.Heartbeat.Beat.Idle = periods == 3
			age := tc.age/window*window*periods + tc.age%window
			v.observe(beat, dawn.Add(age), limits, &store.Instance{Assignment: 1})
			if v.fresh != tc.want {
				t.Errorf("%s: fresh at age %s = %v, want %v", tc.name, age, v.fresh, tc.want)
			}
		}
	}
	var v vitals
	if v.observe(store.Vitals{}, dawn, limits, &store.Instance{Assignment: 1}); v.fresh || !v.staleAt.IsZero() || !v.changed.IsZero() {
		t.Errorf("one that never beat is fresh %v, stale since %v, changed at %v", v.fresh, v.staleAt, v.changed)
	}
}

// Missing, fresh, 30 minutes old, and healthy again with a new beat.
func TestVitals_Recovers(t *testing.T) {
	var v vitals
	at := func(d time.Duration) time.Time { return dawn.Add(d) }
	v.observe(beatAt(dawn), at(0), limits, &store.Instance{Assignment: 1})
	if changed := v.observe(beatAt(dawn), at(30*time.Minute), limits, &store.Instance{Assignment: 1}); !changed || v.fresh || !v.staleAt.Equal(at(30*time.Minute)) {
		t.Errorf("after 30 minutes: changed %v, fresh %v, stale since %v", changed, v.fresh, v.staleAt)
	}
	if changed := v.observe(beatAt(dawn), at(31*time.Minute), limits, &store.Instance{Assignment: 1}); changed || !v.staleAt.Equal(at(30*time.Minute)) {
		t.Errorf("after 31 minutes: changed %v, stale since %v, want since 30", changed, v.staleAt)
	}
	if changed := v.observe(beatAt(at(32*time.Minute)), at(32*time.Minute), limits, &store.Instance{Assignment: 1}); !changed || !v.fresh || !v.staleAt.IsZero() {
		t.Errorf("with a new beat: changed %v, fresh %v, stale since %v", changed, v.fresh, v.staleAt)
	}
}

// Silence is judged by observed change: the first reading of a beat starts the time, however old the
// beat says it is, and reads that bring nothing new are counted.
func TestVitals_ObservedChange(t *testing.T) {
	var v vitals
	at := func(s int) time.Time { return dawn.Add(time.Duration(s) * time.Second) }
	for _, step := range []struct {
		at, beat      int
		changed, news int // when it last changed, reads since
	}{{100, 0, 100, 0}, {110, 0, 100, 1}, {120, 0, 100, 2}, {130, 7, 130, 0}, {140, 7, 130, 1}} {
		v.observe(beatAt(at(step.beat)), at(step.at), limits, &store.Instance{Assignment: 1})
		if !v.changed.Equal(at(step.changed)) || v.reads != step.news || !v.readAt.Equal(at(step.at)) {
			t.Errorf("read at %d: changed %v, %d reads since, want %v, %d", step.at, v.changed, v.reads, at(step.changed), step.news)
		}
	}
	before := v
	if changed := v.observe(beatAt(at(999)), at(139), limits, &store.Instance{Assignment: 1}); changed || v != before {
		t.Errorf("a reading older than what is known changed it: %+v", v)
	}
}

// H52: an agent whose clock is a minute off is fresh once two readings show its beat moving, and stays
// so until it may be silent for longer than the window.
func TestVitals_SkewedClock_H52(t *testing.T) {
	for _, skew := range []time.Duration{time.Minute, -time.Minute} {
		var v vitals
		at := func(s int) time.Time { return dawn.Add(time.Duration(s) * time.Second) }
		written := func(s int) store.Vitals { return beatAt(at(s).Add(skew)) }
		v.observe(written(0), at(1), limits, &store.Instance{Assignment: 1})
		if v.fresh {
			t.Errorf("skew %s: fresh on the first reading", skew)
		}
		for s := 3; s <= 61; s += 2 { // as hot ones are read
			v.observe(written(s/5*5), at(s), limits, &store.Instance{Assignment: 1})
			if s >= 5 && (!v.fresh || !v.staleAt.IsZero()) {
				t.Errorf("skew %s: stale at %d s while it beats", skew, s)
			}
		}
		v.observe(written(60), at(75), limits, &store.Instance{Assignment: 1})
		if v.observe(written(60), at(60).Add(window+1), limits, &store.Instance{Assignment: 1}); v.fresh {
			t.Errorf("skew %s: fresh past the window after its last beat", skew)
		}
	}
}

// H52: whatever the clock of an agent shows, and whenever it is read, a beat that is really older than
// the window and that its clock's time does not make young is stale, unless two reads around it show
// it as new.
func TestVitals_SkewNeverProlongs_H52(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var v vitals
		skew := time.Duration(rapid.SampledFrom([]int{-600, -60, -31, 31, 60, 600}).Draw(rt, "skew")) * time.Second
		now, beat, last := dawn, dawn, dawn
		for range rapid.IntRange(1, 40).Draw(rt, "reads") {
			gap := time.Duration(rapid.IntRange(1, 40).Draw(rt, "gap")) * time.Second
			now = now.Add(gap)
			isNew := rapid.Bool().Draw(rt, "beats")
			if isNew {
				beat = now.Add(-time.Duration(rapid.IntRange(0, int(gap/time.Second)-1).Draw(rt, "ago")) * time.Second)
			}
			v.observe(beatAt(beat.Add(skew)), now, limits, &store.Instance{Assignment: 1})
			if age := now.Sub(beat); v.fresh && age > window && !isNew && !healthy(v.beat, now, window) {
				rt.Fatalf("fresh at an age of %s, clock %s off", age, skew)
			}
			if isNew && !last.Equal(dawn) && now.Sub(last) <= 2*window && !v.fresh {
				rt.Fatalf("stale though it beat within the last %s", now.Sub(last))
			}
			last = now
		}
	})
}

// H52: a clock that is set is noticed with the next beat, in either direction.
func TestVitals_ClockIsSet_H52(t *testing.T) {
	for _, set := range []time.Duration{10 * time.Minute, -10 * time.Minute} {
		var v vitals
		for s := 0; s <= 30; s += 2 {
			v.observe(beatAt(dawn.Add(time.Minute+time.Duration(s/5*5)*time.Second)), dawn.Add(time.Duration(s)*time.Second), limits, &store.Instance{Assignment: 1})
		}
		beat := dawn.Add(time.Minute + 35*time.Second + set)
		for age, want := range map[time.Duration]bool{0: true, window - 5*time.Second: true, window + 1: false} {
			w := v // what was known at 30 s
			w.observe(beatAt(beat), dawn.Add(35*time.Second), statemachine.Limits{}, &store.Instance{Assignment: 1})
			if w.observe(beatAt(beat), dawn.Add(35*time.Second+age), limits, &store.Instance{Assignment: 1}); w.fresh != want {
				t.Errorf("set by %s: fresh at an age of %s = %v, want %v", set, age, w.fresh, want)
			}
		}
	}
}

// The end of another run's job is when it was last seen running: gates count from there.
func TestVitals_OtherJobAt(t *testing.T) {
	var v vitals
	busy := beatAt(dawn)
	busy.Heartbeat.Beat.Busy = true
	for s := range 3 {
		v.observe(busy, dawn.Add(time.Duration(s)*time.Second), limits, &store.Instance{Assignment: 2})
	}
	last := dawn.Add(2 * time.Second)
	v.observe(beatAt(dawn), dawn.Add(3*time.Second), limits, &store.Instance{Assignment: 2})
	own := beatAt(dawn)
	own.Heartbeat.Beat.Busy, own.Heartbeat.Beat.Assignment = true, 2
	v.observe(own, dawn.Add(4*time.Second), limits, &store.Instance{Assignment: 2}) // a job of the present run
	if !v.otherJobAt.Equal(last) {
		t.Errorf("job of another since %v, want %v, when the earlier run's job was last seen", v.otherJobAt, last)
	}
}

// What is worth a look: another signal, freshness, or anything else the beat says. A beat that only
// goes on is not.
func TestVitals_WorthALook(t *testing.T) {
	base := beatAt(dawn)
	for name, tc := range map[string]struct {
		change func(*store.Vitals)
		want   bool
	}{
		"Same":        {func(*store.Vitals) {}, false},
		"BeatsOn":     {func(v *store.Vitals) { v.Heartbeat.UpdatedAt = store.At(dawn.Add(5 * time.Second)) }, false},
		"Signal":      {func(v *store.Vitals) { v.Signal.Value.Signal = store.RegOK }, true},
		"SignalAgain": {func(v *store.Vitals) { v.Signal.UpdatedAt = store.At(dawn) }, false},
		"Busy":        {func(v *store.Vitals) { v.Heartbeat.Beat.Busy = true }, true},
		"Interrupted": {func(v *store.Vitals) { v.Heartbeat.Beat.Interrupted = true }, true},
		"Runner":      {func(v *store.Vitals) { v.Heartbeat.Beat.Runner = "listening" }, true},
	} {
		var v vitals
		if !v.observe(base, dawn, limits, &store.Instance{Assignment: 1}) {
			t.Errorf("%s: the first beat is not worth a look", name)
		}
		got := base
		tc.change(&got)
		if changed := v.observe(got, dawn.Add(5*time.Second), limits, &store.Instance{Assignment: 1}); changed != tc.want {
			t.Errorf("%s: worth a look = %v, want %v", name, changed, tc.want)
		}
	}
}
