package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/store"
)

// twoDays stores what machines cost yesterday and today.
func twoDays(t *testing.T) *store.Store {
	t.Helper()
	st, now := memory(t, nil), time.Now()
	spent := func(busy, idle store.Seconds, price float64) store.Spent {
		return store.Spent{Booting: 60, Busy: busy, Idle: idle, BootingDollars: 60 * price, BusyDollars: float64(busy) * price, IdleDollars: float64(idle) * price}
	}
	for ago, rows := range [][]store.CostRow{
		{
			{Class: "large", Usage: store.Spot, Repository: "octo/app", Spent: spent(36_000, 0, 0.0001), Requests: 20, Warm: 15, Cold: 5, Waited: 100},
			{Class: "large", Usage: store.Spot, Spent: store.Spent{Idle: 7_200, IdleDollars: 0.72}},
			{Class: "small", Usage: store.OnDemand, Repository: "octo/lib", Spent: store.Spent{Busy: 600, Unpriced: 600}, Requests: 1, Cold: 1, Waited: 31},
		},
		{{Class: "large", Usage: store.OnDemand, Repository: "octo/app", Spent: spent(18_000, 0, 0.0002), Requests: 10, Warm: 10, Waited: 20}},
	} {
		if _, err := store.WriteCosts(t.Context(), st, store.Costs{Day: store.DayOf(now.AddDate(0, 0, -ago)), Through: store.At(now), Rows: rows}, now); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func TestCosts_Golden(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := twoDays(t)
		for file, args := range map[string][]string{
			"costs_class.txt":      {},
			"costs_repository.txt": {"--by", "repository", "--since", "1d"},
			"costs_day.txt":        {"--by", "day", "--since", "2d"},
			"costs.json":           {"-o", "json"},
		} {
			c := newCLI(st)
			c.ends(t, exitDone, append([]string{"costs"}, args...)...)
			golden(t, testdata(file), c.out.String())
			if c.err.Len() > 0 {
				t.Errorf("costs %q says %q", args, c.err.String())
			}
			for line := range strings.Lines(c.out.String()) {
				if n := len([]rune(line)); strings.HasSuffix(file, ".txt") && n > 81 {
					t.Errorf("%s: a line has %d columns: %s", file, n, line)
				}
			}
		}
	})
}

// What is shown by class, by repository and by day is the same in all.
func TestCosts_SameTotal(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := twoDays(t)
		var totals []costsRow
		for _, by := range []string{byClass, byRepository, byDay} {
			c := newCLI(st)
			c.ends(t, exitDone, "costs", "--by", by, "-o", "json")
			var v costsView
			if err := json.Unmarshal(c.out.Bytes(), &v); err != nil {
				t.Fatal(err)
			}
			var sum costsRow
			for _, r := range v.Rows {
				sum.Requests += r.Requests
				sum.Spent = newSpentView(sum.Spent.spent().Plus(r.Spent.spent()))
			}
			if sum.Requests != v.Total.Requests || dollarsText(sum.Spent.spent()) != dollarsText(v.Total.Spent.spent()) {
				t.Errorf("by %s rows come to %+v, the total is %+v", by, sum, v.Total)
			}
			totals = append(totals, v.Total)
		}
		for _, total := range totals[1:] {
			if dollarsText(total.Spent.spent()) != dollarsText(totals[0].Spent.spent()) || total.Requests != 31 {
				t.Errorf("totals are %+v", totals)
			}
		}
	})
}

func TestCosts_Usage(t *testing.T) {
	for arg, want := range map[string]string{
		"--since=30": "--since: must be 1d to 396d, got \"30\"", "--since=0d": "--since: must be", "--since=400d": "--since: must be",
		"--by=run": "--by: must be one of class, repository, day", "--output=wide": "--output",
	} {
		c := newCLI(memory(t, nil))
		c.ends(t, exitUsage, "costs", arg)
		if !strings.Contains(c.err.String(), want) {
			t.Errorf("costs %s says %q, want %q", arg, c.err.String(), want)
		}
	}
}
