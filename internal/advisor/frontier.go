package advisor

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/remuda-run/remuda/reconciler"
)

// Row is one setting of a class, and what it would have come to.
type Row struct {
	Setting int // its place among those that were tried; the first is the one in force
	Figures
}

// Idles are the limits of idle machines that are worth trying: each some half longer, from what a handshake needs to a working day.
func Idles() []time.Duration {
	return []time.Duration{
		time.Minute, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 7 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute,
		30 * time.Minute, 45 * time.Minute, time.Hour, 90 * time.Minute, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour,
	}
}

// MaxStarts bounds the starts of machines in all replays of an advice, a few seconds of computing (BenchmarkReplay).
const MaxStarts = 500_000

// Bound leaves out the oldest requests of which so many replays would be too much, and moves the time that counts.
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

// Frontier replays the demand for settings of a class, of which the first is the one in force. It returns that one and those that no
// other beats in one of waiting and instances' time without being beaten in the other, the cheapest first.
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
