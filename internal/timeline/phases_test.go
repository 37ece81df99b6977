package timeline

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

var begun = store.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

func after(s float64) time.Time {
	return begun.Add(time.Duration(math.Round(s*1000)) * time.Millisecond)
}

// told writes a history of lines such as "1.2 boot": seconds, a code and perhaps a detail.
func told(t *testing.T, from store.Time, lines ...string) store.History {
	t.Helper()
	var h store.History
	for _, line := range lines {
		var at float64
		var code string
		if _, err := fmt.Sscan(line, &at, &code); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		_, rest, _ := strings.Cut(line, code)
		h = h.With(from, store.Entry{At: after(at), Code: store.Code(code), Detail: rest})
	}
	return h
}

func status(t *testing.T, lines ...string) store.RunStatus {
	t.Helper()
	return store.RunStatus{ID: "run-1", Attempt: 1, Phase: statemachine.Pending, PendingAt: begun, Counts: store.Counts{Wanted: 1}, History: told(t, begun, lines...)}
}

func instance(t *testing.T, lines ...string) store.Instance {
	t.Helper()
	created := store.At(after(-1000))
	return store.Instance{ID: "i-1", CreatedAt: created, State: statemachine.Running, RunID: "run-1", Attempt: 1, Assignment: 1, History: told(t, created, lines...)}
}

func text(phases []Phase) string {
	parts := make([]string, len(phases))
	for i, p := range phases {
		parts[i] = fmt.Sprintf("%s %g", p.Name, p.Seconds)
		if p.Outcome != Done {
			parts[i] += " " + string(p.Outcome)
		}
	}
	return strings.Join(parts, ", ")
}

func TestPhases(t *testing.T) {
	ready := func(st store.RunStatus) store.RunStatus { st.ReadyAt = store.At(after(38)); return st }
	tests := []struct {
		name, why string
		st        store.RunStatus
		in        store.Instance
		want      string
	}{
		{"Cold", "each phase ends where the next begins",
			status(t, "0 take 1", "0.2 ask 1 spot"),
			instance(t, "1.4 new run-1", "32.4 boot", "32.5 reg", "34.4 script", "37 on", "38 hand", "40 job"),
			"accepted 0.2, launch 1.2, boot 31, script 2, registration 2.6, hand-over 1"},
		{"NotedLater", "an entry that stands behind a later one counts at its own instant",
			status(t, "0 take 1", "0.2 ask 1 spot"),
			instance(t, "1.4 new run-1", "37 on", "32.4 boot", "34.4 script", "38 hand"),
			"accepted 0.2, launch 1.2, boot 31, script 2, registration 2.6, hand-over 1"},
		{"MissingCodes", "phases between which no instant is known are one",
			status(t, "0 take 1"),
			instance(t, "1.4 new run-1", "34.4 script", "38 hand"),
			"accepted+launch 1.4, boot+script 33, registration+hand-over 3.6"},
		{"Warm", "it was claimed, and registered anew",
			status(t, "0 take 1"),
			instance(t, "-900 new other", "-870 boot", "-860 on", "-850 hand", "-100 rel drain", "-95 clean", "-94 pool", "0.1 claim run-1", "2.8 reg", "4.1 on", "4.2 hand"),
			"claimed 0.1, registration 4, hand-over 0.1"},
		{"GivenBackMeanwhile", "its last run ended while this request waited",
			status(t, "0 take 1"),
			instance(t, "-900 new other", "-850 hand", "5 rel drain", "9 clean", "9 pool", "9.5 claim run-1", "12 on", "12 hand"),
			"accepted 5, handshake 4, claimed 0.5, registration 2.5, hand-over 0"},
		{"HandshakeBegan", "its last run had ended before",
			status(t, "0 take 1"),
			instance(t, "-900 new other", "-850 hand", "-2 rel drain", "3 pool", "3.5 claim run-1", "6 on", "6 hand"),
			"handshake 3, claimed 0.5, registration 2.5, hand-over 0"},
		{"Boots", "the phase that lasts ends now",
			status(t, "0 take 1", "0.2 ask 1 spot"),
			instance(t, "1 new run-1"),
			"accepted 0.2, launch 0.8, boot 99 open"},
		{"Rejected", "the phase in which it was lost failed",
			status(t, "0 take 1", "0.2 ask 1 spot"),
			instance(t, "1 new run-1", "20 boot", "50 script!", "50.5 end rejected pre-runner script failed"),
			"accepted 0.2, launch 0.8, boot 19, script 30.5 failed"},
		{"GivenBack", "the request failed before it was complete",
			status(t, "0 take 1"),
			instance(t, "-900 new other", "-94 pool", "1 claim run-1", "3 on", "60 back drain"),
			"claimed 1, registration 2, hand-over 57 failed"},
		{"SecondSpell", "the last one for the request counts",
			status(t, "0 take 1"),
			instance(t, "-900 new run-1", "-850 hand", "-100 rel drain", "-94 pool", "1 claim run-1", "3 on", "3 hand"),
			"claimed 1, registration 2, hand-over 0"},
		{"AnOlderAttempts", "what was over before this attempt began is none of its", status(t, "0 take 1"),
			instance(t, "-900 new run-1", "-850 hand", "-100 rel drain", "-94 pool"), ""},
		{"OfAnOlderAttempt", "it was on its way out while this attempt waited", status(t, "0 take 1"),
			instance(t, "-20 new run-1", "-10 boot", "30 back drain"), ""},
		{"AnothersMachine", "it never was this request's", status(t, "0 take 1"), instance(t, "1 new run-2"), ""},
		{"TakenOver", "what it passed before this attempt took it took no time of its",
			status(t, "0 take 1"), instance(t, "-40 new run-1", "-10 boot", "3 script", "5 on", "6 hand"),
			"script 3, registration 2, hand-over 1"},
		{"Truncated", "the beginning of the spell was dropped", status(t, "0 take 1"),
			instance(t, "4 on", "5 hand", "6 job"), "accepted+launch+boot+script+registration 4, hand-over 1"},
		{"Refilled", "a seat that was lost after Ready is waited for since then",
			ready(status(t, "0 take 1", "0.1 ask 1 spot", "38 ready", "60 lost i-0 gone", "60.5 ask 1 spot")),
			instance(t, "62 new run-1", "72 boot", "73 script", "75 on", "75 hand"),
			"accepted 0.5, launch 1.5, boot 10, script 1, registration 2, hand-over 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := text(Phases(test.st, test.in, after(100))); got != test.want {
				t.Errorf("%s:\n got %s\nwant %s", test.why, got, test.want)
			}
		})
	}
}

// An id may be longer than the detail of an entry.
func TestPhases_OfALongID(t *testing.T) {
	st, in := status(t, "0 take 1"), instance(t)
	st.ID = store.RequestID(strings.Repeat("a", 100))
	in.History = in.History.With(in.CreatedAt, store.Entry{At: after(1), Code: store.CodeLaunched, Detail: string(st.ID)})
	if got, want := text(Phases(st, in, after(3))), "accepted+launch 1, boot 2 open"; got != want {
		t.Errorf("phases = %s, want %s", got, want)
	}
}

func TestSlow_IsReadAgain(t *testing.T) {
	phases := Phases(status(t, "0 take 1", "0.2 ask 1 spot"),
		instance(t, "1.4 new run-1", "34.4 script", "37 on", "38 hand"), after(100))
	detail := Slow("i-0123456789abcdef0", phases)
	if want := "i-0123456789abcdef0 a200 l1200 bs33000 r2600 h1000"; detail != want {
		t.Fatalf("Slow() = %q, want %q", detail, want)
	}
	id, got := readSlow(store.Entry{At: after(38), Code: store.CodePhases, Detail: detail})
	if id != "i-0123456789abcdef0" || text(got) != text(phases) || !got[0].From.Equal(begun) {
		t.Errorf("read as %s: %s from %s", id, text(got), got[0].From)
	}
}

// What does not fit is left out as a whole: a number that lost its last digits would be another.
func TestSlow_LeavesTheShortestOut(t *testing.T) {
	phases := Phases(status(t, "0 take 1", "0.2 ask 1 spot"),
		instance(t, "10.4 new run-1", "130.4 boot", "232.4 script", "337 on", "348 hand"), after(1000))
	detail := Slow("i-0123456789abcdef0-and-more", phases)
	if want := "i-0123456789abcdef0-and-more b120000 s102000 r104600 h11000"; detail != want || len(detail) > maxSlow {
		t.Errorf("Slow() = %q, want %q", detail, want)
	}
}

func TestReadyLast_IsTheOneThatTheOthersWaitedFor(t *testing.T) {
	st := status(t, "0 take 2")
	warm, cold := instance(t, "-94 pool", "1 claim run-1", "3 on", "38 hand"), instance(t, "1 new run-1", "32 boot", "34 script", "37 on", "38 hand")
	warm.ID = "i-warm"
	for _, seats := range [][]store.Instance{{warm, cold}, {cold, warm}} {
		if id, phases := ReadyLast(st, seats, after(38)); id != "i-1" || len(phases) != 5 {
			t.Errorf("ReadyLast() = %s: %s, want the cold one", id, text(phases))
		}
	}
	if id, phases := ReadyLast(st, nil, after(38)); id != "" || phases != nil {
		t.Errorf("ReadyLast() of none = %s: %v", id, phases)
	}
}
