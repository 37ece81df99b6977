//go:build unix

package actionsrunner_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/store"
)

// S15: each job that is over was let in or refused, or no one judged it. One that was cancelled before it had
// a worker, of which the listener says no end, ran nowhere.
func TestVerdicts_S15(t *testing.T) {
	const begins, ends = "say Running job: a", "say Job a completed with result: Canceled"
	for _, tt := range []struct {
		name              string
		mode              store.RegistrationMode
		tell              []string
		verdicts          string
		refused, unjudged int
	}{
		{"Admitted", store.JIT, []string{begins, ends, "exit 0"}, "admitted\n", 0, 0},
		{"Refused", store.JIT, []string{begins, ends, "exit 0"}, "refused\n", 1, 0},
		{"Neither", store.JIT, []string{begins, ends, "exit 0"}, "", 0, 1},
		{"NeitherWord", store.JIT, []string{begins, ends, "exit 0"}, "admit\n", 0, 1},
		{"BeforeItsWorker", store.JIT, []string{begins, "exit 0"}, "", 0, 0},
		{"ListenerFails", store.JIT, []string{begins, "exit 2"}, "", 0, 1},
		{"ListenerFailsLater", store.JIT, []string{begins, "exit 2"}, "admitted\n", 0, 0},
		{"SecondOfTwo", store.Token, []string{begins, ends, begins, ends, "exit 0"}, "admitted\n", 0, 1},
		{"NoJob", store.JIT, []string{"exit 0"}, "", 0, 0},
		{"EndOfNoJob", store.JIT, []string{ends, "exit 0"}, "", 0, 0}, // a name with a line of its own
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.options.Verdicts = filepath.Join(w.dir, "verdicts")
			w.write("verdicts", "admitted\nadmitted\n") // the last listener's
			l := w.start(tt.mode)
			if got := w.read("verdicts"); got != "" {
				t.Fatalf("verdicts before any job: %q", got)
			}
			w.write("verdicts", tt.verdicts)
			for _, line := range tt.tell {
				w.tell(line)
			}
			if st := w.want(l, agent.Exited); st.Refused != tt.refused || st.Unjudged != tt.unjudged {
				t.Errorf("status = %+v, want %d refused, %d unjudged", st, tt.refused, tt.unjudged)
			}
		})
	}
}

// S15 H49: the next agent holds the jobs of a listener that it adopts against the same verdicts.
func TestVerdicts_Adopted_S15_H49(t *testing.T) {
	w := newWorld(t)
	w.options.Verdicts = filepath.Join(w.dir, "verdicts")
	first := w.start(store.Token)
	for range 2 {
		w.tell("say Running job: a")
		w.tell("say Job a completed with result: Succeeded")
	}
	w.tell("say Running job: last")
	w.want(first, agent.Busy)
	ref := first.Ref()
	first.Detach()
	w.write("verdicts", "admitted\n")
	l, err := w.runner().Adopt(context.Background(), ref, "i-1-3")
	if err != nil || l == nil {
		t.Fatalf("Adopt = %v, %v; want the listener", l, err)
	}
	defer l.Detach()
	eventually(t, func() bool { return l.Status().Jobs == 3 }, func() string { return "not all of the output is read" })
	if st := l.Status(); st.Unjudged != 1 {
		t.Errorf("status = %+v, want one unjudged", st)
	}
}

// S15 H49: so it does with a listener that ended while there was no agent.
func TestVerdicts_EndedUnseen_S15_H49(t *testing.T) {
	for verdicts, want := range map[string]int{"": 1, "admitted\n": 0} {
		w := newWorld(t)
		w.options.Verdicts = filepath.Join(w.dir, "verdicts")
		first := w.start(store.JIT)
		w.tell("say Running job: a")
		w.want(first, agent.Busy)
		ref := first.Ref()
		first.Detach()
		w.write("verdicts", verdicts)
		w.tell("say Job a completed with result: Succeeded")
		w.tell("exit 0")
		w.gone(ref)
		l, err := w.runner().Adopt(context.Background(), ref, "i-1-3")
		if err != nil || (l != nil) != (want > 0) {
			t.Fatalf("Adopt after verdicts %q = %v, %v", verdicts, l, err)
		}
		if l == nil {
			continue
		}
		if st := l.Status(); st.State != agent.Exited || st.Unjudged != want {
			t.Errorf("status = %+v, want one unjudged", st)
		}
		if err := l.Stop(context.Background(), store.ReleaseDrain); err != nil {
			t.Error(err)
		}
		l.Detach()
	}
}
