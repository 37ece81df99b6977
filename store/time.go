package store

import (
	"fmt"
	"time"
)

// timeLayout is the one wire format of an instant: RFC 3339, UTC, milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is an instant as records keep it: UTC, whole milliseconds, "" when zero. It has the few methods that records need.
type Time struct{ Time time.Time }

// At returns t as records keep it.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{Time: t.UTC().Truncate(time.Millisecond)}
}

// MarshalJSON writes the wire format, which has room for the years 0 to 9999.
func (t Time) MarshalJSON() ([]byte, error) {
	if y := t.Time.UTC().Year(); y < 0 || y > 9999 {
		return nil, fmt.Errorf("time %s: year must be 0 to 9999", t.Time.UTC())
	}
	return []byte(`"` + t.String() + `"`), nil
}

// UnmarshalJSON accepts the wire format and "", nothing else: programs in other languages read the
// same records, and compare these texts.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == `""` {
		*t = Time{}
		return nil
	}
	v, err := time.Parse(`"`+timeLayout+`"`, string(b))
	if err != nil || v.Format(`"`+timeLayout+`"`) != string(b) {
		return fmt.Errorf("time %s: want %s", b, timeLayout)
	}
	*t = Time{Time: v.UTC()}
	return nil
}

// Equal reports whether both are the same instant.
func (t Time) Equal(u Time) bool { return t.Time.Equal(u.Time) }

// IsZero reports whether t is no instant; encoding/json leaves such a field out (omitzero).
func (t Time) IsZero() bool { return t.Time.IsZero() }

// Add returns the instant d after t.
func (t Time) Add(d time.Duration) time.Time { return t.Time.Add(d) }

// Sub returns how long t is after u.
func (t Time) Sub(u time.Time) time.Duration { return t.Time.Sub(u) }

// After reports whether t is later than u.
func (t Time) After(u time.Time) bool { return t.Time.After(u) }

// String returns the wire format, and "" for no instant.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.Time.UTC().Format(timeLayout)
}
