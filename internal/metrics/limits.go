package metrics

import (
	"slices"
	"strings"
	"sync"

	"github.com/remuda-run/remuda/store"
)

// other stands for the values beyond a bound.
const other = "other"

// Bounds of what labels take from outside. EC2 documents some 40 codes of a failed launch; a region has at most 6 zones, and one
// installation is in one region; GitHub has some 15 budgets; of agents there are two or three versions at once, more only if
// somebody makes them up.
const (
	maxCodes    = 64
	maxZones    = 16
	maxBudgets  = 32
	maxVersions = 16
	maxQueried  = 128 // operations of AWS; we call some 40
	maxReasons  = 32  // we have 17; another version may have others
	maxLabel    = 64  // bytes of a value
)

// limits keep the values of labels to a number.
type limits struct{ codes, zones, budgets, operations, reasons bound }

// bound lets the first values through, and no more. Its zero value is ready.
type bound struct {
	mu   sync.Mutex
	seen []string
}

// of returns value, or other once most others were seen.
func (b *bound) of(value string, most int) string {
	value = text(value)
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.seen, value) {
		return value
	}
	if len(b.seen) >= most {
		return other
	}
	b.seen = append(b.seen, value)
	return value
}

// text makes a label's value of any bytes.
func text(value string) string {
	return strings.ToValidUTF8(value[:min(len(value), maxLabel)], "")
}

func (m *Metrics) class(name string) string { return among(name, *m.classes.Load()...) }

func usage(name string) string { return among(name, store.Spot, store.OnDemand) }

func among(value string, known ...string) string {
	if slices.Contains(known, value) {
		return value
	}
	return other
}
