package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Demand is what was asked for on one UTC day: an entry for each request that was over on it. It names no run and no
// repository. Nothing but `remuda advise` reads it.
type Demand struct {
	Day       string    `json:"-"`                 // 2026-01-02
	Entries   string    `json:"entries"`           // see Wanted; at most MaxDemand bytes
	LeftOut   int       `json:"leftOut,omitempty"` // requests, at least, for which there was no room
	ChangedAt Time      `json:"changedAt"`
	Version   int64     `json:"-"`
	ExpiresAt time.Time `json:"-"`
}

// Bounds of demand. An item of DynamoDB has at most 400 KB (DynamoDB, "Quotas").
const (
	MaxDemand  = 300_000             // bytes of the entries of a day
	DemandLife = 35 * 24 * time.Hour // a month, and some days to look at it
)

const demandPrefix = "META#demand-"

// DemandKey returns the key of a day's demand.
func DemandKey(day string) Key { return Key{demandPrefix + day, KindDemand} }

// DayOf returns the day of an instant, as the keys of records name it.
func DayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// begin returns midnight of the day.
func (d *Demand) begin() (time.Time, error) { return time.Parse(time.DateOnly, d.Day) }

func (d *Demand) key() Key                   { return DemandKey(d.Day) }
func (d *Demand) meta() (*int64, *time.Time) { return &d.Version, &d.ExpiresAt }
func (d *Demand) setKey(k Key)               { d.Day = strings.TrimPrefix(k.Partition, demandPrefix) }
func (d *Demand) validate() error {
	if _, err := d.begin(); err != nil {
		return fmt.Errorf("day: must be a date such as 2026-01-02, got %s", shown(d.Day))
	}
	if n := len(d.Entries); n > MaxDemand {
		return fmt.Errorf("entries: must be at most %d bytes, got %d", MaxDemand, n)
	}
	if d.LeftOut < 0 {
		return fmt.Errorf("leftOut: must not be negative, got %d", d.LeftOut)
	}
	return nil
}

// ReadDemand reads the demand of a day, consistently. One that has none yet is returned empty.
func ReadDemand(ctx context.Context, s *Store, day string) (Demand, error) {
	d := Demand{Day: day}
	if err := s.get(ctx, Consistent, DemandKey(day), &d); err != nil && !errors.Is(err, ErrNotFound) {
		return d, err
	}
	return d, nil
}

// ReadDemands reads the demand of those of the days that have some, in no order. Bad records are passed to bad and left out.
func ReadDemands(ctx context.Context, s *Store, bad func(Key, error), days ...string) ([]Demand, error) {
	return readDays[Demand](ctx, s, "demand", DemandKey, bad, days)
}

// WriteDemand stores d over the version it carries. ErrConflict means that another controller came first.
func WriteDemand(ctx context.Context, s *Store, d Demand, now time.Time) (Demand, error) {
	begin, err := d.begin()
	if err != nil {
		return d, fmt.Errorf("demand: %w: day: %.40q", ErrInvalid, d.Day)
	}
	out := d
	out.ChangedAt, out.ExpiresAt = At(now), begin.Add(DemandLife)
	return stored(ctx, s, "demand", d, out)
}
