package timeline

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// A handshake begins with the release, or with the end of the job that the release waited for.
func TestReturned(t *testing.T) {
	for name, tt := range map[string]struct {
		history          []string
		handshake, scrub time.Duration
	}{
		"AtRest":       {[]string{"1 hand", "2 job", "9 job.", "10 rel drain", "13 clean", "14 pool"}, 4 * time.Second, 3 * time.Second},
		"WithAJob":     {[]string{"1 hand", "2 job", "10 rel drain", "70 job.", "73 clean", "74 pool"}, 4 * time.Second, 3 * time.Second},
		"TheLast":      {[]string{"1 rel now", "3 clean", "4 pool", "5 claim run-1", "6 back drain", "7 clean", "9 pool"}, 3 * time.Second, time.Second},
		"UnknownClean": {[]string{"1 rel now", "4 pool"}, 3 * time.Second, 0},
		"Dropped":      {[]string{"3 clean", "4 pool"}, 0, 0},
		"NotYet":       {[]string{"1 rel now", "3 clean"}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if handshake, scrub := Returned(instance(t, tt.history...)); handshake != tt.handshake || scrub != tt.scrub {
				t.Errorf("Returned(%v) = %s, %s, want %s, %s", tt.history, handshake, scrub, tt.handshake, tt.scrub)
			}
		})
	}
}

// A machine's first heartbeat and its signals are known to the controller alone until its next write.
func TestReported_TellsWhatNoWriteCarriedYet(t *testing.T) {
	beat := func(s float64) store.Vitals {
		return store.Vitals{Heartbeat: store.Heartbeat{UpdatedAt: store.At(after(s))}}
	}
	signal := func(s float64, v store.SignalValue) store.Vitals {
		out := beat(s)
		out.Signal = store.Signal{Value: v, UpdatedAt: store.At(after(s))}
		return out
	}
	says := func(name store.SignalName, run store.RequestID, script store.Seconds) store.SignalValue {
		return store.SignalValue{Signal: name, RunID: run, Assignment: 1, ScriptSeconds: script}
	}
	tests := []struct {
		name    string
		history []string
		vitals  store.Vitals
		want    string
	}{
		{"Silent", nil, store.Vitals{}, "accepted 1, launch 0.4, boot 98.6 open"},
		{"Speaks", nil, beat(99), "accepted 1, launch 0.4, boot+script 98.6 open"},
		{"ScriptPassed", nil, signal(40, says(store.ScriptOK, "run-1", 8)), "accepted 1, launch 0.4, boot 30.6, script 8, registration 60 open"},
		{"Online", nil, signal(40, says(store.RegOK, "run-1", 8)), "accepted 1, launch 0.4, boot+script+registration 38.6, hand-over 60 open"},
		{"OfAnotherRun", nil, signal(40, says(store.ScriptOK, "run-0", 8)), "accepted 1, launch 0.4, boot+script 98.6 open"},
		{"NotedSince", []string{"30 boot", "41 script"}, signal(40, says(store.ScriptOK, "run-1", 8)), "accepted 1, launch 0.4, boot 28.6, script 11, registration 59 open"},
	}
	st := status(t, "0 take 1", "1 ask 1 spot")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := instance(t, append([]string{"1.4 new run-1"}, tt.history...)...)
			in.State = statemachine.Created
			if got := text(Phases(st, Reported(in, tt.vitals), after(100))); got != tt.want {
				t.Errorf("phases %s, want %s", got, tt.want)
			}
		})
	}
	ended := instance(t, "1.4 new run-1", "20 end lost")
	ended.State = statemachine.Terminated
	if got := Reported(ended, beat(19)); got.History != ended.History {
		t.Errorf("history of one that ended: %q, want as it was", got.History)
	}
}
