package reconciler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// When a script had passed is known although the report of that was replaced before it was read, and never lies in the future.
func TestNoteReports_ScriptWhoseReportWasReplaced(t *testing.T) {
	at := func(seconds int) time.Time { return dawn.Add(time.Duration(seconds) * time.Second) }
	for name, tt := range map[string]struct {
		took store.Seconds
		want time.Time
	}{"Early": {59, at(65)}, "Late": {90, at(70)}} {
		in := &instance{record: store.Instance{
			State: statemachine.Created, RunID: "100", Assignment: 1, CreatedAt: store.At(dawn), History: "0 new 100\n6000 boot",
		}}
		was := vitals{readAt: at(68), beat: store.Heartbeat{UpdatedAt: store.At(at(67))}}
		in.vitals = was
		in.vitals.signal.Value = store.SignalValue{Signal: store.RegOK, RunID: "100", Assignment: 1, ScriptSeconds: tt.took}
		in.noteReports(was, at(70))
		in.noteReports(in.vitals, at(72)) // told once
		want := noted{{At: tt.want, Code: store.CodeScript}, {At: at(70), Code: store.CodeOnline}}
		if diff := cmp.Diff(want, in.noted); diff != "" {
			t.Errorf("%s: noted (-want +got):\n%s", name, diff)
		}
	}
}
