package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/statemachine"
)

var errReply = fmt.Errorf("connection reset: %w", ErrUnavailable)

// call is one Put that a table received.
type call struct {
	Item   Item
	Expect int64
	At     time.Time
}

// recorded returns a store whose table answers each Put by answer, and the calls it received.
func recorded(answer func(n int, item Item) error) (*Store, *[]call) {
	calls := &[]call{}
	return New(stubTable{
		putFunc: func(item Item, expect int64) error {
			*calls = append(*calls, call{item, expect, time.Now()})
			return answer(len(*calls), item)
		},
		notifyFunc: func(...Key) error { return nil },
	}), calls
}

// A write whose outcome is unknown is repeated identically until the table answers. H13 H48
func TestPut_UnknownOutcomeIsRepeatedIdentically_H13(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, calls := recorded(func(n int, _ Item) error {
			if n < 5 {
				return errReply
			}
			return nil
		})
		in := instanceIn(statemachine.Idle)
		out, err := s.Transition(t.Context(), in, transition(statemachine.Claim))
		if err != nil || out.Version != in.Version+1 {
			t.Fatalf("Transition() = v%d, %v, want v%d", out.Version, err, in.Version+1)
		}
		if len(*calls) != 5 {
			t.Fatalf("table was called %d times, want 5", len(*calls))
		}
		for _, c := range *calls {
			if c.Expect != in.Version {
				t.Errorf("expect = %d, want %d", c.Expect, in.Version)
			}
			if diff := cmp.Diff((*calls)[0].Item, c.Item); diff != "" {
				t.Errorf("repeated item (-first +this):\n%s", diff)
			}
		}
	})
}

// The table applied a write and its reply was lost: the conflict with ourselves is success, whatever
// order the table gives attributes back in. H13
func TestPut_ConflictWithItselfIsSuccess_H13(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, calls := recorded(func(n int, item Item) error {
			if n == 1 {
				return errReply
			}
			current := item
			current.Attributes = append([]byte("{ \n"), canonical(item.Attributes)[1:]...)
			return &ConflictError{Key: item.Key, Current: &current}
		})
		out, err := s.Transition(t.Context(), instanceIn(statemachine.Idle), transition(statemachine.Claim))
		if err != nil || out.State != statemachine.Claimed || len(*calls) != 2 {
			t.Errorf("Transition() = %s, %v after %d calls, want claimed after 2", out.State, err, len(*calls))
		}
	})
}

// S46: who finds that another wrote first learns it, also where the version is the one it would have written.
func TestPut_ConflictWithAnotherIsFinal(t *testing.T) {
	for _, tt := range []struct {
		name    string
		current func(Item) *Item
	}{
		{"Nothing", func(Item) *Item { return nil }},
		{"OtherVersion", func(i Item) *Item { i.Version++; return &i }},
		{"OtherExpiry", func(i Item) *Item { i.ExpiresAt = now; return &i }},
		{"OtherRunAtTheSameVersion", func(i Item) *Item {
			rival := instanceIn(statemachine.Idle)
			tr := transition(statemachine.Claim)
			tr.RunID = "rival"
			out, err := rival.After(tr)
			if err != nil {
				panic(err)
			}
			item, err := encode(&out, i.Version)
			if err != nil {
				panic(err)
			}
			return &item
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, calls := recorded(func(_ int, item Item) error {
				return &ConflictError{Key: item.Key, Current: tt.current(item)}
			})
			in := instanceIn(statemachine.Idle)
			out, err := s.Transition(t.Context(), in, transition(statemachine.Claim))
			if !errors.Is(err, ErrConflict) || len(*calls) != 1 {
				t.Errorf("Transition() error = %v after %d calls, want %v after 1", err, len(*calls), ErrConflict)
			}
			if diff := cmp.Diff(in, out); diff != "" {
				t.Errorf("Transition() with an error (-before +after):\n%s", diff)
			}
		})
	}
}

func TestPut_DefiniteErrorsAreNotRepeated(t *testing.T) {
	for _, want := range []error{ErrInvalid, ErrNotLeader, ErrRefused, ErrConflict} {
		s, calls := recorded(func(int, Item) error { return fmt.Errorf("table: %w", want) })
		_, err := s.Transition(t.Context(), instanceIn(statemachine.Idle), transition(statemachine.Claim))
		if !errors.Is(err, want) || len(*calls) != 1 {
			t.Errorf("Transition() error = %v after %d calls, want %v after 1", err, len(*calls), want)
		}
	}
}

// The try after leadership or permission was lost had no effect, but the one before may have been
// applied: who wrote must not take that for a definite no.
func TestPut_RefusalAfterAnUnknownOutcomeIsUnknown_H13(t *testing.T) {
	for _, refusal := range []error{ErrNotLeader, ErrRefused} {
		bubbletest.Run(t, func(t *testing.T) {
			s, calls := recorded(func(n int, _ Item) error {
				if n == 1 {
					return errReply
				}
				return refusal
			})
			_, err := s.Transition(t.Context(), instanceIn(statemachine.Idle), transition(statemachine.Claim))
			if !errors.Is(err, ErrUnavailable) || errors.Is(err, refusal) || len(*calls) != 2 {
				t.Errorf("Transition() error = %v after %d calls, want only %v after 2", err, len(*calls), ErrUnavailable)
			}
		})
	}
}

// While the table is down the write goes on, soon at first and never in a hurry, until its context
// ends; the error then says what it was waiting for.
func TestPut_RepeatsUntilTheContextEnds(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, calls := recorded(func(int, Item) error { return errReply })
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		err := s.Beat(ctx, "i-1", Beat{}, now)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrUnavailable) {
			t.Errorf("Beat() error = %v, want the deadline and %v", err, ErrUnavailable)
		}
		if took := time.Since(start); took != time.Hour {
			t.Errorf("gave up after %s, want 1h", took)
		}
		const spread = 1.5 // of the jitter
		last := start
		for i, c := range *calls {
			gap := c.At.Sub(last)
			last = c.At
			if limit := time.Duration(spread * float64(retryMax)); gap > limit {
				t.Errorf("pause before try %d = %s, want at most %s", i+1, gap, limit)
			}
			if limit := time.Duration(spread * float64(retryFirst)); i == 1 && gap > limit {
				t.Errorf("first pause = %s, want at most %s", gap, limit)
			}
		}
		if most := int(time.Hour / (retryMax / 4)); len(*calls) > most {
			t.Errorf("tried %d times in an hour, want at most %d", len(*calls), most)
		}
	})
}

func TestPut_IllegalRecordNeverReachesTheTable_S01(t *testing.T) {
	s, calls := recorded(func(int, Item) error { return nil })
	bad := instanceIn(statemachine.Running)
	bad.State = "hibernating"
	if _, err := s.SetRegistration(t.Context(), bad, Registration{}, now); !errors.Is(err, ErrInvalid) {
		t.Errorf("SetRegistration() error = %v, want %v", err, ErrInvalid)
	}
	if _, err := s.Register(t.Context(), Instance{Principal: "i-1", ID: "i-1", RunID: "1"}, now, 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("Register() without a limit: error = %v, want %v", err, ErrInvalid)
	}
	if _, err := s.Retire(t.Context(), instanceIn(statemachine.Idle), now, now); !errors.Is(err, ErrInvalid) {
		t.Errorf("Retire() of an idle instance: error = %v, want %v", err, ErrInvalid)
	}
	if len(*calls) != 0 {
		t.Errorf("table was called %d times, want 0", len(*calls))
	}
}

// Every transition is one write. S05 S06
func TestTransition_IsOneWrite_S05_S06(t *testing.T) {
	for _, r := range statemachine.Rules() {
		if r.From == statemachine.None {
			continue
		}
		s, calls := recorded(func(int, Item) error { return nil })
		if _, err := s.Transition(t.Context(), instanceIn(r.From), transition(r.On)); err != nil {
			t.Errorf("Transition(%s) error = %v", r.On, err)
		}
		if len(*calls) != 1 {
			t.Errorf("%s from %s took %d writes, want 1", r.On, r.From, len(*calls))
		}
	}
}

// A new record has its owner and its deadline from the first write on. S03
func TestRegister_S03(t *testing.T) {
	s, calls := recorded(func(int, Item) error { return nil })
	got, err := s.Register(t.Context(), Instance{Principal: "i-1", ID: "i-1", RunID: "1", Attempt: 2}, now, 10*time.Minute)
	if err != nil {
		t.Fatalf("Register() error = %v", err)
	}
	want := Instance{
		Principal: "i-1", ID: "i-1", RunID: "1", Attempt: 2, State: statemachine.Created, Assignment: 1, Version: 1,
		Threshold: At(now.Add(10 * time.Minute)), Since: At(now), CreatedAt: At(now), ChangedAt: At(now), History: "0 new 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Register() (-want +got):\n%s", diff)
	}
	if len(*calls) != 1 || (*calls)[0].Expect != 0 {
		t.Errorf("calls = %+v, want one that creates", *calls)
	}
}

// A lease that is written late is worth nothing: one try.
func TestPutLease_OneTry(t *testing.T) {
	s, calls := recorded(func(int, Item) error { return errReply })
	if _, err := s.PutLease(t.Context(), Lease{Holder: "a", Term: 1}); !errors.Is(err, ErrUnavailable) || len(*calls) != 1 {
		t.Errorf("PutLease() error = %v after %d calls, want %v after 1", err, len(*calls), ErrUnavailable)
	}
}

// A notification is a hint: what was written stays written when it fails, and no caller learns otherwise.
func TestNotify_FailureIsNoError(t *testing.T) {
	stored := Item{}
	table := oneItem(&stored)
	table.notifyFunc = func(...Key) error { return errReply }
	table.getFunc = func(...Key) ([]Item, error) {
		if stored.Version == 0 {
			return nil, nil
		}
		return []Item{stored}, nil
	}
	s := New(table)
	if _, err := s.Submit(t.Context(), RunRequest{ID: "1", Attempt: 1, Count: 1}); err != nil {
		t.Errorf("Submit() error = %v, want none", err)
	}
	if _, err := s.Release(t.Context(), "1", 1, ReleaseDrain); err != nil {
		t.Errorf("Release() error = %v, want none", err)
	}
	table.putFunc = func(Item, int64) error { return nil }
	s = New(table)
	if err := s.Signal(t.Context(), "i-1", SignalValue{Signal: RegOK}, now); err != nil {
		t.Errorf("Signal() error = %v, want none", err)
	}
	if err := s.OrderDrain(t.Context(), DrainOrder{ID: "d"}); err != nil {
		t.Errorf("OrderDrain() error = %v, want none", err)
	}
	if err := s.Notify(t.Context(), "1"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Notify() error = %v, want %v: who only notifies learns it", err, ErrUnavailable)
	}
}

// A patient store repeats a write of unknown outcome for its patience, and then returns ErrUnconfirmed. The worker reads the record before
// it writes again. A definite error stays definite.
func TestPut_PatienceEnds_Review_C9(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s, calls := recorded(func(int, Item) error { return errReply })
		s.patience = time.Second
		begun := time.Now()
		_, err := s.Transition(t.Context(), instanceIn(statemachine.Idle), transition(statemachine.Claim))
		if took := time.Since(begun); !errors.Is(err, ErrUnconfirmed) || !errors.Is(err, ErrUnavailable) || took < s.patience || took > 3*s.patience {
			t.Errorf("error %v after %s, want %v after about %s", err, took, ErrUnconfirmed, s.patience)
		}
		if len(*calls) < 3 {
			t.Errorf("table was called %d times, want some", len(*calls))
		}
		s, _ = recorded(func(n int, _ Item) error {
			if n < 3 {
				return errReply
			}
			return &ConflictError{Expect: 1}
		})
		s.patience = time.Second
		_, err = s.Transition(t.Context(), instanceIn(statemachine.Idle), transition(statemachine.Claim))
		if !errors.Is(err, ErrConflict) || errors.Is(err, ErrUnconfirmed) {
			t.Errorf("error %v, want a conflict", err)
		}
	})
}
