package main

import (
	"context"
	"maps"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/page"
	"github.com/remuda-run/remuda/store"
)

// costsEvery is from one reading of the costs to the next: a controller writes them once a minute.
const costsEvery = time.Minute

// withCosts adds what the last days came to, which is in no controller's memory.
func withCosts(source page.Source, st *store.Store, clk clock.PassiveClock) page.Source {
	var (
		last []store.Costs
		bad  map[store.Key]error
		due  time.Time // zero: they were never read
	)
	return func(ctx context.Context) (page.Records, error) {
		records, err := source(ctx)
		if err != nil {
			return records, err
		}
		if now := clk.Now(); !now.Before(due) {
			days := store.DaysOf(now.UTC().AddDate(0, 0, 1-page.CostDays), now)
			unread := map[store.Key]error{}
			costs, err := store.ReadCostsOf(ctx, st, func(k store.Key, err error) { unread[k] = err }, days...)
			if err != nil {
				return records, err
			}
			last, bad, due = costs, unread, now.Add(costsEvery)
		}
		if records.Costs = last; len(bad) > 0 {
			all := maps.Clone(bad)
			maps.Copy(all, records.Bad)
			records.Bad = all
		}
		return records, nil
	}
}
