package advisor_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/advisor"
	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// tick is one step of a replay in steps. All numbers of that replay are ticks.
const tick = 250 * time.Millisecond

func ticks(d time.Duration) int { return int(d / tick) }

// stepped is an instance of a replay in steps.
type stepped struct {
	class, usage, types, kind           string
	began, from, released, pooled, ends int // from: its last change
	owned, cold, floors                 bool
}

// open is a request that waits in a replay in steps.
type open struct {
	store.PastRequest
	at, warm, ready int
	has             []*stepped
}

// The sums of a replay in steps, for each class.
const (
	machines = iota
	warm
	requests
	waited
	booting
	busy
	idle
	failed
	figures
)

// stepping is a replay in steps.
type stepping struct {
	all               []store.PastRequest
	classes           map[string]reconciler.Class
	names             []string
	most, now, length int
	living            []*stepped
	waiting           []*open
	out               map[string]*[figures]int
	took              map[string][2][]int // how long the cold and the warm starts of a class took, in order
}

func (w *stepping) spend(class string, what, from, to int) {
	w.out[class][what] += max(0, min(to, w.length)-from)
}

// starts returns how long the warm or the cold starts of a class took, in order.
func (w *stepping) starts(class string, warm bool) (out []int) {
	for _, p := range w.all {
		if p.Class == class && (p.Warm == p.Count) == warm {
			out = append(out, ticks(p.Waited))
		}
	}
	slices.Sort(out)
	return out
}

func (w *stepping) end() {
	w.living = slices.DeleteFunc(w.living, func(s *stepped) bool {
		over := !s.owned && s.ends <= w.now
		if over {
			w.spend(s.class, idle, s.from, s.ends)
		}
		return over
	})
}

func (w *stepping) of(class string) (out []*stepped) {
	for _, s := range w.living {
		if s.class == class {
			out = append(out, s)
		}
	}
	return out
}

func (w *stepping) room(class string) int {
	room := w.most - len(w.living)
	if most := w.classes[class].Cap; most > 0 {
		room = min(room, most-len(w.of(class)))
	}
	return room
}

func (r *open) uses(s *stepped) bool {
	return s.class == r.Class && strings.Contains(r.Usage, s.usage) && (s.types == r.Types || strings.Contains(r.Types, s.kind))
}

// keeps reports whether a class has a minimum idle.
func (w *stepping) keeps(class string) bool {
	floor := w.classes[class].Floor
	return floor.Schedule.Most() > 0 || floor.Max > 0
}

// kept reports whether an instance counts as minimum idle of its class.
func (w *stepping) kept(s *stepped) bool {
	floor := w.classes[s.class].Floor
	life := ticks(floor.MaxAge - min(floor.MaxAge/10, 5*time.Minute))
	return !s.owned && (s.floors || s.released <= w.now) && slices.Contains(floor.UsageClasses, s.usage) && w.now < s.began+life
}

// clear ends an instance of minimum idle that is in the way of a request and that no waiting request can use.
func (w *stepping) clear(r *open) bool {
	var oldest *stepped
	for _, class := range w.names {
		most := w.classes[r.Class].Cap
		if class != r.Class && most > 0 && len(w.of(r.Class)) >= most {
			continue
		}
		for _, s := range w.of(class) {
			used := slices.ContainsFunc(w.waiting, func(o *open) bool { return len(o.has) < o.Count && o.uses(s) })
			if w.keeps(class) && w.kept(s) && s.pooled <= w.now && !used && (oldest == nil || s.began < oldest.began) {
				oldest = s
			}
		}
	}
	if oldest == nil {
		return false
	}
	oldest.ends = w.now
	w.end()
	return true
}

// serve assigns instances to a request until it lacks none or no more can be had.
func (w *stepping) serve(r *open) bool {
	took := func(warm int, same bool) int {
		starts := w.took[r.Class][warm]
		if same {
			return ticks(r.Waited)
		}
		return starts[r.At.Nanosecond()%len(starts)]
	}
	usages := strings.Split(r.Usage, ",")
	for len(r.has) < r.Count {
		var best *stepped
		for _, s := range w.living {
			preferred := func(o *stepped) int { return slices.Index(usages, o.usage) }
			if r.uses(s) && !s.owned && s.released <= w.now && (best == nil || preferred(s) < preferred(best) || preferred(s) == preferred(best) && s.ends < best.ends) {
				best = s
			}
		}
		switch {
		case best != nil:
			claimed := max(w.now, best.pooled)
			w.spend(r.Class, idle, best.from, claimed)
			r.ready = max(r.ready, claimed+took(1, claimed == r.at && r.Warm == r.Count))
			best.from, best.owned, best.cold, best.floors = claimed, true, false, false
			r.warm++
		case w.room(r.Class) > 0 || w.clear(r):
			best = &stepped{class: r.Class, usage: usages[0], types: r.Types, kind: r.Type, began: w.now, from: w.now, owned: true, cold: true}
			w.living = append(w.living, best)
			r.ready = max(r.ready, w.now+took(0, w.now == r.at && r.Warm < r.Count))
		default:
			return false
		}
		r.has = append(r.has, best)
	}
	w.release(r, r.ready, r.ready+ticks(r.Held))
	for i, n := range []int{r.Count, r.warm, 1, r.ready - r.at} {
		w.out[r.Class][i] += n
	}
	return true
}

func (w *stepping) release(r *open, ready, end int) {
	for _, s := range r.has {
		if s.cold {
			w.spend(r.Class, booting, s.from, ready)
			s.from = ready
		}
		w.spend(r.Class, busy, s.from, end)
		s.from, s.released, s.pooled, s.ends, s.owned = end, end, end+ticks(3*time.Second), end+ticks(3*time.Second+w.classes[r.Class].Idle), false
	}
}

// keep renews, ends and launches the minimum idle of a class. It reports whether it ended any.
func (w *stepping) keep(class string, common store.DemandKind) (ended bool) {
	of := w.classes[class]
	want := of.Floor.Schedule.Min(day.Add(time.Duration(w.now) * tick))
	step := min(ticks(5*time.Minute), ticks(of.Idle))
	have, due := 0, false
	for _, renews := range []bool{false, true} {
		have = 0
		for _, s := range slices.Backward(w.of(class)) {
			last := s.began + ticks(of.Floor.MaxAge)
			if !w.kept(s) {
				continue
			}
			if have++; have <= want {
				due = due || s.ends < last && w.now >= s.ends-step/2
				if due && renews {
					s.ends = max(s.ends, min(w.now+step, last))
				}
			} else if renews && of.Floor.Max > 0 && have > of.Floor.Max && s.pooled <= w.now {
				s.ends, ended = w.now, true
			}
		}
	}
	w.end()
	short := min(want-have, w.room(class))
	for _, r := range w.waiting {
		if short -= r.Count - len(r.has); r.Class == class {
			return ended
		}
	}
	starts := w.took[class][0]
	boots := w.now + starts[len(starts)/2]
	for range short {
		w.spend(class, booting, w.now, boots)
		w.living = append(w.living, &stepped{
			class: class, usage: of.Floor.UsageClasses[0], types: common.Types, kind: common.Type, floors: true,
			began: w.now, from: boots, released: boots, pooled: boots + ticks(3*time.Second), ends: boots + ticks(3*time.Second+of.Idle),
		})
	}
	return ended
}

// step serves the requests that wait, and keeps minimum idle. It reports whether that may have made room for others.
func (w *stepping) step(common map[string]store.DemandKind) (again bool) {
	blocked := map[store.DemandKind]bool{}
	var waiting []*open
	for _, r := range w.waiting {
		kind := store.DemandKind{Class: r.Class, Usage: r.Usage, Types: r.Types}
		if blocked[kind] || !w.serve(r) {
			blocked[kind] = true
			waiting = append(waiting, r)
		}
	}
	again = len(waiting) > 0 && len(waiting) < len(w.waiting)
	w.waiting = waiting
	for _, name := range w.names {
		if w.keeps(name) && w.keep(name, common[name]) {
			again = true
		}
	}
	return again
}

// steps replays requests in steps.
func steps(d advisor.Demand, classes map[string]reconciler.Class, most int) map[string]*[figures]int {
	w := stepping{all: d.Requests, classes: classes, names: slices.Sorted(maps.Keys(classes)), most: most, length: ticks(d.To.Sub(d.From)), out: map[string]*[figures]int{}, took: map[string][2][]int{}}
	common, sums := map[string]store.DemandKind{}, map[store.DemandKind]int{}
	for _, name := range w.names {
		w.out[name], w.took[name] = &[figures]int{}, [2][]int{w.starts(name, false), w.starts(name, true)}
	}
	for _, p := range d.Requests {
		if sums[p.DemandKind] += p.Count; sums[p.DemandKind] > sums[common[p.Class]] {
			common[p.Class] = p.DemandKind
		}
	}
	coming := d.Requests
	for ; w.now < w.length; w.now++ {
		w.end()
		for ; len(coming) > 0 && ticks(coming[0].At.Sub(d.From)) == w.now; coming = coming[1:] {
			w.waiting = append(w.waiting, &open{PastRequest: coming[0], at: w.now, ready: w.now})
		}
		w.waiting = slices.DeleteFunc(w.waiting, func(r *open) bool {
			late := w.now-r.at >= max(ticks(d.Timeout), ticks(r.Waited))
			if late {
				w.release(r, w.now, w.now)
				w.out[r.Class][waited] += w.now - r.at
				w.out[r.Class][failed]++
			}
			return late
		})
		for w.step(common) {
			continue
		}
	}
	for _, r := range w.waiting {
		w.out[r.Class][waited] += w.length - r.at
		w.out[r.Class][failed]++
		w.release(r, w.length, w.length)
	}
	for _, s := range w.living {
		w.spend(s.class, idle, s.from, w.length)
	}
	return w.out
}

// A replay and a simulation in steps have equal figures. Requests of two classes, and of several types and usage classes, wait below the
// caps. Some of them fail. Each class may have a minimum idle with a schedule, an upper bound and a greatest age.
func TestReplay_AgreesWithSteps(t *testing.T) {
	var seen [figures]int
	for seed := range uint64(30) {
		chance := rand.New(rand.NewPCG(seed, 1))
		upTo := func(least, most int) time.Duration {
			return time.Duration(least+chance.IntN(most-least+1)) * time.Second
		}
		var all []store.PastRequest
		for _, n := range chance.Perm(24_000)[:60] { // ticks, all different
			p := at(0, upTo(10, 400), 1+chance.IntN(3), 0, upTo(20, 40))
			p.At = day.Add(time.Duration(n) * tick)
			if chance.IntN(2) == 0 {
				p.Warm, p.Waited = p.Count, upTo(1, 4)
			}
			p.Class = []string{"small", "large"}[chance.IntN(2)]
			p.Type = []string{"c6i", "m6i"}[chance.IntN(2)]
			p.Types = p.Type
			if chance.IntN(4) == 0 {
				p.Types = "c6i,m6i"
			}
			if chance.IntN(4) == 0 {
				p.Usage = []string{store.OnDemand, store.OnDemand + "," + store.Spot}[chance.IntN(2)]
			}
			all = append(all, p)
		}
		most, classes := 6+chance.IntN(12), map[string]reconciler.Class{}
		for _, name := range []string{"small", "large"} {
			c := reconciler.Class{CPU: 2, Mem: 4096, Idle: 3 * upTo(10, 300)}
			if chance.IntN(3) == 0 {
				c.Cap = 3 + chance.IntN(most)
			}
			if chance.IntN(2) == 0 {
				c.Floor = reconciler.Floor{MaxAge: 10 * upTo(60, 500), UsageClasses: [][]string{{store.Spot}, {store.OnDemand}, {store.Spot, store.OnDemand}}[chance.IntN(3)]}
				c.Floor.Schedule.Base = chance.IntN(4)
				if chance.IntN(2) == 0 {
					from := schedule.Clock(chance.IntN(100))
					c.Floor.Schedule.Entries = []schedule.Entry{{From: from, To: from + 1 + schedule.Clock(chance.IntN(60)), Min: chance.IntN(5)}}
				}
				if chance.IntN(2) == 0 {
					c.Floor.Max = 4 + chance.IntN(3)
				}
			}
			classes[name] = c
		}
		cfg := config(func(c *reconciler.Config) { c.MaxInstances, c.Classes = most, classes })
		d := advisor.NewDemand(all, 10*time.Minute, day, day.Add(9000*time.Second))
		got, want := advisor.Replay(cfg, d), steps(d, classes, most)
		for name, class := range classes {
			f := got[name]
			is := [figures]int{f.Machines, f.Warm, f.Requests, ticks(f.Waited()), ticks(f.Booting), ticks(f.Busy), ticks(f.Idle), f.Failed}
			if is != *want[name] {
				t.Errorf("seed %d, %s of at most %d: %v, want %v: %s", seed, name, most, is, *want[name], fmt.Sprintf("%+v", class))
			}
			for i := range seen {
				seen[i] += is[i]
			}
		}
	}
	if slices.Min(seen[:]) == 0 {
		t.Errorf("sums of all: %v, want none to be 0", seen)
	}
}
