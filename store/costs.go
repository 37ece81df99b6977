package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Costs is what the machines of one UTC day came to. The controller alone writes it. What is counted, and until when, are
// written at once, so nothing is counted twice.
type Costs struct {
	Day     string    `json:"-"`       // 2026-01-02
	Through Time      `json:"through"` // the time up to which costs are counted
	Rows    []CostRow `json:"rows"`    // at most MaxCostRows

	Unpriced  []UnpricedTime `json:"unpriced,omitempty"` // the part of the rows whose price is not known yet; at most MaxCostRows
	Lost      int            `json:"lost,omitempty"`     // invalid rows that were dropped: the day cost more than its rows show
	ChangedAt Time           `json:"changedAt"`
	Version   int64          `json:"-"`
	ExpiresAt time.Time      `json:"-"`

	Dropped []string `json:"-"` // the rows that were just dropped, and why
}

// CostRow is what the machines of one resource class and usage class came to for one repository.
type CostRow struct {
	Class      string `json:"class"` // OtherCosts: of all that have no row of their own
	Usage      string `json:"usage"`
	Repository string `json:"repository"` // "": not known; of idle machines always
	Spent      Spent  `json:"spent,omitzero"`

	Requests int     `json:"requests,omitempty"` // that became ready
	Warm     int     `json:"warm,omitempty"`     // machines of theirs that were in the pool
	Cold     int     `json:"cold,omitempty"`     // those that were launched for them
	Waited   Seconds `json:"waited,omitempty"`   // until all of a request's machines were ready, of all requests
}

// Spent is how long machines were in each phase of their lives, and what that costs by their list prices.
type Spent struct {
	Booting        Seconds `json:"booting,omitempty"`
	Busy           Seconds `json:"busy,omitempty"`
	Idle           Seconds `json:"idle,omitempty"`
	BootingDollars float64 `json:"bootingDollars,omitempty"`
	BusyDollars    float64 `json:"busyDollars,omitempty"`
	IdleDollars    float64 `json:"idleDollars,omitempty"`
	Unpriced       Seconds `json:"unpriced,omitempty"` // of all, those of machines whose price is not known: they are in no dollars
}

// Plus returns the sum of both.
func (s Spent) Plus(o Spent) Spent {
	return Spent{
		s.Booting + o.Booting, s.Busy + o.Busy, s.Idle + o.Idle,
		s.BootingDollars + o.BootingDollars, s.BusyDollars + o.BusyDollars, s.IdleDollars + o.IdleDollars, s.Unpriced + o.Unpriced,
	}
}

// Dollars is the cost of all phases.
func (s Spent) Dollars() float64 { return s.BootingDollars + s.BusyDollars + s.IdleDollars }

// Priced reports whether the price of any machine was known: where none was, no dollars are no cost of nothing. It compares no
// seconds, whose sums differ by their order.
func (s Spent) Priced() bool { return s.Unpriced == 0 || s.Dollars() > 0 }

// Seconds is the time of all phases.
func (s Spent) Seconds() Seconds { return s.Booting + s.Busy + s.Idle }

// Budget is the cost of a month and its limit. The cost is switched off (Monthly is 0), known, or unknown since a time.
type Budget struct {
	Month        string  `json:"month"`                 // 2026-01, in UTC
	Monthly      float64 `json:"monthly"`               // dollars; 0: no budget
	Spent        float64 `json:"spent"`                 // dollars, by list prices; while the cost is unknown, the last known value
	Warns        bool    `json:"warns,omitempty"`       // the cost has reached the warning level
	Off          string  `json:"off,omitempty"`         // the options that are off, as text; "": none
	UnknownSince Time    `json:"unknownSince,omitzero"` // since when the cost is unknown; zero: the cost is known
	Unknown      string  `json:"unknown,omitempty"`     // why the cost is unknown, as text
}

// Text returns one line that says how much of the budget is used.
func (b Budget) Text() string {
	if !b.UnknownSince.IsZero() {
		return fmt.Sprintf("unknown since %s (last known $%.2f of $%.2f in %s): %s",
			b.UnknownSince.Time.Format(time.RFC3339), b.Spent, b.Monthly, b.Month, b.Unknown)
	}
	return fmt.Sprintf("$%.2f of $%.2f in %s, %.0f %%", b.Spent, b.Monthly, b.Month, 100*b.Spent/b.Monthly)
}

// Bounds of costs.
const (
	MaxCostRows = 200                         // of a day: 60 KB
	CostsLife   = (365 + 31) * 24 * time.Hour // the same month of last year, whole
	OtherCosts  = "other"
)

// ErrRow means that an invalid row of a day's costs was dropped, and the other rows were read.
var ErrRow = fmt.Errorf("a row was dropped: %w", ErrInvalid)

const costsPrefix = "META#costs-"

// CostsKey returns the key of a day's costs.
func CostsKey(day string) Key { return Key{costsPrefix + day, KindCosts} }

// DayOfCosts returns the day in a key of costs.
func DayOfCosts(k Key) string { return strings.TrimPrefix(k.Partition, costsPrefix) }

// MonthOf returns the month of an instant, such as 2026-01, with which its days begin.
func MonthOf(t time.Time) string { return t.UTC().Format("2006-01") }

// Dollars is what all rows come to.
func (c Costs) Dollars() (sum float64) {
	for _, r := range c.Rows {
		sum += r.Spent.Dollars()
	}
	return sum
}

// Begin returns midnight of the day, at which it begins.
func (c Costs) Begin() (time.Time, error) { return time.Parse(time.DateOnly, c.Day) }

func (c *Costs) key() Key                   { return CostsKey(c.Day) }
func (c *Costs) meta() (*int64, *time.Time) { return &c.Version, &c.ExpiresAt }
func (c *Costs) setKey(k Key)               { c.Day = DayOfCosts(k) }
func (c *Costs) validate() error {
	if _, err := c.Begin(); err != nil {
		return fmt.Errorf("day: must be a date such as 2026-01-02, got %s", shown(c.Day))
	}
	if n := len(c.Rows); n > MaxCostRows {
		return fmt.Errorf("rows: must be at most %d, got %d", MaxCostRows, n)
	}
	return nil
}

// ReadCosts reads the costs of a day, consistently. One that has none yet is returned empty.
func ReadCosts(ctx context.Context, s *Store, day string) (Costs, error) {
	c := Costs{Day: day}
	if err := s.get(ctx, Consistent, CostsKey(day), &c); err != nil && !errors.Is(err, ErrNotFound) {
		return c, err
	}
	return c, nil
}

// ReadCostsOf reads the recorded costs of the given days, in order. It skips invalid records, and calls bad for each invalid record and
// each dropped row.
func ReadCostsOf(ctx context.Context, s *Store, bad func(Key, error), days ...string) ([]Costs, error) {
	list, err := readDays[Costs](ctx, s, "costs", CostsKey, bad, days)
	for _, c := range list {
		for _, row := range c.Dropped {
			bad(c.key(), fmt.Errorf("%w: %s", ErrRow, row))
		}
	}
	slices.SortFunc(list, func(a, b Costs) int { return slices.Index(days, a.Day) - slices.Index(days, b.Day) })
	return list, err
}

// WriteCosts stores c over the version it carries. ErrConflict means that another controller came first.
func WriteCosts(ctx context.Context, s *Store, c Costs, now time.Time) (Costs, error) {
	begin, err := c.Begin()
	if err != nil {
		return c, fmt.Errorf("costs: %w: day: %.40q", ErrInvalid, c.Day)
	}
	out := c
	out.ChangedAt, out.ExpiresAt = At(now), begin.Add(CostsLife)
	out.Rows = slices.DeleteFunc(slices.Clone(c.Rows), func(r CostRow) bool { return r.validate() != nil }) // reads drop them, too
	out.Unpriced = slices.DeleteFunc(slices.Clone(c.Unpriced), func(u UnpricedTime) bool { return u.validate() != nil })
	return stored(ctx, s, "costs", c, out)
}
