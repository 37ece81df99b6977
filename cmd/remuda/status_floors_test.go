package main

import (
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// A floor has a line of its own, which says why it is short; one that is no longer configured has none.
func TestStatus_Floors(t *testing.T) {
	now := time.Now()
	st := memory(t, func(inner store.Table) store.Table { return inner })
	for _, f := range []store.Floor{
		{Class: "small", Wanted: 5, Have: 3, Reason: "cap", Detail: "no room", Since: store.At(now.Add(-time.Minute))},
		{Class: "large", Wanted: 1, Have: 1, Since: store.At(now)},
		{Class: "gone", ExpiresAt: time.Now().Add(time.Hour).Truncate(time.Second)},
	} {
		if _, err := st.PutFloor(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	v, err := readFleet(t.Context(), st, now, statemachine.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	text := renderFleet(v, false, sheet{})
	contains(t, text, "floor of large: 1 of 1 idle\nfloor of small: 3 of 5 idle, cap for 1m00s: no room\n")
	if strings.Contains(text, "gone") {
		t.Errorf("status shows a floor that is no longer configured:\n%s", text)
	}
}
