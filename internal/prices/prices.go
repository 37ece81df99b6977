// Package prices reads what machines cost from a file, where no cloud says it.
package prices

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/internal/glob"
	"github.com/remuda-run/remuda/store"
)

// List is prices by instance type: the first line that matches a type says what it costs.
type List []Line

// Line is what some instance types cost, in dollars per hour. A price of 0 is not known.
type Line struct {
	Types    string  `yaml:"types"` // a pattern, as requests have them
	OnDemand float64 `yaml:"onDemand"`
	Spot     float64 `yaml:"spot"`
}

// PerHour returns what an instance costs, and false if that is not known. Zones cost the same.
func (l List) PerHour(usageClass, instanceType, _ string) (dollars float64, known bool) {
	for _, line := range l {
		if !glob.Match(line.Types, instanceType) {
			continue
		}
		dollars = line.OnDemand
		if usageClass == store.Spot {
			dollars = line.Spot
		}
		return dollars, dollars > 0
	}
	return 0, false
}

// Read reads a list from a file. Its errors name the line and what is allowed there, all of them at once.
func Read(path string) (List, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	l, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read prices %s: %w", path, err)
	}
	return l, nil
}

func parse(text []byte) (List, error) {
	var l List
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&l); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("must be a list of {types, onDemand, spot}: %w", err)
	}
	var errs []error
	for i, line := range l {
		if err := glob.Validate(line.Types); err != nil {
			errs = append(errs, fmt.Errorf("[%d].types: %w", i, err))
		}
		for _, p := range []struct {
			name    string
			dollars float64
		}{{"onDemand", line.OnDemand}, {"spot", line.Spot}} {
			if !(p.dollars >= 0 && p.dollars <= math.MaxInt32) { // not a number is neither
				errs = append(errs, fmt.Errorf("[%d].%s: must be dollars per hour, at least 0, got %v", i, p.name, p.dollars))
			}
		}
	}
	return l, errors.Join(errs...)
}
