package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Demand is what the requests wanted and got that were over on one UTC day. It names no run and no repository.
// `remuda advise` replays it under other settings.
type Demand struct {
	Day       string      `json:"-"`                 // 2026-01-02
	Rows      []DemandRow `json:"rows"`              // at most MaxDemand bytes
	LeftOut   int         `json:"leftOut,omitempty"` // at least so many requests are missing, because there was no room or a row was not readable
	ChangedAt Time        `json:"changedAt"`
	Version   int64       `json:"-"`
	ExpiresAt time.Time   `json:"-"`

	Dropped []string `json:"-"` // the rows that reading has just dropped, and why
}

// DemandRow holds the requests of one kind that came in one hour.
type DemandRow struct {
	Hour int `json:"hour"` // hours from midnight of the day; negative on a day before
	DemandKind
	Requests [][5]int64 `json:"requests"` // each: nanoseconds from the hour, milliseconds waited and held (-1: failed), instances, warm instances
}

// DemandKind is what the requests of a row have in common. Lists have commas.
type DemandKind struct {
	Class string `json:"class"`
	Usage string `json:"usage"`           // usage classes in order of preference
	Types string `json:"types,omitempty"` // patterns of allowed instance types; a long list is cut
	Type  string `json:"type,omitempty"`  // instance type of the first instance; "" if there was none
}

// PastRequest is what one attempt of a request wanted and got.
type PastRequest struct {
	DemandKind
	At     time.Time     // when it was accepted; the part below a millisecond is a hash of ID and Attempt, so that no two are equal
	Waited time.Duration // until it was Ready, or failed
	Held   time.Duration // from Ready until it was released
	Failed bool          // it was never Ready
	Count  int           // instances
	Warm   int           // instances of the pool among them

	ID      RequestID // not in the demand
	Attempt int       // not in the demand
}

// Bounds of demand. An item of DynamoDB has at most 400 KB (DynamoDB, "Quotas").
const (
	MaxDemand    = 300_000             // bytes of the rows of a day, see Bytes
	DemandLife   = 35 * 24 * time.Hour // a month, and some days to look at it
	leastWaited  = time.Second         // a request that failed sooner was refused
	maxRowTypes  = 100                 // bytes of the types of a row
	rowBytes     = 100                 // of a row besides its texts
	requestBytes = 48                  // of one request in a row
)

const demandPrefix = "META#demand-"

// DemandKey returns the key of a day's demand.
func DemandKey(day string) Key { return Key{demandPrefix + day, KindDemand} }

// DayOf returns the day of an instant, as the keys of records name it.
func DayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// PastRequestOf returns what an attempt wanted and got. The attempt was released, has failed, or was replaced at an instant. The result
// is false if the attempt is not over, or was refused.
func PastRequestOf(r RunRequest, st RunStatus, replaced time.Time) (PastRequest, bool) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", st.ID, st.Attempt))
	tag := time.Duration(binary.BigEndian.Uint32(sum[:])) % time.Millisecond
	p := PastRequest{At: At(st.PendingAt.Time).Add(tag), Count: max(st.Counts.Wanted, len(st.Instances)), ID: st.ID, Attempt: st.Attempt}
	p.Class, p.Usage, p.Types = r.ResourceClass, strings.Join(r.UsageClasses, ","), Head(strings.Join(r.AllowedInstanceTypes, ","), maxRowTypes)
	for _, seat := range st.Instances {
		if seat.Warm {
			p.Warm++
		}
	}
	if len(st.Instances) > 0 {
		p.Type = st.Instances[0].InstanceType
	}
	end := st.ReleasedAt.Time
	if !st.FailedAt.IsZero() {
		end = st.FailedAt.Time
	} else if end.IsZero() {
		end = replaced
	}
	if p.Failed = st.ReadyAt.IsZero(); p.Failed {
		p.Waited = end.Sub(st.PendingAt.Time)
	} else {
		p.Waited, p.Held = st.ReadyAt.Sub(st.PendingAt.Time), max(0, end.Sub(st.ReadyAt.Time))
	}
	refused := st.PendingAt.IsZero() || r.Check() != nil || p.Failed && p.Waited < leastWaited
	return p, !end.IsZero() && !refused && p.row(At(end).Time).validate() == nil
}

// End is when it was over.
func (p PastRequest) End() time.Time { return p.At.Add(p.Waited + p.Held) }

// row returns the row of a request alone, in the demand of a day.
func (p PastRequest) row(day time.Time) DemandRow {
	begin := day.UTC().Truncate(24 * time.Hour)
	hour := p.At.Truncate(time.Hour)
	held := p.Held.Milliseconds()
	if p.Failed {
		held = -1
	}
	one := [5]int64{int64(p.At.Sub(hour)), p.Waited.Milliseconds(), held, int64(p.Count), int64(p.Warm)}
	return DemandRow{int(hour.Sub(begin) / time.Hour), p.DemandKind, [][5]int64{one}}
}

// validate holds a row to what PastRequestOf returns.
func (r DemandRow) validate() error {
	const life = int64(DemandLife / time.Millisecond)
	for _, text := range []string{r.Class, r.Usage, r.Types, r.Type} {
		if !ValidCostName(text) {
			return fmt.Errorf("class, usage, types, type: must be at most %d printable bytes, got %s", maxName, shown(text))
		}
	}
	if r.Hour < -int(DemandLife/time.Hour) || r.Hour > 23 || r.Usage == "" {
		return fmt.Errorf("hour, usage: must be of the %s before the end of the day, and not empty, got %d and %q", DemandLife, r.Hour, r.Usage)
	}
	for _, n := range r.Requests {
		if n[0] < 0 || n[0] >= int64(time.Hour) || n[1] < 0 || n[1] > life || n[2] < -1 || n[2] > life || n[3] < 1 || n[3] > MaxSeats || n[4] < 0 || n[4] > n[3] {
			return fmt.Errorf("requests: numbers out of range: %d", n)
		}
	}
	return nil
}

// bytes is about how many bytes a row has in JSON; an item of DynamoDB needs fewer.
func (r DemandRow) bytes() int {
	return rowBytes + len(r.Class) + len(r.Usage) + len(r.Types) + len(r.Type) + requestBytes*len(r.Requests)
}

// Bytes is about how many bytes the rows have in JSON.
func (d Demand) Bytes() (sum int) {
	for _, r := range d.Rows {
		sum += r.bytes()
	}
	return sum
}

// Requests returns the requests of all rows.
func (d Demand) Requests() (out []PastRequest) {
	for _, r := range d.Rows {
		hour := d.begin().Add(time.Duration(r.Hour) * time.Hour)
		for _, n := range r.Requests {
			p := PastRequest{DemandKind: r.DemandKind, At: hour.Add(time.Duration(n[0])), Waited: time.Duration(n[1]) * time.Millisecond, Count: int(n[3]), Warm: int(n[4])}
			p.Held, p.Failed = time.Duration(max(0, n[2]))*time.Millisecond, n[2] < 0
			out = append(out, p)
		}
	}
	return out
}

// With adds the requests of a list that the demand does not have, as long as there is room. It also returns the instants of all its
// requests, which identify them. A repeated call changes nothing.
func (d Demand) With(list []PastRequest) (Demand, map[int64]bool) {
	has := map[int64]bool{}
	for _, p := range d.Requests() {
		has[p.At.UnixNano()] = true
	}
	out, room, missing := d, MaxDemand-d.Bytes(), 0
	out.Rows = slices.Clone(d.Rows)
	for _, p := range slices.SortedFunc(slices.Values(list), func(a, b PastRequest) int { return a.At.Compare(b.At) }) {
		row := p.row(d.begin())
		i := slices.IndexFunc(out.Rows, func(r DemandRow) bool { return r.Hour == row.Hour && r.DemandKind == row.DemandKind })
		size := row.bytes()
		if i >= 0 {
			size = requestBytes
		}
		switch {
		case has[p.At.UnixNano()]:
			continue
		case size > room:
			missing++
			continue
		case i >= 0:
			out.Rows[i].Requests = append(slices.Clip(out.Rows[i].Requests), row.Requests...)
		default:
			out.Rows = append(out.Rows, row)
		}
		room -= size
		has[p.At.UnixNano()] = true
	}
	out.LeftOut = max(d.LeftOut, missing)
	return out, has
}

// UnmarshalJSON reads the demand of a day. It drops a row that breaks the rules, and keeps the day and its other rows.
func (d *Demand) UnmarshalJSON(b []byte) error {
	type fields Demand
	in := struct {
		*fields
		Rows []json.RawMessage `json:"rows"`
	}{fields: (*fields)(d)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	d.Rows, d.Dropped = valid[DemandRow]("rows", in.Rows, MaxDemand/rowBytes)
	d.LeftOut += len(d.Dropped)
	return nil
}

// begin returns midnight of the day. validate rejects an invalid day.
func (d *Demand) begin() time.Time {
	begin, _ := time.Parse(time.DateOnly, d.Day)
	return begin
}

func (d *Demand) key() Key                   { return DemandKey(d.Day) }
func (d *Demand) meta() (*int64, *time.Time) { return &d.Version, &d.ExpiresAt }
func (d *Demand) setKey(k Key)               { d.Day = strings.TrimPrefix(k.Partition, demandPrefix) }
func (d *Demand) validate() error {
	if _, err := time.Parse(time.DateOnly, d.Day); err != nil {
		return fmt.Errorf("day: must be a date such as 2026-01-02, got %s", shown(d.Day))
	}
	if n := d.Bytes(); n > MaxDemand || d.LeftOut < 0 {
		return fmt.Errorf("rows, leftOut: must be at most %d bytes, and not negative, got %d and %d", MaxDemand, n, d.LeftOut)
	}
	return nil
}

// ReadDemand reads the demand of a day, consistently. It returns an empty one if the day has none yet.
func ReadDemand(ctx context.Context, s *Store, day string) (Demand, error) {
	d := Demand{Day: day}
	if err := s.get(ctx, Consistent, DemandKey(day), &d); err != nil && !errors.Is(err, ErrNotFound) {
		return d, err
	}
	return d, nil
}

// ReadDemands reads the demand of the given days, in no order, and omits days without demand. It passes bad records to bad and omits them.
func ReadDemands(ctx context.Context, s *Store, bad func(Key, error), days ...string) ([]Demand, error) {
	return readDays[Demand](ctx, s, "demand", DemandKey, bad, days)
}

// WriteDemand stores d over the version it carries. ErrConflict means that another controller came first.
func WriteDemand(ctx context.Context, s *Store, d Demand, now time.Time) (Demand, error) {
	out := d
	out.ChangedAt, out.ExpiresAt = At(now), d.begin().Add(DemandLife)
	return stored(ctx, s, "demand", d, out)
}
