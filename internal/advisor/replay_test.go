package advisor_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/advisor"
	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

var day = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// timeout is that of the requests.
const timeout = 10 * time.Minute

// at is what one request wanted of class small: when, for how long, how many; and what it had.
func at(second int, held time.Duration, count, warm int, waited time.Duration) store.PastRequest {
	return store.PastRequest{
		At: day.Add(time.Duration(second) * time.Second), Held: held, Count: count, Warm: warm, Waited: waited,
		DemandKind: store.DemandKind{Class: "small", Usage: store.Spot, Type: "c6i.large", Types: "c6i.*"},
	}
}

func config(change func(*reconciler.Config)) reconciler.Config {
	cfg := reconciler.Defaults() // idle for 7 minutes
	cfg.Classes = map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}}
	if change != nil {
		change(&cfg)
	}
	return cfg
}

// A day that was reckoned by hand. A machine that was given back is in the pool 3 s later, and its limit begins then.
func TestReplay_OfADayByHand(t *testing.T) {
	const s, m = time.Second, time.Minute
	other := at(400, 60*s, 1, 0, 30*s)
	other.Types, other.Type = "m6i.*", "m6i.large"
	onDemand := at(400, 60*s, 1, 0, 30*s)
	onDemand.Usage = store.OnDemand
	failed := at(400, 0, 1, 0, 50*s)
	failed.Failed = true
	for _, tc := range []struct {
		name, reason string
		change       func(*reconciler.Config)
		wanted       []store.PastRequest
		want         string // machines warm requests, then booting, busy and idle seconds, and the wait of all
	}{
		{"ColdThenWarm", "the second finds it after 120-93 s, busy for 3+60 s", nil,
			[]store.PastRequest{at(0, 60*s, 1, 0, 30*s), at(120, 60*s, 1, 1, 3*s)}, "2 1 2, 30 123 453, 33s"},
		{"TooLate", "30+60+3+420 s are over when the second comes", nil,
			[]store.PastRequest{at(0, 60*s, 1, 0, 30*s), at(514, 60*s, 1, 1, 3*s)}, "2 0 2, 60 120 846, 1m0s"},
		{"AtTheLastMoment", "a second before", nil,
			[]store.PastRequest{at(0, 60*s, 1, 0, 30*s), at(512, 60*s, 1, 1, 3*s)}, "2 1 2, 30 123 845, 33s"},
		{"OnItsWayBack", "it comes a second after the release, waits 2 s and is claimed in the usual 3 s", nil,
			[]store.PastRequest{at(0, 60*s, 1, 0, 30*s), at(91, 60*s, 1, 0, 30*s)}, "2 1 2, 30 123 426, 35s"},
		{"OtherType", "what is idle does not match", nil,
			[]store.PastRequest{at(0, 60*s, 1, 0, 30*s), other}, "2 0 2, 60 120 846, 1m0s"},
		{"Capped", "the second waits for 30+60+3 s, and claims in 3 s", func(c *reconciler.Config) { c.MaxInstances = 1 },
			[]store.PastRequest{at(0, 60*s, 1, 0, 30*s), at(10, 60*s, 1, 0, 30*s)}, "2 1 2, 30 123 426, 1m56s"},
		{"Several", "one of the pool, one more", nil,
			[]store.PastRequest{at(0, 60*s, 1, 0, 30*s), at(120, 60*s, 2, 0, 30*s)}, "3 1 2, 60 210 876, 1m0s"},
		{"Failed", "it is no start, and takes no instance", nil,
			[]store.PastRequest{at(0, 60*s, 1, 0, 30*s), failed}, "1 0 1, 30 60 423, 30s"},
		{"ShorterLimit", "one minute is over when the second comes", func(c *reconciler.Config) {
			c.Classes["small"] = reconciler.Class{CPU: 2, Mem: 4096, Idle: m}
		}, []store.PastRequest{at(0, 60*s, 1, 0, 30*s), at(160, 60*s, 1, 1, 3*s)}, "2 0 2, 60 120 126, 1m0s"},
		{"Floor", "one boots at midnight, is kept for 970 s and taken; the next one is kept for the rest of the day, and the first goes after its limit", keep(reconciler.Floor{Schedule: schedule.Schedule{Base: 1}}),
			[]store.PastRequest{at(1000, 60*s, 1, 0, 30*s)}, "1 1 1, 60 63 86763, 3s"},
		{"FloorBySchedule", "the one that is kept is renewed for the last time at 08:28:23, for 5 minutes", keep(reconciler.Floor{Schedule: schedule.Schedule{Entries: []schedule.Entry{{From: 480, To: 510, Min: 1}}}}),
			[]store.PastRequest{at(29_000, 60*s, 1, 0, 30*s)}, "1 1 1, 60 63 2366, 3s"},
		{"FloorWithAMost", "of two that come back one ends at once", keep(reconciler.Floor{Max: 1}),
			[]store.PastRequest{at(0, 60*s, 2, 0, 30*s)}, "2 0 1, 60 120 426, 30s"},
		{"FloorInTheWay", "the other type's request ends the floor's one, which was idle for 370 s and which it cannot use", func(c *reconciler.Config) {
			keep(reconciler.Floor{Schedule: schedule.Schedule{Entries: []schedule.Entry{{From: 0, To: 7, Min: 1}}}})(c)
			c.MaxInstances = 1
		}, []store.PastRequest{other, at(70_000, 60*s, 1, 0, 30*s), at(80_000, 60*s, 1, 0, 30*s)}, "3 0 3, 120 180 1639, 1m30s"},
		{"FloorOfAnotherUsageInTheWay", "it ends the floor's one, which was idle for 370 s, and the floor boots another after its own limit of 423 s", func(c *reconciler.Config) {
			keep(reconciler.Floor{Schedule: schedule.Schedule{Base: 1}})(c)
			c.MaxInstances = 1
		}, []store.PastRequest{onDemand}, "1 0 1, 90 60 86250, 30s"},
		{"TooFewUntilItsTimeout", "the first has all that the cap allows for an hour, so the second fails and waits for 10 minutes", func(c *reconciler.Config) { c.MaxInstances = 1 },
			[]store.PastRequest{at(0, time.Hour, 1, 0, 30*s), at(10, 60*s, 1, 0, 30*s)}, "1 0 1, 30 3600 423, 10m30s"},
		{"WaitedForLonger", "the second waited for 3700 s, so its own timeout was longer; it gets the instance at 30+3600+3 s", func(c *reconciler.Config) { c.MaxInstances = 1 },
			[]store.PastRequest{at(0, time.Hour, 1, 0, 30*s), at(10, 60*s, 1, 0, 3700*s)}, "2 1 2, 30 3663 426, 1h0m56s"},
		{"WaitsWhenTheTimeEnds", "the second waits for the last 100 s", func(c *reconciler.Config) { c.MaxInstances = 1 },
			[]store.PastRequest{at(86_000, time.Hour, 1, 0, 30*s), at(86_300, 60*s, 1, 0, 30*s)}, "1 0 1, 30 370 0, 2m10s"},
		{"AClassThatIsGone", "nothing is known of it", func(c *reconciler.Config) { delete(c.Classes, "small") }, []store.PastRequest{at(0, 60*s, 1, 0, 30*s)}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			slices.Reverse(tc.wanted) // their order is by time
			f := advisor.Replay(config(tc.change), advisor.NewDemand(tc.wanted, timeout, day, day.Add(24*time.Hour)))["small"]
			if f == nil {
				if tc.want != "" {
					t.Fatalf("no figures: %s", tc.reason)
				}
				return
			}
			if text := fmt.Sprintf("%d %d %d, %v %v %v, %s", f.Machines, f.Warm, f.Requests,
				f.Booting.Seconds(), f.Busy.Seconds(), f.Idle.Seconds(), f.Waited()); text != tc.want {
				t.Errorf("got %s, want %s: %s", text, tc.want, tc.reason)
			}
		})
	}
}

// keep gives class small a floor.
func keep(f reconciler.Floor) func(*reconciler.Config) {
	return func(c *reconciler.Config) {
		f.MaxAge, f.UsageClasses = 48*time.Hour, []string{store.Spot}
		c.Classes["small"] = reconciler.Class{CPU: 2, Mem: 4096, Floor: f}
	}
}

// Two requests hold instances that the other one needs. The timeout of the older one ends this, and gives its instance back.
func TestReplay_TimeoutEndsADeadlock(t *testing.T) {
	const s = time.Second
	second := at(10, 60*s, 3, 0, 30*s)
	second.Class = "large"
	cfg := config(func(c *reconciler.Config) {
		c.MaxInstances, c.Classes["large"] = 4, c.Classes["small"]
	})
	d := advisor.NewDemand([]store.PastRequest{at(0, 60*s, 3, 0, 30*s), second, at(490, 60*s, 4, 0, 30*s)}, timeout, day, day.Add(time.Hour))
	got := advisor.Replay(cfg, d)
	if f := got["large"]; f.Failed != 1 || f.Requests != 0 || f.Waited() != timeout || f.Booting != timeout || f.Busy != 0 || f.Idle != 423*s {
		t.Errorf("large: %+v, want one that failed after %s, and its instance idle for 423 s", f, timeout)
	}
	if f := got["small"]; f.Failed != 0 || f.Requests != 2 || f.Warm != 3 || f.Waited() != 30*s+573*s {
		t.Errorf("small: %+v, want that the second waited until the instance of the other class ended at 1033 s, and for 30 s more", f)
	}
}

// A setting under which a request is never served is not the setting with the shortest wait.
func TestFrontier_CountsRequestsThatAreNotServed(t *testing.T) {
	wanted := []store.PastRequest{at(0, 25*time.Hour, 1, 0, 30*time.Second), at(1, time.Hour, 1, 0, 30*time.Second)}
	settings := []reconciler.Class{{CPU: 2, Mem: 4096, Cap: 1}, {CPU: 2, Mem: 4096}}
	rows := advisor.Frontier(config(nil), "small", advisor.NewDemand(wanted, timeout, day, day.Add(24*time.Hour)), settings)
	if len(rows) != 2 || rows[1].Setting != 1 {
		t.Errorf("%+v, want both settings: the second costs more and waits less", rows)
	}
}

// What came before the time that counts fills the pool and is in no figure.
func TestReplay_CountsItsTimeOnly(t *testing.T) {
	wanted := []store.PastRequest{at(0, time.Minute, 1, 0, 30*time.Second), at(120, time.Minute, 1, 1, 3*time.Second)}
	d := advisor.NewDemand(wanted, timeout, day.Add(100*time.Second), day.Add(150*time.Second))
	f := advisor.Replay(config(nil), d)["small"]
	if f.Machines != 1 || f.Warm != 1 || f.Booting != 0 || f.Idle != 20*time.Second || f.Busy != 30*time.Second {
		t.Errorf("got %+v, want one warm start, 20 s idle and 30 s busy", f)
	}
	if really := advisor.Really(d)["small"]; really.Machines != 1 || really.Warm != 1 || !f.Agrees(really) {
		t.Errorf("really %+v", really)
	}
}

// Nobody is on a frontier who is worse than another in both, and it begins with the cheapest.
func TestFrontier_IsOne(t *testing.T) {
	var wanted []store.PastRequest
	for i := range 200 {
		wanted = append(wanted, at(i*431, time.Duration(60+i%7*60)*time.Second, 1+i%3, 0, 30*time.Second))
	}
	settings := []reconciler.Class{{CPU: 2, Mem: 4096, Idle: 11 * time.Minute}}
	for _, idle := range advisor.Idles() {
		settings = append(settings, reconciler.Class{CPU: 2, Mem: 4096, Idle: idle})
	}
	rows := advisor.Frontier(config(nil), "small", advisor.NewDemand(wanted, timeout, day, day.Add(24*time.Hour)), settings)
	present := 0
	for i, r := range rows {
		if r.Setting == 0 {
			present++
		}
		for _, o := range rows[:i] {
			if r.Setting > 0 && (r.MachineTime() < o.MachineTime() || r.Waited() >= o.Waited() && o.Setting > 0) {
				t.Errorf("%d after %d: %s and %s of machines, %s and %s waited", r.Setting, o.Setting, r.MachineTime(), o.MachineTime(), r.Waited(), o.Waited())
			}
		}
	}
	if present != 1 || len(rows) < 4 {
		t.Errorf("%d rows, %d of them present", len(rows), present)
	}
}

// tried is how many settings an advice may try.
const tried = 16

// Five weeks of a busy installation are replayed in seconds: the oldest are left out.
func TestBound_LeavesOutTheOldest(t *testing.T) {
	d := advisor.NewDemand(manyRequests(35, 4000), timeout, day, day.AddDate(0, 0, 35))
	bounded := advisor.Bound(d, tried)
	starts := 0
	for _, w := range bounded.Requests {
		starts += w.Count
	}
	if most := advisor.MaxStarts / tried; starts > most || starts < most*9/10 || !bounded.From.After(d.From) {
		t.Errorf("%d starts since %s, want at most %d", starts, bounded.From, most)
	}
	if few := advisor.NewDemand(manyRequests(2, 100), timeout, day, day.AddDate(0, 0, 2)); len(advisor.Bound(few, 2*tried).Requests) != len(few.Requests) {
		t.Error("some of a quiet installation's are left out")
	}
}

// manyRequests returns as many requests for two machines on each of the days.
func manyRequests(days, requests int) []store.PastRequest {
	var out []store.PastRequest
	for i := range days * requests {
		out = append(out, at(i*86_400/requests, time.Duration(60+i*7919%1200)*time.Second, 1+i%3, i%2, time.Duration(3+27*(1-i%2))*time.Second))
	}
	return out
}

// BenchmarkReplay is the time of one start, of which an advice makes at most MaxStarts.
func BenchmarkReplay(b *testing.B) {
	wanted := manyRequests(7, 2000)
	d := advisor.NewDemand(wanted, timeout, day, day.AddDate(0, 0, 7))
	for b.Loop() {
		advisor.Replay(config(func(c *reconciler.Config) { c.MaxInstances = 100_000 }), d)
	}
	starts := 0
	for _, w := range wanted {
		starts += w.Count
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*starts), "ns/start")
}
