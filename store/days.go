package store

import (
	"context"
	"fmt"
	"time"
)

// DaysOf returns the days from that of one instant to that of another, both included.
func DaysOf(from, to time.Time) []string {
	var days []string
	for at := from.UTC(); DayOf(at) <= DayOf(to); at = at.AddDate(0, 0, 1) {
		days = append(days, DayOf(at))
	}
	return days
}

// readDays reads those of the items of days that are there, consistently and in no order. Bad ones are passed to bad and left out.
func readDays[R any, P interface {
	*R
	record
}](ctx context.Context, s *Store, what string, keyOf func(day string) Key, bad func(Key, error), days []string) ([]R, error) {
	keys := make([]Key, len(days))
	for i, day := range days {
		keys[i] = keyOf(day)
	}
	items, err := s.table.Get(ctx, Consistent, keys...)
	if err != nil {
		return nil, fmt.Errorf("read the %s of %d days: %w", what, len(days), err)
	}
	var out []R
	for _, item := range items {
		var r R
		if err := decode(item, P(&r)); err != nil {
			bad(item.Key, err)
			continue
		}
		out = append(out, r)
	}
	return out, nil
}
