package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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

func TestPastRequestOf(t *testing.T) {
	for _, tc := range []struct {
		name, reason string
		change       func(*RunRequest, *RunStatus)
		want         string // its row, with milliseconds in place of the nanoseconds; "": none
	}{
		{"Released", "all of it", nil, "3 {large spot,on-demand c6i.*,m6i.* c6i.large} [245678 31000 184000 2 1]"},
		{"Failed", "it waited for ten seconds", func(_ *RunRequest, st *RunStatus) {
			st.Phase, st.FailedAt, st.ReadyAt, st.ReleasedAt, st.Instances = statemachine.Failed, At(st.PendingAt.Add(10*time.Second)), Time{}, Time{}, nil
		}, "3 {large spot,on-demand c6i.*,m6i.* } [245678 10000 -1 2 0]"},
		{"FailedAndReleased", "a later release does not lengthen the wait", func(_ *RunRequest, st *RunStatus) {
			st.FailedAt, st.ReadyAt, st.ReleasedAt, st.Instances = At(st.PendingAt.Add(10*time.Second)), Time{}, At(st.PendingAt.Add(time.Hour)), nil
		}, "3 {large spot,on-demand c6i.*,m6i.* } [245678 10000 -1 2 0]"},
		{"FailedAtOnce", "it could not be served", func(_ *RunRequest, st *RunStatus) {
			st.Phase, st.FailedAt, st.ReadyAt, st.ReleasedAt = statemachine.Failed, At(st.PendingAt.Add(10*time.Millisecond)), Time{}, Time{}
		}, ""},
		{"Running", "it is not over", func(_ *RunRequest, st *RunStatus) { st.Phase, st.ReleasedAt = statemachine.Ready, Time{} }, ""},
		{"Invalid", "no fleet could serve it", func(r *RunRequest, _ *RunStatus) { r.UsageClasses = nil }, ""},
		{"ManyPatterns", "the beginning stands for them", func(r *RunRequest, _ *RunStatus) {
			r.AllowedInstanceTypes = slices.Repeat([]string{"c6i.*"}, 30)
		}, "3 {large spot,on-demand c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c6i.*,c… c6i.large} [245678 31000 184000 2 1]"},
		{"Tomorrow", "the attempt began a day before it ended", func(_ *RunRequest, st *RunStatus) { st.ReleasedAt = At(st.PendingAt.Add(22 * time.Hour)) },
			"-21 {large spot,on-demand c6i.*,m6i.* c6i.large} [245678 31000 79169000 2 1]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, st := over(tc.change)
			p, ok := PastRequestOf(r, st, time.Time{})
			if ok != (tc.want != "") {
				t.Fatalf("PastRequestOf() = %+v, %t; %s", p, ok, tc.reason)
			}
			if !ok {
				return
			}
			row := p.row(p.End())
			row.Requests[0][0] /= int64(time.Millisecond)
			if got := fmt.Sprint(row.Hour, row.DemandKind, row.Requests[0]); got != tc.want {
				t.Errorf("row() = %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
	t.Run("Replaced", func(t *testing.T) {
		r, st := over(func(_ *RunRequest, st *RunStatus) { st.Phase, st.ReleasedAt = statemachine.Ready, Time{} })
		if p, ok := PastRequestOf(r, st, st.ReadyAt.Add(time.Minute)); !ok || p.Held != time.Minute {
			t.Errorf("PastRequestOf() = %+v, %t, want one held for a minute", p, ok)
		}
	})
}

// pastRequest draws what a request wanted on about the day of now.
func pastRequest(t *rapid.T, n int) PastRequest {
	r, st := over(func(r *RunRequest, st *RunStatus) {
		st.ID = RequestID(fmt.Sprint(n))
		st.PendingAt = At(now.Add(time.Duration(rapid.IntRange(-100_000_000, 70_000_000).Draw(t, "at")) * time.Millisecond))
		st.ReadyAt = At(st.PendingAt.Add(time.Duration(rapid.IntRange(0, 1_000_000).Draw(t, "waited")) * time.Millisecond))
		st.ReleasedAt = At(st.ReadyAt.Add(time.Duration(rapid.IntRange(0, 86_400_000).Draw(t, "held")) * time.Millisecond))
		r.ResourceClass = rapid.StringMatching(`[a-z ]{1,32}`).Draw(t, "class")
		r.AllowedInstanceTypes = rapid.SliceOfN(rapid.StringMatching(`[a-z*.]{1,30}`), 0, 20).Draw(t, "types")
		st.Counts.Wanted = rapid.IntRange(2, MaxSeats).Draw(t, "count")
		if rapid.Bool().Draw(t, "failed") {
			st.FailedAt, st.ReadyAt = At(st.PendingAt.Add(time.Minute)), Time{}
		}
	})
	p, ok := PastRequestOf(r, st, time.Time{})
	if !ok {
		t.Fatalf("PastRequestOf(%+v, %+v) = %+v, false", r, st, p)
	}
	p.ID, p.Attempt = "", 0 // no demand names them
	return p
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
		all := make([]PastRequest, rapid.IntRange(1, 12).Draw(t, "requests"))
		for i := range all {
			all[i] = pastRequest(t, i)
		}
		one, other := Demand{Day: day}, Demand{Day: day} // what two controllers know
		for seen := range len(all) + 1 {
			for range rapid.IntRange(1, 3).Draw(t, "steps") {
				next, _ := one.With(all[:seen])
				var err error
				if rapid.Bool().Draw(t, "another comes first") {
					next, _ := other.With(all[:seen])
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
		next, has := one.With(all)
		got := next.Requests()
		if len(has) != len(all) || next.LeftOut != 0 {
			t.Fatalf("%d of %d, %d left out", len(has), len(all), next.LeftOut)
		}
		byTime := func(a, b PastRequest) int { return a.At.Compare(b.At) }
		slices.SortFunc(all, byTime)
		slices.SortFunc(got, byTime)
		if diff := cmp.Diff(all, got); diff != "" {
			t.Fatal(diff)
		}
		if body, err := json.Marshal(next.Rows); err != nil || len(body) > next.Bytes() {
			t.Fatalf("%d bytes, %v, counted %d", len(body), err, next.Bytes())
		}
	})
}

// What finds no room is counted, once, however often it is tried; what is there stays.
func TestDemand_OfABusyDay(t *testing.T) {
	full, list := Demand{Day: DayOf(now)}, []PastRequest(nil)
	for i := range 12_000 {
		r, st := over(func(_ *RunRequest, st *RunStatus) {
			st.ID = RequestID(fmt.Sprint(i))
			st.PendingAt = At(now.Add(time.Duration(i*7919%3_600_000) * time.Millisecond))
			st.ReadyAt = At(st.PendingAt.Add(time.Duration(i*104_729%60_000) * time.Millisecond))
			st.ReleasedAt = At(st.ReadyAt.Add(time.Duration(i*1_299_709%3_600_000) * time.Millisecond))
		})
		p, ok := PastRequestOf(r, st, time.Time{})
		if !ok {
			t.Fatalf("PastRequestOf(%+v) = false", st)
		}
		list = append(list, p)
	}
	full, has := full.With(list[:10_000])
	if len(has) < 6_000 || len(has)+full.LeftOut != 10_000 || full.Bytes() > MaxDemand || full.Bytes() < MaxDemand-requestBytes {
		t.Fatalf("%d are in, %d left out, %d bytes", len(has), full.LeftOut, full.Bytes())
	}
	same, again := full.With(list[:10_000])
	if diff := cmp.Diff(full, same); diff != "" || len(again) != len(has) {
		t.Errorf("added again: %d are in, %s", len(again), diff)
	}
	more, _ := full.With(list)
	if more.LeftOut+len(has) != 12_000 || more.Bytes() > MaxDemand {
		t.Errorf("%d left out of %d", more.LeftOut, 12_000-len(has))
	}
	item, err := encode(&more, 1)
	if err != nil || len(item.Attributes) > MaxDemand {
		t.Errorf("the item has %d bytes, %v", len(item.Attributes), err)
	}
}

// A bad row is dropped and counted. Its day is read, and so is an item of the version before, which had no rows.
func TestDemand_BadRows(t *testing.T) {
	good := `{"hour":3,"class":"large","usage":"spot","requests":[[1,2,3,1,1]]}`
	for _, bad := range []string{
		`5`, `{}`, `{"hour":24,"usage":"spot"}`, `{"hour":-841,"usage":"spot"}`, `{"hour":3,"usage":"spot","class":"a\u0001"}`, `{"hour":3,"usage":"spot","requests":[[1,2]]}`,
		`{"hour":3,"usage":"spot","requests":[[-1,2,3,1,1]]}`, `{"hour":3,"usage":"spot","requests":[[3600000000000,2,3,1,1]]}`, `{"hour":3,"usage":"spot","requests":[[1,-2,3,1,1]]}`,
		`{"hour":3,"usage":"spot","requests":[[1,2,-2,1,1]]}`, `{"hour":3,"usage":"spot","requests":[[1,2,3,3001,1]]}`, `{"hour":3,"usage":"spot","requests":[[1,2,3,1,2]]}`,
	} {
		var d Demand
		err := decode(Item{Key: DemandKey("2026-01-02"), Version: 1, Attributes: []byte(`{"rows":[` + bad + `,` + good + `],"changedAt":""}`)}, &d)
		if err != nil || len(d.Requests()) != 1 || len(d.Dropped) != 1 || d.LeftOut != 1 {
			t.Errorf("%s: %+v, %v, want the good row alone", bad, d, err)
		}
	}
	var d Demand
	err := decode(Item{Key: DemandKey("2026-01-02"), Version: 1, Attributes: []byte(`{"entries":"ckw3","leftOut":3,"changedAt":""}`)}, &d)
	if err != nil || len(d.Requests()) != 0 || d.Version != 1 {
		t.Errorf("an item of the version before: %+v, %v", d, err)
	}
}
