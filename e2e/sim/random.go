package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/remuda-run/remuda/store"
)

// SlowPace is the pace of most random stories: see Script.paced.
const SlowPace = 100

// Random returns the story of a seed: an installation with some days' life in an hour at pace 1, or in four days
// at SlowPace, in which whatever may go wrong goes wrong at times.
func Random(seed uint64) Script {
	d := dice{seed: seed}
	o := Script{
		Seed: seed, Controllers: d.controllers(), Pace: SlowPace, Mode: string(store.JIT),
		Boot: d.of("boot").between(5*time.Second, time.Minute), Largest: 20 + d.of("largest").below(100),
	}
	if seed%2 == 0 {
		o.Pace = 1
	}
	o.StoreTime = d.chance("store time", 0.5)
	if d.chance("drift", 0.3) {
		o.Drift = 0.0002 // what a computer without NTP may have (man 8 adjtimex: 500 ppm at most)
	}
	o.LateExpiry = d.chance("late expiry", 0.3)
	if d.chance("small items", 0.1) {
		o.ItemLimit = 4000
	}
	o.NoRetry = d.chance("no retry", 0.15)
	o.Later = d.chance("later version", 0.3)
	if d.chance("token", 0.2) {
		o.Mode = string(store.Token)
	}
	if d.chance("never boots", 0.3) {
		o.NeverBoots = 0.1
	}
	if d.chance("lapse", 0.3) {
		o.JITLapse = o.paced(d.of("lapse").between(3*time.Minute, 15*time.Minute))
	}
	if o.Mode == string(store.JIT) && d.chance("ahead", 0.3) {
		o.Ahead = 1 + d.of("ahead").below(20)
		o.JITLapse = o.paced(d.of("ahead lapse").between(2*time.Minute, 6*time.Minute)) // actions/runner#4726: minutes
	}
	if o.Pace == 1 && d.chance("floor", 0.3) { // floors have no pace: in four days they would be most of what happens
		o.Floors = d.floors()
	}
	if o.Pace == 1 && d.chance("money", 0.3) {
		o.Money, o.After = d.money()
	}
	o.RerunLost = d.chance("rerun lost", 0.5)
	o.Skew = []time.Duration{0, time.Second, 10 * time.Second, time.Minute}[d.of("skew").below(4)]
	o.Idle = o.paced(d.of("idle").between(time.Minute, 10*time.Minute)).Round(time.Second)
	d.unit, d.end = o.Pace, o.paced(time.Hour)
	o.Rates = d.rates()
	o.Steps = inOrder(append(d.workload(), d.faultSchedule()...))
	o.CalmAt = d.end
	for _, s := range o.Steps {
		o.CalmAt = max(o.CalmAt, s.At+lasting(s.Act)+time.Second)
	}
	return o
}

// floors draws what is kept idle in an hour, and in which minutes of it.
func (d dice) floors() Floors {
	f := Floors{Small: d.of("floor").below(4), Large: d.of("floor large").below(2)}
	if d.chance("floor max", 0.3) {
		f.Most = 3 + d.of("floor max").below(3)
	}
	if d.chance("floor idle", 0.3) {
		f.Idle = d.of("floor idle").between(20*time.Minute, 45*time.Minute).Round(time.Second)
	}
	if d.chance("floor age", 0.4) {
		f.Age = d.of("floor age").between(30*time.Minute, time.Hour).Round(time.Second) // 30 min: what the configuration allows
	}
	for i := range d.of("floor entries").below(3) {
		from := d.of("floor from", i).below(45)
		to := from + 5 + d.of("floor to", i).below(15)
		f.Entries = append(f.Entries, fmt.Sprintf("%d@00:%02d-%02d:%02d", d.of("floor min", i).below(4), from, to/60, to%60))
	}
	return f
}

// money draws prices, a budget, and a beginning from which midnight, or the end of a month, is within the hour.
func (d dice) money() (Money, time.Duration) {
	m := Money{Price: 0.1, Budget: 0.5 + 8*d.of("budget").float()}
	if d.chance("late prices", 0.5) {
		m.Late = d.of("late prices").between(time.Minute, 20*time.Minute).Round(time.Second)
	}
	for i, step := range []string{"floors", "on-demand", "caps-" + strconv.Itoa(5+d.of("cap").below(20))} {
		if d.chance("step", 0.5, i) {
			m.Steps = append(m.Steps, fmt.Sprintf("%s@%.2f", step, 0.1+0.9*d.of("step", i).float()))
		}
	}
	days := []int{1, 31, 59}[d.of("days").below(3)] // 31 January and 28 February are the ends of months
	return m, time.Duration(days)*24*time.Hour - d.of("midnight").between(time.Minute, 50*time.Minute).Round(time.Second)
}

// inOrder puts steps in the order of their times.
func inOrder(steps []Step) []Step {
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return steps
}

// dice draws what is in a story. Everything has a name, so that nothing depends on what was drawn before.
type dice struct {
	seed uint64
	unit float64       // of all durations of the workload
	end  time.Duration // nothing begins after it
}

func (d dice) of(what string, n ...int) key {
	parts := []string{"random", what}
	for _, i := range n {
		parts = append(parts, strconv.Itoa(i))
	}
	return newKey(d.seed, parts...)
}

func (d dice) controllers() int { return []int{1, 2, 2, 3, 5}[d.of("controllers").below(5)] }

func (d dice) chance(what string, p float64, n ...int) bool {
	return d.of(what+"?", n...).float() < p
}

// span draws a duration, in units, of whole seconds: records have times to the millisecond.
func (d dice) span(from, to time.Duration, what string, n ...int) time.Duration {
	return time.Duration(d.unit * float64(d.of(what, n...).between(from, to))).Round(time.Second)
}

// rates draws how often calls meet a fault: half of all worlds see none, so that what must happen soon is judged there, one in six
// many.
func (d dice) rates() Rates {
	level := []float64{0, 0, 0, 1, 1, 5}[d.of("rates").below(6)]
	if level == 0 {
		return nil
	}
	out := Rates{}
	for kind, p := range map[Kind]float64{
		CrashBefore: 0.0001, CrashAfter: 0.0001, LostReply: 0.003, Late: 0.002, Twice: 0.003, Throttled: 0.004, Stale: 0.02,
		Older: 0.02, Torn: 0.05, Forgets: 0.02, Hangs: 0.002, Fails: 0.001,
	} {
		if !d.chance("rate "+string(kind), 0.3) {
			out[kind] = level * p
		}
	}
	return out
}

// workload draws the runs: some in bursts, some alone, with nights between. At pace 1 there are twice as many, so that a story has
// more machines for what its leaders cost.
func (d dice) workload() []Step {
	var out []Step
	bursts := 1 + d.of("bursts").below(5)
	runs := 6 + d.of("runs").below(30)
	if d.unit == 1 {
		runs *= 2
	}
	for i := range runs {
		at := time.Duration(d.of("at", i).float() * 0.9 * float64(d.end))
		if d.chance("burst", 0.7, i) {
			burst := d.of("burst", i).below(bursts)
			at = time.Duration(d.of("burst at", burst).float()*0.9*float64(d.end)) + d.of("at in burst", i).between(0, 5*time.Second)
		}
		f := d.run(i)
		out = append(out, Begin(at, f))
		if !f.GitHub && d.chance("again", 0.1, i) {
			f.Attempt, f.Early, f.CancelAfter, f.VanishAfter = 2, 0, 0, 0
			if d.chance("otherwise", 0.3, i) {
				f.Count, f.Jobs = f.Count+1, f.Jobs+1
			}
			out = append(out, Begin(at+d.span(5*time.Second, 15*time.Minute, "again at", i), f))
		}
	}
	return out
}

// run draws one run.
func (d dice) run(i int) Workflow {
	f := Workflow{ID: strconv.Itoa(1000 + i), Count: 1}
	switch x := d.of("count", i); {
	case x.float() < 0.15:
		f.Count = 5 + x.next().below(8)
	case x.float() < 0.5:
		f.Count = 2 + x.next().below(3)
	}
	if d.chance("large", 0.2, i) {
		f.Class = "large"
	}
	f.Usage = [][]string{{store.Spot}, {store.Spot}, {store.Spot, store.OnDemand}, {store.OnDemand}}[d.of("usage", i).below(4)]
	if d.chance("picky", 0.25, i) {
		f.Types = [][]string{{"c6i.*"}, {"m*"}, {"m5.large", "m6i.*"}, {"r6i.large", "c6i.xlarge"}, {"z9.*"}}[d.of("types", i).below(5)]
	}
	f.Jobs = d.of("jobs", i).below(2*f.Count + 1)
	f.Job = d.span(5*time.Second, 10*time.Minute, "job", i)
	if d.chance("long", 0.15, i) {
		f.Job = d.span(20*time.Minute, 70*time.Minute, "job", i)
	}
	if d.chance("early", 0.2, i) {
		f.Early = 1 + d.of("early", i).below(f.Count)
	}
	f.Hold = d.span(0, 2*time.Minute, "hold", i)
	rounds := (f.Early + f.Jobs + f.Count - 1) / f.Count
	f.Max = time.Duration(rounds+1)*f.Job + f.Hold + time.Duration(d.unit*float64(10*time.Minute))
	if d.chance("impatient", 0.15, i) {
		f.Timeout = d.span(30*time.Second, 4*time.Minute, "timeout", i)
	}
	switch x := d.of("end", i).float(); {
	case x < 0.08:
		f.CancelAfter = d.span(time.Second, 12*time.Minute, "cancel", i)
	case x < 0.14:
		f.VanishAfter = d.span(time.Second, 12*time.Minute, "vanish", i)
	case x < 0.20:
		f.Forgets = true
	case x < 0.26:
		f.ReleaseAfter = d.span(10*time.Second, 12*time.Minute, "release", i)
	}
	f.Garbled = d.chance("garbled", 0.05, i)
	if d.chance("github", 0.4, i) {
		d.atGitHub(&f, i)
	}
	return f
}

// atGitHub draws what becomes of a run at GitHub.
func (d dice) atGitHub(f *Workflow, i int) {
	f.Early, f.Jobs, f.Hold, f.VanishAfter, f.ReleaseAfter, f.Forgets = min(f.Early, 1), max(f.Jobs, 1), 0, 0, 0, false
	g := AtGitHub{
		GitHub: true, Outside: d.chance("outside", 0.15, i), NoWait: d.chance("no wait", 0.25, i), ReleaseJob: d.chance("release job", 0.3, i),
		Foreign: d.chance("foreign", 0.05, i), Repository: []string{"", "octo/two", "other/three"}[d.of("repository", i).below(3)],
	}
	if d.chance("fails", 0.5, i) {
		g.Fails = 1 + d.of("fails", i).below(f.Jobs)
	}
	if d.chance("later", 0.4, i) {
		g.Later = 1 + d.of("later", i).below(2*f.Count)
	}
	if g.Later > 0 && d.chance("approval", 0.3, i) {
		g.Approval = d.span(time.Minute, 15*time.Minute, "approval", i)
	}
	if d.chance("deploy", 0.2, i) {
		g.Deploy = d.span(time.Minute, 10*time.Minute, "deploy", i)
	}
	if d.chance("also", 0.15, i) {
		g.Also = 1 + d.of("also", i).below(3)
	}
	if d.chance("rerun", 0.6, i) {
		g.Rerun, g.Reruns = []string{rerunAll, rerunFailed, rerunFailed}[d.of("rerun", i).below(3)], 1+d.of("reruns", i).below(3)
		g.RerunAfter = d.span(0, 10*time.Minute, "rerun after", i)
		g.Jumps = d.chance("jumps", 0.2, i)
	}
	f.AtGitHub = g
}

// faultSchedule draws what the world does.
func (d dice) faultSchedule() []Step {
	var out []Step
	for _, w := range faultKinds {
		// the name draws what happens; it stays
		if d.chance("weather "+w.name, 0.4) {
			continue // each world is spared something
		}
		for i := range d.of("weather times " + w.name).below(w.most + 1) {
			e := event{d, w.name, i}
			out = append(out, step(time.Duration(e.key("at").float()*float64(d.end)), w.act(e)))
		}
	}
	return out
}
