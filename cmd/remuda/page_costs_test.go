package main

import (
	"context"
	"errors"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/page"
	"github.com/remuda-run/remuda/store"
)

// The page has the days' costs, a minute old at most, and reads them no more often than that.
func TestWithCosts_OnceAMinute(t *testing.T) {
	var table store.Table
	st, clk := memory(t, func(t store.Table) store.Table { table = t; return t }), testclock.NewFakePassiveClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	write := func(day string) {
		t.Helper()
		if _, err := store.WriteCosts(t.Context(), st, store.Costs{Day: day, Through: store.At(clk.Now())}, clk.Now()); err != nil {
			t.Fatal(err)
		}
	}
	var failed error
	source := withCosts(func(context.Context) (page.Records, error) { return page.Records{}, failed }, st, clk)
	days := func(want int) {
		t.Helper()
		r, err := source(t.Context())
		if err != nil || len(r.Costs) != want {
			t.Errorf("%s: %d days, %v, want %d", clk.Now(), len(r.Costs), err, want)
		}
	}
	write("2026-02-22") // too long ago
	write("2026-02-23")
	days(1)
	write("2026-03-01")
	clk.SetTime(clk.Now().Add(costsEvery - time.Second))
	days(1)
	clk.SetTime(clk.Now().Add(time.Second))
	days(2)
	bad := store.Item{Key: store.CostsKey("2026-02-28"), Version: 1, Attributes: []byte(`{"rows":7}`)}
	if err := table.Put(t.Context(), bad, 0); err != nil {
		t.Fatal(err)
	}
	clk.SetTime(clk.Now().Add(costsEvery))
	if r, err := source(t.Context()); err != nil || len(r.Costs) != 2 || r.Bad[bad.Key] == nil {
		t.Errorf("with a day that cannot be read: %d days, bad %v, %v, want the others and its error", len(r.Costs), r.Bad, err)
	}
	failed = errors.New("no answer")
	if _, err := source(t.Context()); !errors.Is(err, failed) {
		t.Errorf("an error of the records = %v, want it kept", err)
	}
}
