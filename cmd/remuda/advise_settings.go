package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/advisor"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/schedule"
	"github.com/remuda-run/remuda/reconciler"
)

// setting is what is tried of a class.
type setting struct {
	idle time.Duration
	warm string // in place of the floor that the class has, in YAML; "": that one
	reconciler.Class
}

// lines are what gives it, in the configuration file.
func (s setting) lines(class string) string {
	out := fmt.Sprintf("classes:\n  %s:\n    idle: %s\n", class, config.DurationText(s.idle))
	if s.warm != "" {
		out += "    warm: " + s.warm + "\n"
	}
	return out
}

// floorSizes are the numbers of machines that are tried of a floor, as far as a class ever had so many at once.
var floorSizes = []int{1, 2, 3, 5, 8, 13, 21, 34, 55}

// floorIdle is the limit that is tried beside the present one where a floor keeps machines anyway: what lies beyond it goes soon.
const floorIdle = 2 * time.Minute

// settingsOf returns what is tried of a class, what is in force first: other limits of idle machines, and floors all the time and in
// the hours in which most requests come.
func settingsOf(cfg config.Config, name string, d advisor.Demand, place *time.Location) []setting {
	class := cfg.Classes[name]
	present := cfg.Controller("").LimitsOf(name).Idle
	tries := []setting{variant(cfg, name, present, class.Warm, "")}
	none := ""
	if len(class.Warm.Schedule) > 0 || class.Warm.Min > 0 || class.Warm.Max > 0 {
		none = "{min: 0}"
		tries = append(tries, variant(cfg, name, present, config.Warm{}, none))
	}
	for _, idle := range advisor.Idles() {
		if idle != present {
			tries = append(tries, variant(cfg, name, idle, config.Warm{}, none))
		}
	}
	most := cfg.Caps.MaxInstances
	if class.Cap > 0 {
		most = min(most, class.Cap)
	}
	hours := advisor.HoursOf(d, name, place)
	for _, n := range floorSizes {
		if n > min(hours.Peak, most) || class.Scrub == string(scrub.Terminate) {
			break
		}
		floors := []config.Warm{{Min: n}}
		if entry := entryOf(hours, n, place); entry != nil {
			floors = append(floors, config.Warm{Schedule: []config.WarmEntry{*entry}})
		}
		for _, warm := range floors {
			warm.Usage, warm.MaxAge = class.Warm.Usage, class.Warm.MaxAge
			for _, idle := range slices.Compact([]time.Duration{floorIdle, present}) {
				tries = append(tries, variant(cfg, name, idle, warm, warmText(warm)))
			}
		}
	}
	return tries
}

// variant is the class with another limit and floor, as the controller would have it.
func variant(cfg config.Config, name string, idle time.Duration, warm config.Warm, text string) setting {
	class := cfg.Classes[name]
	class.Idle, class.Warm = idle, warm
	cfg.Classes = maps.Clone(cfg.Classes)
	cfg.Classes[name] = class
	return setting{idle, text, cfg.Controller("").Classes[name]}
}

// entryOf is a floor's entry for the hours of most requests; nil if that is all the time.
func entryOf(h advisor.Hours, n int, place *time.Location) *config.WarmEntry {
	if len(h.Days) == 7 && h.From == 0 && h.To == 24*60 {
		return nil
	}
	out := &config.WarmEntry{From: clockText(h.From), To: clockText(h.To), Timezone: place.String(), Min: n}
	if len(h.Days) < 7 {
		for _, day := range h.Days {
			out.Days = append(out.Days, schedule.Days()[(day+6)%7])
		}
	}
	return out
}

func clockText(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }

// warmText is a floor as the configuration file has it, in lines short enough for a terminal.
func warmText(w config.Warm) string {
	var fields []string
	if w.Min > 0 {
		fields = append(fields, fmt.Sprintf("min: %d", w.Min))
	}
	if w.MaxAge > 0 {
		fields = append(fields, "maxAge: "+config.DurationText(w.MaxAge))
	}
	if len(w.Usage) > 0 {
		fields = append(fields, "usage: ["+strings.Join(w.Usage, ", ")+"]")
	}
	for _, e := range w.Schedule {
		days := ""
		if len(e.Days) > 0 {
			days = "days: [" + strings.Join(e.Days, ", ") + "], "
		}
		fields = append(fields, fmt.Sprintf("schedule: [{%sfrom: %q, to: %q,\n      timezone: %s, min: %d}]", days, e.From, e.To, e.Timezone, e.Min))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
