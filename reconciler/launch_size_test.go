package reconciler

import (
	"testing"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// One launch asks for a thousand machines at most, for the oldest requests first; a request that gets only a part of what
// it wants, or nothing, wants the rest of the next.
func TestAffordable_AtMostAThousandPerLaunch(t *testing.T) {
	cfg := Defaults()
	cfg.MaxInstances = 10_000
	term := &term{view: newView(), batch: newBatch(), cfg: cfg}
	var wants []want
	for i, id := range []string{"old", "middle", "young"} {
		term.view.applyRun(store.RequestID(id), store.RunRecords{
			Request: &store.RunRequest{ID: store.RequestID(id), Attempt: 1, Count: 600, Version: 1},
			Status:  &store.RunStatus{ID: store.RequestID(id), Attempt: 1, Phase: statemachine.Pending, Version: 1},
		}, dawn)
		w := inLine(id, i, 600, small())
		wants = append(wants, want{id: w.id, attempt: 1, count: 600, since: w.since, query: w.query})
	}
	asked := term.affordable(wants)
	if len(asked) != 2 || asked[0].id != "old" || asked[0].count != 600 || asked[1].id != "middle" || asked[1].count != 400 {
		t.Errorf("affordable() = %+v, want 600 for old and 400 for middle", asked)
	}
}
