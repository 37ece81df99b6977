package advisor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/advisor"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// stepped is an instance of a replay in steps of one second. Its numbers are seconds of the day.
type stepped struct {
	class, types, kind         string
	from, released, pooled, at int // its last change; when it is released and clean; when it ends
	owned, cold                bool
}

// steps replays requests in steps of one second, and returns for each class machines, warm machines, requests, and seconds waited,
// booting, busy and idle.
func steps(all []store.PastRequest, idle map[string]int, most, length int) map[string][7]int {
	type open struct {
		store.PastRequest
		at, warm int
		ready    int
		has      []*stepped
	}
	out := map[string][7]int{}
	add := func(class string, what, n int) {
		f := out[class]
		f[what] += n
		out[class] = f
	}
	spend := func(class string, what, from, to int) { add(class, what, max(0, min(to, length)-from)) }
	took := func(class string, warm bool) int {
		least := 0
		for _, p := range all {
			if s := int(p.Waited.Seconds()); p.Class == class && (p.Warm == p.Count) == warm && (least == 0 || s < least) {
				least = s
			}
		}
		return least
	}
	var living []*stepped
	var waiting []*open
	for now := range length {
		living = slices.DeleteFunc(living, func(s *stepped) bool {
			over := !s.owned && s.at <= now
			if over {
				spend(s.class, 6, s.from, s.at)
			}
			return over
		})
		for _, p := range all {
			if int(p.At.Sub(day).Seconds()) == now {
				waiting = append(waiting, &open{PastRequest: p, at: now, ready: now})
			}
		}
		blocked := map[string]bool{}
		waiting = slices.DeleteFunc(waiting, func(r *open) bool {
			for len(r.has) < r.Count && !blocked[r.Class+r.Types] {
				var best *stepped
				for _, s := range living {
					if s.class == r.Class && (s.types == r.Types || strings.Contains(r.Types, s.kind)) && !s.owned && s.released <= now && (best == nil || s.at < best.at) {
						best = s
					}
				}
				switch {
				case best != nil:
					claimed := max(now, best.pooled)
					spend(r.Class, 6, best.from, claimed)
					wait := took(r.Class, true)
					if claimed == r.at && r.Warm == r.Count {
						wait = int(r.Waited.Seconds())
					}
					best.from, best.owned, best.cold = claimed, true, false
					r.warm, r.ready = r.warm+1, max(r.ready, claimed+wait)
				case len(living) < most:
					wait := took(r.Class, false)
					if now == r.at && r.Warm < r.Count {
						wait = int(r.Waited.Seconds())
					}
					best = &stepped{class: r.Class, types: r.Types, kind: r.Type, from: now, owned: true, cold: true}
					living = append(living, best)
					r.ready = max(r.ready, now+wait)
				default:
					blocked[r.Class+r.Types] = true
					continue
				}
				r.has = append(r.has, best)
			}
			if len(r.has) < r.Count {
				return false
			}
			end := r.ready + int(r.Held.Seconds())
			for _, s := range r.has {
				if s.cold {
					spend(r.Class, 4, s.from, r.ready)
					s.from = r.ready
				}
				spend(r.Class, 5, s.from, end)
				s.from, s.released, s.pooled, s.at, s.owned = end, end, end+3, end+3+idle[r.Class], false
			}
			for i, n := range []int{r.Count, r.warm, 1, r.ready - r.at} {
				add(r.Class, i, n)
			}
			return true
		})
	}
	for _, r := range waiting { // forever
		for _, s := range r.has {
			what := 5
			if s.cold {
				what = 4
			}
			spend(r.Class, what, s.from, length)
		}
	}
	for _, s := range living {
		if !s.owned {
			spend(s.class, 6, s.from, length)
		}
	}
	return out
}

// A replay and a simulation in steps of one second have equal figures. Requests of two classes and several types wait below a cap.
func TestReplay_AgreesWithStepsOfOneSecond(t *testing.T) {
	for seed := range uint64(30) {
		chance := rand.New(rand.NewPCG(seed, 1))
		var all []store.PastRequest
		for range 60 {
			p := at(chance.IntN(6000), time.Duration(10+chance.IntN(400))*time.Second, 1+chance.IntN(3), 0, time.Duration(20+chance.IntN(20))*time.Second)
			if chance.IntN(2) == 0 {
				p.Warm, p.Waited = p.Count, time.Duration(1+chance.IntN(4))*time.Second
			}
			p.Class = []string{"small", "large"}[chance.IntN(2)]
			p.Type = []string{"c6i", "m6i"}[chance.IntN(2)]
			p.Types = p.Type
			if chance.IntN(4) == 0 {
				p.Types = "c6i,m6i"
			}
			all = append(all, p)
		}
		idle := map[string]int{"small": 30 + chance.IntN(900), "large": 30 + chance.IntN(900)}
		most := 6 + chance.IntN(12)
		cfg := config(func(c *reconciler.Config) {
			c.MaxInstances = most
			c.Classes = map[string]reconciler.Class{}
			for class, seconds := range idle {
				c.Classes[class] = reconciler.Class{CPU: 2, Mem: 4096, Idle: time.Duration(seconds) * time.Second}
			}
		})
		d := advisor.NewDemand(all, day, day.Add(9000*time.Second))
		got, want := advisor.Replay(cfg, d), steps(d.Requests, idle, most, 9000)
		for class := range idle {
			f := got[class]
			is := [7]int{f.Machines, f.Warm, f.Requests, int(f.Waited().Seconds()), int(f.Booting.Seconds()), int(f.Busy.Seconds()), int(f.Idle.Seconds())}
			if is != want[class] {
				t.Errorf("seed %d, %s of at most %d: %v, want %v", seed, class, most, is, fmt.Sprint(want[class]))
			}
		}
	}
}
