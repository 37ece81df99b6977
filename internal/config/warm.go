package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// Warm is the floor of a class: machines that are kept idle while nobody asks.
type Warm struct {
	Min      int           `yaml:"min,omitempty"`    // kept while no entry is in force
	Max      int           `yaml:"max,omitempty"`    // idle at most; 0: no bound
	MaxAge   time.Duration `yaml:"maxAge,omitempty"` // 0: defaultAge
	Usage    []string      `yaml:"usage,omitempty"`  // in order of preference; empty: spot, on-demand
	Schedule []WarmEntry   `yaml:"schedule,omitempty"`
}

// WarmEntry is a number of machines, and when it is in force.
type WarmEntry struct {
	Days     []string `yaml:"days,omitempty"` // empty: every day
	From     string   `yaml:"from"`
	To       string   `yaml:"to"`
	Timezone string   `yaml:"timezone,omitempty"` // of the IANA time zone database; empty: UTC
	Min      int      `yaml:"min"`
}

// A machine is replaced after a day: what it has loaded grows old, and so does what leaks. One that is younger than leastAge has
// hardly served: booting and cleaning may take five minutes of it.
const (
	defaultAge = 24 * time.Hour
	leastAge   = 30 * time.Minute
)

// floor is what the reconcilers need of it. An entry that Validate refuses is never in force.
func (w Warm) floor() reconciler.Floor {
	if w.Min == 0 && w.Max == 0 && len(w.Schedule) == 0 {
		return reconciler.Floor{}
	}
	out := reconciler.Floor{
		Max: w.Max, MaxAge: cmp.Or(w.MaxAge, defaultAge), UsageClasses: slices.Clone(w.Usage), Schedule: schedule.Schedule{Base: w.Min},
	}
	if len(out.UsageClasses) == 0 {
		out.UsageClasses = []string{store.Spot, store.OnDemand}
	}
	for _, e := range w.Schedule {
		if entry, ok := e.entry(&problems{}, ""); ok {
			out.Schedule.Entries = append(out.Schedule.Entries, entry)
		}
	}
	return out
}

// entry reads an entry, and reports what is wrong.
func (e WarmEntry) entry(p *problems, field string) (out schedule.Entry, ok bool) {
	before := len(*p)
	wrong := func(name string, err error) {
		if err != nil {
			*p = append(*p, fmt.Errorf("%s.%s: %w", field, name, err))
		}
	}
	for i, name := range e.Days {
		day, err := schedule.ParseDay(name)
		wrong(fmt.Sprintf("days[%d]", i), err)
		out.Days = append(out.Days, day)
	}
	var err error
	out.From, err = schedule.ParseClock(e.From)
	wrong("from", err)
	out.To, err = schedule.ParseClock(e.To)
	wrong("to", err)
	p.check(e.From != e.To, field+".to", "another time than from; a whole day is 00:00 to 24:00", e.To)
	p.check(e.From != "24:00", field+".from", "before 24:00", e.From)
	out.Location, err = time.LoadLocation(e.Timezone)
	p.check(err == nil && e.Timezone != "Local", field+".timezone", "a zone of the IANA time zone database such as Europe/Berlin", e.Timezone)
	out.Min = e.Min
	return out, len(*p) == before
}

// validateWarm checks the floor of a class.
func (c Config) validateWarm(p *problems, field string, class Class) {
	w := class.Warm
	most, setting := c.Caps.MaxInstances, "caps.maxInstances"
	if class.Cap > 0 && class.Cap < most {
		most, setting = class.Cap, field+".cap"
	}
	field += ".warm"
	bound := func(name string, n int) {
		p.check(n >= 0 && n <= most, field+"."+name, fmt.Sprintf("0 to %d, which %s allows to live at once", most, setting), n)
		p.check(w.Max == 0 || n <= w.Max, field+".max", "0, or at least every min, here "+strconv.Itoa(n), w.Max)
	}
	bound("min", w.Min)
	for i, e := range w.Schedule {
		at := fmt.Sprintf("schedule[%d]", i)
		bound(at+".min", e.Min)
		e.entry(p, field+"."+at)
	}
	p.check(w.Max >= 0, field+".max", "at least 0", w.Max)
	p.check(w.MaxAge == 0 || w.MaxAge >= leastAge, field+".maxAge", fmt.Sprintf("at least %s, such as 24h", leastAge), w.MaxAge)
	for i, usage := range w.Usage {
		at := fmt.Sprintf("%s.usage[%d]", field, i)
		p.oneOf(at, usage, store.Spot, store.OnDemand)
		p.check(slices.Index(w.Usage, usage) == i, at, "named once", usage)
	}
	wants := w.floor().Schedule.Most() > 0
	p.check(!wants || class.Scrub != string(scrub.Terminate), field, "without a min with scrub terminate, which keeps no machine", word("more"))
}
