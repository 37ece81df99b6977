package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/statemachine"
)

// oneItem is a Table of one item, with the conditions of the contract.
func oneItem(stored *Item) stubTable {
	return stubTable{
		putFunc: func(item Item, expect int64) error {
			if stored.Version != expect {
				current := *stored
				return &ConflictError{Key: item.Key, Expect: expect, Current: &current}
			}
			*stored = item
			return nil
		},
		getFunc: func(...Key) ([]Item, error) { return []Item{*stored}, nil },
	}
}

// Whatever is done in whatever order, and with however stale a record in hand, what is stored only
// ever moves along a row of the table. S02
func TestStore_RandomOperationsStayInTheTable_S02(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		stored := Item{}
		s := New(oneItem(&stored))
		clk := now
		in, err := s.Register(ctx, Instance{Principal: "i-1", ID: "i-1", RunID: "r0", Attempt: 1}, clk, time.Minute)
		if err != nil {
			t.Fatalf("Register() error = %v", err)
		}
		history := []Instance{in} // every record ever stored
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			// At least a tick: the same write twice within one is the same write, and succeeds (H13).
			clk = clk.Add(time.Millisecond + time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds"))*time.Second)
			before := history[len(history)-1]
			held := history[rapid.IntRange(max(0, len(history)-3), len(history)-1).Draw(t, "held")]
			event, err := operate(t, s, held, clk)
			var after Instance
			if err := decode(stored, &after); err != nil {
				t.Fatalf("%s stored what cannot be read: %v", event, err)
			}
			if after.Version == before.Version {
				if err == nil {
					t.Fatalf("%s of v%d over v%d succeeded and changed nothing", event, held.Version, before.Version)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s changed the record and says %v", event, err)
			}
			checkStep(t, before, after, event, clk)
			history = append(history, after)
		}
	})
}

// operate does something with the record it holds and returns the event's name, "" for no event.
func operate(t *rapid.T, s *Store, held Instance, clk time.Time) (statemachine.Event, error) {
	ctx := context.Background()
	switch rapid.IntRange(0, 9).Draw(t, "operation") {
	case 0:
		_, err := s.SetRegistration(ctx, held, Registration{Serial: held.Registration.Serial + 1, Secret: "s"}, clk)
		return "", err
	case 1:
		_, err := s.Retire(ctx, held, clk.Add(time.Hour), clk)
		return "", err
	}
	event := rapid.SampledFrom(statemachine.Events()).Draw(t, "event")
	_, err := s.Transition(ctx, held, Transition{
		Event: event, Now: clk, Limit: time.Minute, Reason: "r", Release: ReleaseDrain,
		RunID: RequestID(fmt.Sprintf("r%d", rapid.IntRange(0, 3).Draw(t, "run"))), Attempt: 1,
	})
	if err != nil && !errors.Is(err, statemachine.ErrNoRule) && !errors.Is(err, ErrExpired) &&
		!errors.Is(err, ErrInvalid) && !errors.Is(err, ErrConflict) {
		t.Fatalf("Transition(%s) error = %v, want one of the documented kinds", event, err)
	}
	return event, err
}

// checkStep checks one stored change against the table of docs/statemachine.md.
func checkStep(t *rapid.T, before, after Instance, event statemachine.Event, clk time.Time) {
	if event == "" {
		if after.State != before.State || after.RunID != before.RunID || !after.Threshold.Equal(before.Threshold) || after.Assignment != before.Assignment {
			t.Fatalf("a write that is no event moved %+v to %+v", before, after)
		}
		return
	}
	if !slices.ContainsFunc(statemachine.Rules(), func(r statemachine.Rule) bool {
		return r.From == before.State && r.On == event && r.To == after.State
	}) {
		t.Fatalf("%s moved %s to %s: no such row", event, before.State, after.State)
	}
	if after.Version != before.Version+1 {
		t.Fatalf("version %d after %d", after.Version, before.Version)
	}
	switch grown := after.Assignment - before.Assignment; {
	case grown < 0 || grown > 1:
		t.Fatalf("assignment %d after %d", after.Assignment, before.Assignment)
	case (grown == 1) != (after.RunID != before.RunID):
		t.Fatalf("run %q after %q, but assignment %d after %d", after.RunID, before.RunID, after.Assignment, before.Assignment)
	case grown == 1 && !after.PooledAt.IsZero():
		t.Fatalf("%s changed the owner and left pooledAt", event)
	}
	if moved := after.State != before.State || after.Assignment != before.Assignment; moved != after.Since.Equal(At(clk)) && !before.Since.Equal(At(clk)) {
		t.Fatalf("%s: since = %s at %s, moved = %t", event, after.Since, clk, moved)
	}
	if !after.PooledAt.IsZero() && after.State != statemachine.Idle {
		t.Fatalf("pooledAt in state %s", after.State)
	}
	if after.State == statemachine.Terminated {
		if after.RunID != "" || !after.Threshold.IsZero() {
			t.Fatalf("terminated with run %q and threshold %s", after.RunID, after.Threshold)
		}
		return
	}
	if !before.Threshold.After(clk) {
		t.Fatalf("%s at %s over threshold %s", event, clk, before.Threshold)
	}
	if want := At(clk.Add(time.Minute)); !after.Threshold.Equal(want) {
		t.Fatalf("threshold = %s, want %s", after.Threshold, want)
	}
}
