package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// UnpricedTime is the part of a row's time without a known price: instances of one type in one zone. The row gets the dollars as soon as
// the price is known.
type UnpricedTime struct {
	Class      string  `json:"class"`
	Usage      string  `json:"usage"`
	Repository string  `json:"repository"`
	Type       string  `json:"type"`
	Zone       string  `json:"zone"`
	Booting    Seconds `json:"booting,omitempty"`
	Busy       Seconds `json:"busy,omitempty"`
	Idle       Seconds `json:"idle,omitempty"`
}

// UnmarshalJSON reads the costs of a day. It drops invalid rows, and keeps the day and its other rows.
func (c *Costs) UnmarshalJSON(b []byte) error {
	type fields Costs
	in := struct {
		*fields
		Rows     []json.RawMessage `json:"rows"`
		Unpriced []json.RawMessage `json:"unpriced"`
	}{fields: (*fields)(c)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	var rows, times []string
	c.Rows, rows = valid[CostRow]("rows", in.Rows, MaxCostRows)
	c.Unpriced, times = valid[UnpricedTime]("unpriced", in.Unpriced, MaxCostRows)
	c.Lost = max(0, c.Lost) + len(rows) // the row of a dropped time remains
	c.Dropped = slices.Concat(rows, times)
	return nil
}

// valid returns the valid entries of a list, at most most of them, and describes the dropped entries.
func valid[R interface{ validate() error }](name string, list []json.RawMessage, most int) (out []R, dropped []string) {
	for i, text := range list {
		var r R
		err := json.Unmarshal(text, &r)
		if err == nil {
			err = r.validate()
		}
		if err == nil && len(out) == most {
			err = fmt.Errorf("must be one of at most %d", most)
		}
		if err != nil {
			dropped = append(dropped, Head(fmt.Sprintf("%s[%d]: %v", name, i, err), maxCause))
			continue
		}
		out = append(out, r)
	}
	return out, dropped
}

// validate checks that a ledger could have written the row.
func (r CostRow) validate() error {
	s := r.Spent
	return validCosts(r.Class, r.Usage, r.Repository, float64(s.Booting), float64(s.Busy), float64(s.Idle), float64(s.Unpriced),
		s.BootingDollars, s.BusyDollars, s.IdleDollars, float64(r.Waited), float64(r.Requests), float64(r.Warm), float64(r.Cold))
}

func (u UnpricedTime) validate() error {
	if !ValidCostName(u.Type) || !ValidCostName(u.Zone) {
		return fmt.Errorf("type, zone: must be at most %d printable bytes, got %s and %s", maxName, shown(u.Type), shown(u.Zone))
	}
	return validCosts(u.Class, u.Usage, u.Repository, float64(u.Booting), float64(u.Busy), float64(u.Idle))
}

// validCosts checks the names and numbers of a row.
func validCosts(class, usage, repository string, numbers ...float64) error {
	if !ValidCostName(class) || !ValidCostName(usage) {
		return fmt.Errorf("class, usage: must be at most %d printable bytes, got %s and %s", maxName, shown(class), shown(usage))
	}
	if !ValidCostName(repository) && !ValidRepository(repository) { // earlier versions accepted any short text
		return fmt.Errorf("repository: must be owner/name or empty, got %s", shown(repository))
	}
	if i := slices.IndexFunc(numbers, func(n float64) bool { return n < 0 }); i >= 0 {
		return fmt.Errorf("numbers: must not be negative, got %v", numbers[i])
	}
	return nil
}

// ValidCostName reports whether a text is valid as the class or the usage class of a row.
func ValidCostName(text string) bool {
	return len(text) <= maxName && utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
