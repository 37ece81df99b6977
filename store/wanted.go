package store

import (
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Wanted is what one attempt of a request wanted and got, as the demand of a day keeps it: a line of at most 100 bytes with its
// end. All lines together are deflated (RFC 1951) and kept in base64.
type Wanted struct {
	Tag    string        // with At it is the ID; it names no request
	At     time.Time     // when it was taken up
	Waited time.Duration // until it was Ready, or until nobody waited for it any more
	Held   time.Duration // from Ready until nothing was held
	Failed bool          // it was never Ready
	Count  int           // machines
	Warm   int           // machines of the pool among them
	Class  string
	Usage  []string // usage classes, in order of preference
	Type   string   // instance type of its first machine; "" if it had none
	Types  []string // patterns that it allowed; one that begins with # stands for a list too long to be kept
}

const (
	maxWanted   = 100             // bytes of a line and its end
	leastWaited = time.Second     // what failed sooner could not be served, or was not wanted
	fullDemand  = MaxDemand / 100 // bytes for which room is not sought any more: some 150 requests
	maxUnpacked = 10_000_000      // bytes of all lines of a day: MaxDemand holds some 2 MB of them
)

// usageMarks are the usage classes in a line.
var usageMarks = map[byte]string{'s': Spot, 'o': OnDemand}

// WantedOf says what a request wanted whose attempt is over: given back, or failed after it had waited, or replaced at an
// instant. It is false for what is not over, and for what could not be served.
func WantedOf(r RunRequest, st RunStatus, replaced time.Time) (Wanted, bool) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", st.ID, st.Attempt))
	w := Wanted{
		Tag: base64.RawURLEncoding.EncodeToString(sum[:])[:3], At: st.PendingAt.Time, Count: max(st.Counts.Wanted, len(st.Instances)),
		Class: r.ResourceClass, Usage: r.UsageClasses, Types: r.AllowedInstanceTypes,
	}
	for i, seat := range st.Instances {
		if seat.Warm {
			w.Warm++
		}
		if i == 0 {
			w.Type = seat.InstanceType
		}
	}
	end := st.ReleasedAt.Time
	switch {
	case !st.FailedAt.IsZero():
		end = st.FailedAt.Time
	case end.IsZero():
		end = replaced
	}
	if end.IsZero() || st.PendingAt.IsZero() || r.Check() != nil {
		return w, false
	}
	if w.Failed = st.ReadyAt.IsZero(); w.Failed {
		w.Waited = end.Sub(w.At)
		return w, w.Waited >= leastWaited && w.fits()
	}
	w.Waited, w.Held = st.ReadyAt.Time.Sub(w.At), max(0, end.Sub(st.ReadyAt.Time))
	return w, w.fits()
}

// End is when it was over.
func (w Wanted) End() time.Time { return w.At.Add(w.Waited + w.Held) }

// fits reports whether a line says what w does.
func (w Wanted) fits() bool {
	_, ok := parseWanted(w.line(w.At), w.At)
	return ok
}

// ID tells two attempts of one day apart.
func (w Wanted) ID() string { return fmt.Sprint(w.At.UnixMilli(), w.Tag) }

// line returns the entry in the demand of the day that begins so. What makes it too long is left out of it: of patterns a hash
// remains, by which equal lists are known.
func (w Wanted) line(begin time.Time) string {
	usage := ""
	for _, u := range w.Usage {
		usage += u[:1]
	}
	held := strconv.FormatInt(w.Held.Milliseconds(), 10)
	if w.Failed {
		held = "-"
	}
	types := cmp.Or(strings.Join(w.Types, ","), "-")
	text := func(machine string) string {
		return fmt.Sprintf("%s %d %d %s %d %d %s %s %s %s", w.Tag, w.At.Sub(begin).Milliseconds(), w.Waited.Milliseconds(), held,
			w.Count, w.Warm, usage, w.Class, cmp.Or(machine, "-"), types)
	}
	line := text(w.Type)
	if len(line) >= maxWanted || strings.Contains(types, " ") {
		sum := sha256.Sum256([]byte(types))
		types = "#" + base64.RawURLEncoding.EncodeToString(sum[:])[:6]
		line = text(w.Type)
	}
	if len(line) >= maxWanted {
		line = text("")
	}
	return line
}

// parseWanted reads a line; it is false for what is none.
func parseWanted(line string, begin time.Time) (Wanted, bool) {
	f := strings.Fields(line)
	if len(f) != 10 || len(line) >= maxWanted || len(f[0]) != 3 {
		return Wanted{}, false
	}
	w := Wanted{Tag: f[0], Class: f[7]}
	var numbers [5]int64
	for i, field := range []string{f[1], f[2], f[3], f[4], f[5]} {
		if i == 2 && field == "-" {
			w.Failed = true
			continue
		}
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || n < 0 && i > 0 || n > DemandLife.Milliseconds() || n < -DemandLife.Milliseconds() {
			return Wanted{}, false
		}
		numbers[i] = n
	}
	ms := func(i int) time.Duration { return time.Duration(numbers[i]) * time.Millisecond }
	w.At, w.Waited, w.Held, w.Count, w.Warm = begin.Add(ms(0)), ms(1), ms(2), int(numbers[3]), int(numbers[4])
	for i := range f[6] {
		w.Usage = append(w.Usage, usageMarks[f[6][i]])
	}
	if w.Count < 1 || w.Count > MaxSeats || w.Warm > w.Count || len(w.Usage) > 2 || slices.Contains(w.Usage, "") {
		return Wanted{}, false
	}
	if f[8] != "-" {
		w.Type = f[8]
	}
	if f[9] != "-" {
		w.Types = strings.Split(f[9], ",")
	}
	return w, true
}

// Wanted reads the entries. A line that is none is left out.
func (d Demand) Wanted() ([]Wanted, error) {
	begin, err := d.begin()
	if err != nil {
		return nil, fmt.Errorf("demand: %w: day: %.40q", ErrInvalid, d.Day)
	}
	lines, err := d.lines()
	if err != nil {
		return nil, err
	}
	out := make([]Wanted, 0, len(lines))
	for _, line := range lines {
		if w, ok := parseWanted(line, begin); ok {
			out = append(out, w)
		}
	}
	return out, nil
}

func (d Demand) lines() ([]string, error) {
	if d.Entries == "" {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(d.Entries))), maxUnpacked+1))
	if err == nil && len(text) > maxUnpacked {
		err = fmt.Errorf("more than %d bytes", maxUnpacked)
	}
	if err != nil {
		return nil, fmt.Errorf("entries of the demand of %s: %w: %v", d.Day, ErrInvalid, err) //nolint:errorlint // text for people
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}

// With adds those of list that the demand does not have, as long as there is room, and returns those that it has then. So adding
// is repeated at will, and what is added by two controllers is there once. How many find no room is told by the greatest number
// that ever did at once.
func (d Demand) With(list []Wanted) (Demand, []Wanted, error) {
	begin, err := d.begin()
	if err != nil {
		return d, nil, fmt.Errorf("demand: %w: day: %.40q", ErrInvalid, d.Day)
	}
	lines, err := d.lines()
	if err != nil {
		return d, nil, err
	}
	has := make(map[string]bool, len(lines))
	for _, line := range lines {
		if w, ok := parseWanted(line, begin); ok {
			has[w.ID()] = true
		}
	}
	var in, add []Wanted
	for _, w := range list {
		if has[w.ID()] {
			in = append(in, w)
			continue
		}
		has[w.ID()] = true
		add = append(add, w)
	}
	slices.SortFunc(add, func(a, b Wanted) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Tag, b.Tag)) })
	out := d
	for len(add) > 0 && MaxDemand-len(out.Entries) > fullDemand {
		for n := len(add); ; {
			more := slices.Clip(lines)
			for _, w := range add[:n] {
				more = append(more, w.line(begin))
			}
			entries := pack(more)
			if len(entries) <= MaxDemand {
				out.Entries, lines, in, add = entries, more, append(in, add[:n]...), add[n:]
				break
			}
			n = min(n-1, n*(MaxDemand-len(out.Entries))/(len(entries)-len(out.Entries))) // as large as these lines are
		}
	}
	out.LeftOut = max(d.LeftOut, len(add))
	return out, in, nil
}

// pack deflates lines.
func pack(lines []string) string {
	var out bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &out)
	w, err := flate.NewWriter(text, flate.DefaultCompression)
	if err != nil {
		panic(err) // no such level
	}
	for _, line := range lines {
		_, _ = io.WriteString(w, line+"\n") // a buffer takes all
	}
	_, _ = w.Close(), text.Close()
	return out.String()
}
