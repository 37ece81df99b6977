package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
)

// Every state meets every event: either the table has a row and the record is exactly what the row
// means, or nothing changes. S05 S06 S12 S19
func TestInstance_After_EveryStateAndEvent(t *testing.T) {
	for _, s := range append([]statemachine.State{statemachine.None}, statemachine.States()...) {
		for _, e := range statemachine.Events() {
			t.Run(fmt.Sprintf("%s/%s", s, e), func(t *testing.T) {
				in := instanceIn(s)
				got, err := in.After(transition(e))
				next, noRule := statemachine.Next(s, e)
				switch {
				case noRule != nil:
					if !errors.Is(err, statemachine.ErrNoRule) {
						t.Errorf("After() error = %v, want %v", err, statemachine.ErrNoRule)
					}
				case s == statemachine.None: // a first record is made by Register
					if !errors.Is(err, ErrExpired) {
						t.Errorf("After() error = %v, want %v", err, ErrExpired)
					}
				default:
					if err != nil {
						t.Fatalf("After() error = %v, want none", err)
					}
					if diff := cmp.Diff(wantAfter(in, e, next), got, anyHistory); diff != "" {
						t.Errorf("After() (-want +got):\n%s", diff)
					}
					if err := got.validate(); err != nil {
						t.Errorf("After() makes an illegal record: %v", err)
					}
					return
				}
				if diff := cmp.Diff(in, got); diff != "" {
					t.Errorf("After() with an error (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// wantAfter spells out the table of docs/statemachine.md for one legal event.
func wantAfter(in Instance, e statemachine.Event, next statemachine.State) Instance {
	tr := transition(e)
	want := in
	want.State, want.ChangedAt = next, At(now)
	switch {
	case e == statemachine.Claim:
		want.RunID, want.Attempt, want.Release = tr.RunID, tr.Attempt, ""
	case e == statemachine.Unclaimed || e == statemachine.Released:
		want.RunID, want.Attempt, want.Release = "", 0, tr.Release
	case next == statemachine.Terminated:
		want.RunID, want.Attempt = "", 0
		want.Reason, want.Detail = tr.Reason, tr.Detail
		want.PooledAt = Time{}
	}
	want.Threshold = At(now.Add(tr.Limit))
	if next == statemachine.Terminated {
		want.Threshold = Time{}
	}
	if want.RunID != in.RunID {
		want.Assignment++
		want.PooledAt = Time{}
	}
	if e == statemachine.Pooled {
		want.PooledAt = At(now)
	}
	if want.State != in.State || want.Assignment != in.Assignment {
		want.Since = At(now)
	}
	if e != statemachine.Renewed {
		want.Registration.Secret = ""
	}
	return want
}

// Only an unexpired instance may move on, and the threshold itself has passed; but any may end. S24 S25
func TestInstance_After_Threshold_S24(t *testing.T) {
	for _, r := range statemachine.Rules() {
		if r.From == statemachine.None {
			continue
		}
		for _, tt := range []struct {
			name   string
			offset time.Duration
			live   bool
		}{
			{"OneMillisecondLeft", time.Millisecond, true},
			{"Exactly", 0, false},
			{"OneMillisecondPast", -time.Millisecond, false},
			{"LongPast", -time.Hour, false},
		} {
			t.Run(fmt.Sprintf("%s/%s/%s", r.From, r.On, tt.name), func(t *testing.T) {
				in := instanceIn(r.From)
				in.Threshold = At(now.Add(tt.offset))
				got, err := in.After(transition(r.On))
				if tt.live || r.To == statemachine.Terminated {
					if err != nil {
						t.Errorf("After() error = %v, want none", err)
					}
					return
				}
				if !errors.Is(err, ErrExpired) || got.State != in.State {
					t.Errorf("After() = %s, %v, want %v", got.State, err, ErrExpired)
				}
			})
		}
	}
}

func TestInstance_After_Refuses(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		from         statemachine.State
		event        statemachine.Event
		spoil        func(*Instance, *Transition)
	}{
		{"ClaimUnpooled_S82", "its release handshake is not complete", statemachine.Idle, statemachine.Claim,
			func(in *Instance, _ *Transition) { in.PooledAt = Time{} }},
		{"ClaimForNobody_S13", "an owner is always named", statemachine.Idle, statemachine.Claim,
			func(_ *Instance, tr *Transition) { tr.RunID = "" }},
		{"NoLimit_S19", "zero is not forever", statemachine.Created, statemachine.HandedOver,
			func(_ *Instance, tr *Transition) { tr.Limit = 0 }},
		{"NegativeLimit_S19", "a state is never entered expired", statemachine.Running, statemachine.Released,
			func(_ *Instance, tr *Transition) { tr.Limit = -time.Second }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, tr := instanceIn(tt.from), transition(tt.event)
			tt.spoil(&in, &tr)
			got, err := in.After(tr)
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("After(%s) error = %v, want %v: %s", tt.event, err, ErrInvalid, tt.reason)
			}
			if diff := cmp.Diff(in, got); diff != "" {
				t.Errorf("After(%s) with an error (-before +after):\n%s", tt.event, diff)
			}
		})
	}
}

// What failed is described by its end, in a form that any back end gives back as it was.
func TestInstance_After_DetailIsTheEndAsText(t *testing.T) {
	for _, tt := range []struct{ name, detail, want string }{
		{"Short", "exit status 1", "exit status 1"},
		{"Longest", strings.Repeat("x", MaxDetail), strings.Repeat("x", MaxDetail)},
		{"TooLong", "start" + strings.Repeat("x", MaxDetail), strings.Repeat("x", MaxDetail)},
		{"CutInsideACharacter", "é" + strings.Repeat("x", MaxDetail-1), strings.Repeat("x", MaxDetail-1)},
		{"NoText", "\xff\xfe" + strings.Repeat("y", MaxDetail-2), "?" + strings.Repeat("y", MaxDetail-2)},
		{"OnlyContinuations", strings.Repeat("\x80", 2*MaxDetail), ""},
		{"BytesAndText", "a\xc3\x28b\x00c", "a?(b\x00c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := instanceIn(statemachine.Running)
			out, err := in.After(Transition{Event: statemachine.Rejected, Now: now, Reason: "r", Detail: tt.detail})
			if err != nil {
				t.Fatalf("After() error = %v", err)
			}
			if out.Detail != tt.want || !utf8.ValidString(out.Detail) {
				t.Errorf("detail = %.20q… (%d bytes), want %.20q… (%d)", out.Detail, len(out.Detail), tt.want, len(tt.want))
			}
			item, err := encode(&out, 1)
			if err != nil {
				t.Fatalf("encode() error = %v", err)
			}
			var back Instance
			if err := decode(item, &back); err != nil {
				t.Fatalf("decode() error = %v", err)
			}
			if back.Detail != out.Detail {
				t.Errorf("detail read back = %q, want %q", back.Detail, out.Detail)
			}
		})
	}
}

// H43: no secret outlives the assignment it was made for, nor the handover at which it was used. invariant 10
func TestInstance_After_SecretNeverReachesTheNextOwner_H43(t *testing.T) {
	for _, r := range statemachine.Rules() {
		if !r.From.Owned() || r.On == statemachine.Renewed {
			continue
		}
		out, err := instanceIn(r.From).After(transition(r.On))
		if err != nil {
			t.Fatalf("After(%s) error = %v", r.On, err)
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"secret":"secret"`) {
			t.Errorf("%s from %s keeps the registration's secret", r.On, r.From)
		}
	}
}

// S19: a state's time is what the limits give it, unless the transition brings its own.
func TestAfter_LimitOfTheNewState_S19(t *testing.T) {
	limits := statemachine.DefaultLimits()
	for _, r := range statemachine.Rules() {
		if r.From == statemachine.None || r.To == statemachine.Terminated {
			continue
		}
		tr := transition(r.On)
		for _, own := range []time.Duration{0, time.Hour} {
			tr.Limits, tr.Limit = limits, own
			out, err := instanceIn(r.From).After(tr)
			limit := own
			if own == 0 {
				limit = limits.For(r.To)
			}
			if want := At(tr.Now.Add(limit)); err != nil || !out.Threshold.Equal(want) {
				t.Errorf("%s of %s with %s of its own: threshold %s, %v, want %s", r.On, r.From, own, out.Threshold, err, want)
			}
		}
	}
}
