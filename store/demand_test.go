package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/statemachine"
)

// over returns a request and the status of its attempt that is over.
func over(change func(*RunRequest, *RunStatus)) (RunRequest, RunStatus) {
	at := func(s int) Time { return At(now.Add(time.Duration(s) * time.Second)) }
	r := RunRequest{ID: "4711", Attempt: 1, Count: 2, UsageClasses: []string{Spot, OnDemand}, AllowedInstanceTypes: []string{"c6i.*", "m6i.*"}, ResourceClass: "large"}
	st := RunStatus{
		ID: "4711", Attempt: 1, Phase: statemachine.PhaseReleased, Counts: Counts{Wanted: 2}, PendingAt: at(0), ReadyAt: at(31), ReleasedAt: at(215),
		Instances: []Seat{{InstanceType: "c6i.large", Warm: true}, {InstanceType: "m6i.large"}},
	}
	if change != nil {
		change(&r, &st)
	}
	return r, st
}

func TestWantedOf(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		change       func(*RunRequest, *RunStatus)
		want         string // its line without its tag; "": none
	}{
		{"Released", "all of it", nil, "11045678 31000 184000 2 1 so large c6i.large c6i.*,m6i.*"},
		{"Failed", "it waited for ten seconds", func(_ *RunRequest, st *RunStatus) {
			st.Phase, st.FailedAt, st.ReadyAt, st.ReleasedAt, st.Instances = statemachine.Failed, At(st.PendingAt.Add(10*time.Second)), Time{}, Time{}, nil
		}, "11045678 10000 - 2 0 so large - c6i.*,m6i.*"},
		{"FailedAndReleased", "what was given back an hour later waited no longer", func(_ *RunRequest, st *RunStatus) {
			st.FailedAt, st.ReadyAt, st.ReleasedAt, st.Instances = At(st.PendingAt.Add(10*time.Second)), Time{}, At(st.PendingAt.Add(time.Hour)), nil
		}, "11045678 10000 - 2 0 so large - c6i.*,m6i.*"},
		{"FailedAtOnce", "it could not be served", func(_ *RunRequest, st *RunStatus) {
			st.Phase, st.FailedAt, st.ReadyAt, st.ReleasedAt = statemachine.Failed, At(st.PendingAt.Add(10*time.Millisecond)), Time{}, Time{}
		}, ""},
		{"Running", "it is not over", func(_ *RunRequest, st *RunStatus) { st.Phase, st.ReleasedAt = statemachine.Ready, Time{} }, ""},
		{"Invalid", "no fleet could serve it", func(r *RunRequest, _ *RunStatus) { r.UsageClasses = nil }, ""},
		{"ManyPatterns", "a hash stands for them", func(r *RunRequest, _ *RunStatus) {
			r.AllowedInstanceTypes = slices.Repeat([]string{"c6i.*"}, 20)
		}, "11045678 31000 184000 2 1 so large c6i.large #u-cKI7"},
		{"SpaceInAClass", "no line could say it", func(r *RunRequest, _ *RunStatus) { r.ResourceClass = "a b" }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, st := over(tc.change)
			w, ok := WantedOf(r, st, time.Time{})
			if ok != (tc.want != "") {
				t.Fatalf("WantedOf() = %+v, %t; %s", w, ok, tc.reason)
			}
			if !ok {
				return
			}
			if got := w.line(now.Truncate(24 * time.Hour)); got[4:] != tc.want || len(got) >= maxWanted {
				t.Errorf("line() = %q, want a tag and %q: %s", got, tc.want, tc.reason)
			}
		})
	}
	t.Run("Replaced", func(t *testing.T) {
		r, st := over(func(_ *RunRequest, st *RunStatus) { st.Phase, st.ReleasedAt = statemachine.Ready, Time{} })
		if w, ok := WantedOf(r, st, st.ReadyAt.Add(time.Minute)); !ok || w.Held != time.Minute {
			t.Errorf("WantedOf() = %+v, %t, want one held for a minute", w, ok)
		}
	})
}

// wantedBy draws what somebody wanted on the day of now.
func wantedBy(t *rapid.T, n int) Wanted {
	r, st := over(func(r *RunRequest, st *RunStatus) {
		st.ID = RequestID(fmt.Sprint(n))
		st.PendingAt = At(now.Add(time.Duration(rapid.IntRange(-100_000_000, 100_000_000).Draw(t, "at")) * time.Millisecond))
		st.ReadyAt = At(st.PendingAt.Add(time.Duration(rapid.IntRange(0, 1_000_000).Draw(t, "waited")) * time.Millisecond))
		st.ReleasedAt = At(st.ReadyAt.Add(time.Duration(rapid.IntRange(0, 86_400_000).Draw(t, "held")) * time.Millisecond))
		r.ResourceClass = rapid.StringMatching(`[a-z]{1,32}`).Draw(t, "class")
		r.AllowedInstanceTypes = rapid.SliceOfN(rapid.StringMatching(`[a-z*.]{1,30}`), 0, 20).Draw(t, "types")
		st.Counts.Wanted = rapid.IntRange(2, MaxSeats).Draw(t, "count")
		if rapid.Bool().Draw(t, "failed") {
			st.FailedAt, st.ReadyAt = At(st.PendingAt.Add(time.Minute)), Time{}
		}
	})
	w, ok := WantedOf(r, st, time.Time{})
	if !ok {
		t.Fatalf("WantedOf(%+v, %+v) = %+v, false", r, st, w)
	}
	return w
}

// Whatever portions what is over is added in, by whatever controllers, however often each ends between a write and its answer or
// before it, the item has each exactly once.
func TestDemand_NothingIsLostOrDoubled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		var stored *Item
		lost := false
		s := New(stubTable{
			getFunc: func(...Key) ([]Item, error) {
				if stored == nil {
					return nil, nil
				}
				return []Item{*stored}, nil
			},
			putFunc: func(item Item, expect int64) error {
				if have := stored; have != nil && have.Version != expect || have == nil && expect != 0 {
					return &ConflictError{Current: stored}
				}
				stored = &item
				if lost {
					return context.Canceled
				}
				return nil
			},
		})
		day := DayOf(now)
		all := make([]Wanted, rapid.IntRange(1, 12).Draw(t, "requests"))
		for i := range all {
			all[i] = wantedBy(t, i)
		}
		one, other := Demand{Day: day}, Demand{Day: day} // what two controllers know
		for seen := range len(all) + 1 {
			for range rapid.IntRange(1, 3).Draw(t, "steps") {
				next, _, err := one.With(all[:seen])
				if err != nil {
					t.Fatal(err)
				}
				if rapid.Bool().Draw(t, "another comes first") {
					next, _, _ := other.With(all[:seen])
					other, _ = WriteDemand(ctx, s, next, now.Add(time.Duration(seen)))
				}
				dead, cancel := context.WithCancel(ctx)
				if lost = rapid.Bool().Draw(t, "ends"); lost {
					cancel()
				}
				if next, err = WriteDemand(dead, s, next, now.Add(time.Duration(seen))); err == nil {
					one = next
				} else if one, err = ReadDemand(ctx, s, day); err != nil { // as its successor
					t.Fatal(err)
				}
				cancel()
				lost = false
			}
		}
		one, err := ReadDemand(ctx, s, day)
		if err != nil {
			t.Fatal(err)
		}
		next, in, err := one.With(all)
		if err != nil || len(in) != len(all) {
			t.Fatalf("With() has %d of %d, %v", len(in), len(all), err)
		}
		got, err := next.Wanted()
		if err != nil || len(got) != len(all) || next.LeftOut != 0 {
			t.Fatalf("%d entries, %d left out, %v, want %d", len(got), next.LeftOut, err, len(all))
		}
		lines := func(list []Wanted) []string {
			var out []string
			for _, w := range list {
				line := w.line(now.Truncate(24 * time.Hour))
				if len(line) >= maxWanted {
					t.Fatalf("%q has %d bytes", line, len(line))
				}
				out = append(out, line)
			}
			slices.Sort(out)
			return out
		}
		if diff := cmp.Diff(lines(all), lines(got)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What finds no room is counted, once, however often it is tried; what is there stays.
func TestDemand_OfABusyDay(t *testing.T) {
	full, list := Demand{Day: DayOf(now)}, []Wanted(nil)
	for i := range 25_000 {
		r, st := over(func(_ *RunRequest, st *RunStatus) {
			st.ID = RequestID(fmt.Sprint(i))
			st.PendingAt = At(now.Add(time.Duration(i*7919%3_600_000) * time.Millisecond))
			st.ReadyAt = At(st.PendingAt.Add(time.Duration(i*104_729%60_000) * time.Millisecond))
			st.ReleasedAt = At(st.ReadyAt.Add(time.Duration(i*1_299_709%3_600_000) * time.Millisecond))
		})
		w, ok := WantedOf(r, st, time.Time{})
		if !ok {
			t.Fatalf("WantedOf(%+v) = false", st)
		}
		list = append(list, w)
	}
	full, in, err := full.With(list[:20_000])
	if err != nil || len(in) < 10_000 || len(in)+full.LeftOut != 20_000 || len(full.Entries) > MaxDemand || len(full.Entries) < MaxDemand-fullDemand {
		t.Fatalf("%d are in, %d left out, %d bytes, %v", len(in), full.LeftOut, len(full.Entries), err)
	}
	same, again, err := full.With(list[:20_000])
	if err != nil || same != full || len(again) != len(in) {
		t.Errorf("added again: %d are in, %d left out, %v", len(again), same.LeftOut, err)
	}
	more, _, err := full.With(list)
	if err != nil || more.LeftOut+len(in) != 25_000 || len(more.Entries) > MaxDemand {
		t.Errorf("%d left out of %d, %v", more.LeftOut, 25_000-len(in), err)
	}
	t.Logf("%d requests in %d bytes", len(in), len(full.Entries))
}

func TestDemand_Refuses(t *testing.T) {
	bomb := pack([]string{strings.Repeat(" ", maxUnpacked)})
	for name, d := range map[string]Demand{
		"NoDay":    {Day: "yesterday"},
		"NoBase64": {Day: "2026-01-02", Entries: "%"},
		"NoFlate":  {Day: "2026-01-02", Entries: "AAAA"},
		"TooMuch":  {Day: "2026-01-02", Entries: bomb},
	} {
		if got, err := d.Wanted(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: Wanted() = %d entries, %v, want ErrInvalid", name, len(got), err)
		}
	}
}

// FuzzWanted reads whatever lines may be in a demand. What is accepted is within bounds, and is read back as it was written.
func FuzzWanted(f *testing.F) {
	f.Add("Ag3 11045678 31042 184000 2 1 so large c6i.large c6i.*,m6i.*")
	f.Add("zZ_ -1 600000 - 1 0 o large - #abcdef\nzZ_ 0 1 1 1 2 o large - *")
	f.Add("zZ_ 99999999999 1 1 1 1 x large - *")
	f.Fuzz(func(t *testing.T, text string) {
		d := Demand{Day: DayOf(now), Entries: pack([]string{text})}
		list, err := d.Wanted()
		if err != nil {
			return
		}
		for _, w := range list {
			if w.Count < 1 || w.Count > MaxSeats || w.Warm < 0 || w.Warm > w.Count || w.Waited < 0 || w.Held < 0 || w.Class == "" || len(w.Usage) == 0 {
				t.Fatalf("%+v was accepted", w)
			}
			again, ok := parseWanted(w.line(now.Truncate(24*time.Hour)), now.Truncate(24*time.Hour))
			if !ok || again.ID() != w.ID() || again.Waited != w.Waited || again.Failed != w.Failed {
				t.Fatalf("%+v is read back as %+v, %t", w, again, ok)
			}
		}
	})
}
