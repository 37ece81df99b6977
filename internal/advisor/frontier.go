package advisor

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/remuda-run/remuda/reconciler"
)

// Row is the result of one setting of a class.
type Row struct {
	Setting int // index among the settings that were tried; 0 is the setting in force
	Figures
}

// Idles are the idle limits to try, from one minute to a working day. Each is about half longer than the limit before it.
func Idles() []time.Duration {
	return []time.Duration{
		time.Minute, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 7 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute,
		30 * time.Minute, 45 * time.Minute, time.Hour, 90 * time.Minute, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour,
	}
}

// MaxStarts bounds the starts of instances in all replays of one advice. They take a few seconds (BenchmarkReplay). The renewals of minimum
// idle take up to some ten seconds more.
const MaxStarts = 500_000

// Bound removes the oldest requests if so many replays would exceed MaxStarts, and moves From accordingly.
func Bound(d Demand, replays int) Demand {
	left := MaxStarts / max(1, replays)
	for i, p := range slices.Backward(d.Requests) {
		if left -= p.Count; left < 0 {
			d.Requests = d.Requests[i+1:]
			if !p.At.Before(d.From) {
				d.From = p.At.Add(time.Millisecond)
			}
			break
		}
	}
	return d
}

// Frontier replays the demand for each setting of a class. The first setting is the one in force. Frontier returns it, and each setting
// that is better than all cheaper settings in waiting. The cheapest comes first.
func Frontier(cfg reconciler.Config, name string, d Demand, settings []reconciler.Class) []Row {
	rows := make([]Row, len(settings))
	for i, class := range settings {
		cfg.Classes = maps.Clone(cfg.Classes)
		cfg.Classes[name] = class
		rows[i] = Row{i, *Replay(cfg, d)[name]}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.MachineTime(), b.MachineTime()), cmp.Compare(a.Waited(), b.Waited()), cmp.Compare(a.Setting, b.Setting))
	})
	least := time.Duration(math.MaxInt64)
	return slices.DeleteFunc(rows, func(r Row) bool {
		better := r.Waited() < least
		least = min(least, r.Waited())
		return !better && r.Setting != 0
	})
}
