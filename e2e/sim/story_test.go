package sim_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
)

// story is a run with two cold machines, and then one that gets them warm.
func story() sim.Script {
	return sim.Script{
		Seed: 1, Controllers: 2, Boot: 10 * time.Second, Idle: 45 * time.Second,
		Steps: []sim.Step{
			sim.Begin(0, sim.Workflow{ID: "100", Count: 2, Jobs: 2, Job: 5 * time.Second}),
			sim.Begin(50*time.Second, sim.Workflow{ID: "200", Count: 2, Jobs: 1, Job: 3 * time.Second}),
		},
	}
}

func TestStory(t *testing.T) {
	start := time.Now()
	r := sim.Run(t, story())
	sound(t, "the story", r)
	t.Logf("%+v in %s", r.Made, time.Since(start))
	r.Made = nil
	t.Logf("%+v", r)
}
