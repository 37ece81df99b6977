package store

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/statemachine"
)

// anyHistory leaves histories out of a comparison: TestTransition_WritesItsHistory and TestPutStatus_WritesItsHistory look at them.
var anyHistory = cmp.Comparer(func(a, b History) bool { return true })

func TestHistory_EntriesAreThoseWritten(t *testing.T) {
	begun := At(now)
	h := History("").
		With(begun, Entry{now, CodeLaunched, "4711"}).
		With(begun, Entry{now.Add(31 * time.Second), CodeBooted, ""}).
		With(begun, Entry{now.Add(-time.Second), CodeEnded, "rejected  script\nfailed"}) // another clock, and text of others
	if want := History("0 new 4711\n31000 boot\n0 end rejected script failed"); h != want {
		t.Fatalf("history = %q, want %q", h, want)
	}
	want := []Entry{{begun.Time, CodeLaunched, "4711"}, {begun.Add(31 * time.Second), CodeBooted, ""}, {begun.Time, CodeEnded, "rejected script failed"}}
	if diff := cmp.Diff(want, h.Entries(begun)); diff != "" {
		t.Errorf("Entries() (-want +got):\n%s", diff)
	}
}

func TestHistory_ALineThatIsNoneIsLeftOut(t *testing.T) {
	got := History("x\n\n-1 boot\n5 \n7 on").Entries(At(now))
	if want := []Entry{{At(now).Add(7 * time.Millisecond), CodeOnline, ""}}; !cmp.Equal(want, got) {
		t.Errorf("Entries() = %v, want %v", got, want)
	}
}

// Whatever is added, a history stays within its bounds, is valid, ends with what was added last, and keeps as much as fits.
func TestHistory_IsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begun, at, h := At(now), now, History("")
		for range rapid.IntRange(1, 100).Draw(t, "entries") {
			at = at.Add(time.Duration(rapid.IntRange(1, 1e9).Draw(t, "ms")) * time.Millisecond)
			before := len(h.lines())
			e := Entry{at, CodeJobBegan, rapid.StringN(0, 200, 400).Draw(t, "detail")}
			h = h.With(begun, e)
			lines := h.lines()
			if again := h.With(begun, e); again != h {
				t.Fatalf("the same entry is there twice:\n%s", again)
			}
			if err := h.validate(); err != nil || len(lines) > MaxHistory || len(h.Entries(begun)) != len(lines) {
				t.Fatalf("%d lines, %d read, %v: %q", len(lines), len(h.Entries(begun)), err, h)
			}
			if last := h.Entries(begun)[len(lines)-1]; !last.At.Equal(at) || last.Code != CodeJobBegan {
				t.Fatalf("last entry is %v, want one at %s", last, at)
			}
			if dropped := before + 1 - len(lines); dropped > 0 && len(lines) < MaxHistory && len(h)+4*historyText < historySize {
				t.Fatalf("%d entries were dropped, and %d bytes are left", dropped, historySize-len(h))
			}
		}
	})
}

// Every event of the table but a renewal is told, in the write that makes it happen.
func TestTransition_WritesItsHistory(t *testing.T) {
	for _, rule := range statemachine.Rules() {
		if rule.From == statemachine.None {
			continue
		}
		in := instanceIn(rule.From)
		if rule.On == statemachine.Claim {
			in.PooledAt = in.Since
		}
		out, err := in.After(Transition{Event: rule.On, Now: now, Limit: time.Minute, RunID: "4711", Attempt: 1, Release: ReleaseDrain, Reason: "why"})
		if err != nil {
			t.Fatalf("%s in %s: %v", rule.On, rule.From, err)
		}
		told := strings.Count(string(out.History), "\n") + 1
		if out.History == "" {
			told = 0
		}
		if want := map[bool]int{true: 0, false: 1}[rule.On == statemachine.Renewed]; told != want {
			t.Errorf("%s in %s wrote %q", rule.On, rule.From, out.History)
		}
	}
}

// An attempt's history begins with it, and tells each change of phase.
func TestPutStatus_WritesItsHistory(t *testing.T) {
	s, _ := recorded(func(int, Item) error { return nil })
	st := RunStatus{ID: "1", Attempt: 2, Phase: statemachine.Failed, Counts: Counts{Wanted: 5}, History: "7 take 3", ReasonSince: At(now)}
	for i, event := range []statemachine.RequestEvent{statemachine.Accept, statemachine.Observe, statemachine.Fulfil, statemachine.Finish} {
		var err error
		if event == statemachine.Finish {
			st.Reason = "released"
		}
		if st, err = s.PutStatus(t.Context(), st, event, now.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatalf("PutStatus(%s) error = %v", event, err)
		}
		if waits := !st.ReasonSince.IsZero(); waits != (st.Phase == statemachine.Pending) {
			t.Errorf("after %s, in phase %s, it waits: %t", event, st.Phase, waits)
		}
	}
	if want := History("0 take 5\n2000 ready\n3000 over released"); st.History != want {
		t.Errorf("history = %q, want %q", st.History, want)
	}
}
