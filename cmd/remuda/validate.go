package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/glob"
	"github.com/remuda-run/remuda/store"
)

// The flags of requests are taken as text and parsed here, so that every error names the flag, what
// it takes and what it was given.

// parseWhole parses a whole number from low to high.
func parseWhole(field, text string, low, high int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s: must be a whole number from %d to %d, got %q", field, low, high, text)
	}
	return n, nil
}

// minDuration is the shortest time a request may name; a shorter one is taken for a mistake, such as
// a bare number of minutes.
const minDuration = time.Second

// parseDuration parses a duration from minDuration to high. Whole milliseconds: what records keep.
func parseDuration(field, text string, high time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < minDuration || d > high {
		return 0, fmt.Errorf("%s: must be a duration from %s to %s, such as 90s or 30m, got %q", field, minDuration, config.DurationText(high), text)
	}
	return d.Truncate(time.Millisecond), nil
}

// parseUsage parses a list of usage classes in order of preference.
func parseUsage(field, text string) ([]string, error) {
	allowed := []string{store.Spot, store.OnDemand}
	list := split(text)
	for i, usage := range list {
		if !slices.Contains(allowed, usage) || slices.Contains(list[:i], usage) {
			return nil, fmt.Errorf("%s: must be one or both of %s, each once, got %q", field, strings.Join(allowed, ", "), text)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: must be one or both of %s, got %q", field, strings.Join(allowed, ", "), text)
	}
	return list, nil
}

// parsePatterns parses a list of instance type patterns.
func parsePatterns(field, text string) ([]string, error) {
	list := split(text)
	if len(list) == 0 || len(list) > store.MaxPatterns {
		return nil, fmt.Errorf("%s: must hold 1 to %d patterns such as c* or m6i.large, got %q", field, store.MaxPatterns, text)
	}
	for _, pattern := range list {
		if err := glob.Validate(pattern); err != nil {
			return nil, fmt.Errorf("%s: pattern %w", field, err)
		}
	}
	return list, nil
}

// split takes lists as people and workflow files write them: at spaces, commas and line breaks.
func split(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,\t\r\n", c) })
}

// parseID parses a request id.
func parseID(field, text string) (store.RequestID, error) {
	id := store.RequestID(text)
	if err := id.Valid(); err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	return id, nil
}

// oneOf reports a text that is none of allowed.
func oneOf(field, text string, allowed []string) error {
	if slices.Contains(allowed, text) {
		return nil
	}
	return fmt.Errorf("%s: must be one of %s, got %q", field, strings.Join(allowed, ", "), text)
}
