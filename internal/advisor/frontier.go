package advisor

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

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

// Bound leaves out the oldest requests of which so many replays would be too much, and returns since when the others are.
func Bound(d Demand, replays int) Demand {
	left := MaxStarts / max(1, replays)
	for i := len(d.Wanted) - 1; i >= 0; i-- {
		if left -= d.Wanted[i].Count; left < 0 {
			bounded := NewDemand(d.Wanted[i+1:], d.From, d.To)
			if at := d.Wanted[i].At; !at.Before(d.From) {
				bounded.From = at.Add(time.Millisecond)
			}
			return bounded
		}
	}
	return d
}

// Frontier replays the demand for settings of a class, of which the first is the one in force, and returns that one and those that are
// worse in neither waiting nor machines' time than another, the cheapest first.
func Frontier(cfg reconciler.Config, name string, d Demand, settings []reconciler.Class) ([]Row, error) {
	rows := make([]Row, len(settings))
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, class := range settings {
		workers.Go(func() error {
			with := cfg
			with.Classes = maps.Clone(cfg.Classes)
			with.Classes[name] = class
			result, err := Replay(with, d)
			if err == nil {
				rows[i] = Row{i, *result.Classes[name]}
			}
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	return pareto(rows), nil
}

// pareto leaves the rows that no other beats in one of waiting and machines' time without being beaten in the other, and the
// present one.
func pareto(rows []Row) []Row {
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.MachineTime(), b.MachineTime()), cmp.Compare(a.Waited(), b.Waited()), cmp.Compare(a.Setting, b.Setting))
	})
	var out []Row
	least := time.Duration(-1)
	for _, r := range rows {
		better := least < 0 || r.Waited() < least
		if better {
			least = r.Waited()
		}
		if better || r.Setting == 0 {
			out = append(out, r)
		}
	}
	return out
}
