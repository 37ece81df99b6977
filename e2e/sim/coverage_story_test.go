package sim_test

import (
	"slices"
	"testing"

	"github.com/remuda-run/remuda/e2e/sim"
)

// A story tells which edges of the tables it went along, by what event, and in which orders its processes wrote.
func TestCoverage_OfAStory(t *testing.T) {
	r := sim.Run(t, story()) // four seats for two runs, on the two machines of the first
	for edge, want := range map[sim.Edge]int{
		{Table: "Instance", From: "", On: "launched", To: "created"}:            2,
		{Table: "Instance", From: "created", On: "handed over", To: "running"}:  2,
		{Table: "Instance", From: "running", On: "released", To: "idle"}:        4,
		{Table: "Instance", From: "idle", On: "pooled", To: "idle"}:             4,
		{Table: "Instance", From: "idle", On: "claimed", To: "claimed"}:         2,
		{Table: "Instance", From: "idle", On: "expired", To: "terminated"}:      2,
		{Table: "RunStatus", From: "", On: "accepted", To: "Pending"}:           2,
		{Table: "RunStatus", From: "Pending", On: "fulfilled", To: "Ready"}:     2,
		{Table: "RunStatus", From: "Ready", On: "finished", To: "Released"}:     2,
		{Table: "Instance", From: "running", On: "lost", To: "terminated"}:      0,
		{Table: "Instance", From: "created", On: "dismissed", To: "terminated"}: 0,
	} {
		if got := r.Coverage.Edges[edge]; got != want {
			t.Errorf("%s: %d times, want %d", edge, got, want)
		}
	}
	for e := range r.Coverage.Edges {
		if !slices.Contains(sim.Edges(), e) {
			t.Errorf("%s is of no table", e)
		}
	}
	claimed := sim.Order{
		First: sim.Write{Role: sim.Controller, What: "Instance:claimed+registration"},
		Then:  sim.Write{Role: sim.Agent, What: "WS:UD_REG_OK"},
	}
	if r.Coverage.Orders[claimed] == 0 || r.Coverage.Orders[claimed.Back()] != 0 {
		t.Errorf("orders %v, want %s among them, and not the other way round", r.Coverage.Orders, claimed)
	}
}
