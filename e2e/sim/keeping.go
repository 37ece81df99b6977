package sim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // entries name zones

	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// Floors are those of a script: idle machines kept while nobody asks.
type Floors struct {
	Small   int           `script:"floor"`       // of class small, while no entry is in force
	Large   int           `script:"floor-large"` // of class large
	Most    int           `script:"floor-max"`   // idle at most, of each class; 0: no bound
	Age     time.Duration `script:"floor-age"`   // none older is kept; 24 h
	Idle    time.Duration `script:"floor-idle"`  // limit of the state idle of both classes; 0: as without
	Entries []string      `script:"floor-at"`    // when it is another number of class small: see parseEntry
}

// configured reports whether there is any.
func (f Floors) configured() bool {
	return f.Small > 0 || f.Large > 0 || f.Most > 0 || len(f.Entries) > 0
}

func (f Floors) check() error {
	for _, text := range f.Entries {
		if _, err := parseEntry(text); err != nil {
			return fmt.Errorf("with: floor-at: %w", err)
		}
	}
	return nil
}

// parseEntry reads an entry of a schedule, for every day: <min>@<from>-<to>, and @<zone> unless that is UTC.
func parseEntry(text string) (schedule.Entry, error) {
	number, rest, _ := strings.Cut(text, "@")
	times, zone, _ := strings.Cut(rest, "@")
	begin, end, _ := strings.Cut(times, "-")
	n, err := strconv.Atoi(number)
	from, errFrom := schedule.ParseClock(begin)
	to, errTo := schedule.ParseClock(end)
	place, errPlace := time.LoadLocation(zone)
	if errors.Join(err, errFrom, errTo, errPlace) != nil || n < 0 {
		return schedule.Entry{}, fmt.Errorf("got %q, must be <machines>@<from>-<to> or that with @<zone>, such as 2@08:00-18:00@Europe/Berlin", text)
	}
	return schedule.Entry{From: from, To: to, Location: place, Min: n}, nil
}

// of is what they are for the classes of a configuration.
func (f Floors) of(classes map[string]reconciler.Class) map[string]reconciler.Class {
	if !f.configured() {
		return classes
	}
	age, both := cmp.Or(f.Age, 24*time.Hour), []string{store.Spot, store.OnDemand}
	small := schedule.Schedule{Base: f.Small}
	for _, text := range f.Entries {
		entry, _ := parseEntry(text) // it was checked
		small.Entries = append(small.Entries, entry)
	}
	if f.Idle > 0 {
		classes = maps.Clone(classes)
		for name, class := range classes {
			class.Idle = f.Idle
			classes[name] = class
		}
	}
	return floored(classes, func(class string) reconciler.Floor {
		if class == "large" {
			return reconciler.Floor{Schedule: schedule.Schedule{Base: f.Large}, Max: f.Most, MaxAge: age, UsageClasses: both}
		}
		return reconciler.Floor{Schedule: small, Max: f.Most, MaxAge: age, UsageClasses: both}
	})
}

// floored are the classes with other floors.
func floored(classes map[string]reconciler.Class, floor func(class string) reconciler.Floor) map[string]reconciler.Class {
	out := maps.Clone(classes)
	for name, class := range out {
		class.Floor = floor(name)
		out[name] = class
	}
	return out
}

// unfloor takes all floors out of the configuration, which every controller takes up at once: a story ends with nothing left.
func (s *supervisor) unfloor() {
	s.mu.Lock()
	s.cfg.Classes = floored(s.cfg.Classes, func(string) reconciler.Floor { return reconciler.Floor{} })
	s.configured = s.w.clock.Now()
	s.mu.Unlock()
	for _, c := range s.all {
		c.reload()
	}
}
