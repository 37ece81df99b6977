package sim

import (
	"strconv"
	"time"

	"github.com/remuda-run/remuda/store"
)

// KillsPerStory is how often Kills kills.
const KillsPerStory = 50

// killEvery is between two kills: a successor, a claim, a job, and the way back to the pool fit in.
const killEvery = 15 * time.Second

// Kills returns a story in which the controller that leads is killed again and again while warm machines wait
// and requests come: at times just before the kill, at times just after. Nothing else goes wrong.
func Kills(seed uint64) Script {
	d := dice{seed: seed, unit: 1}
	o := Script{Seed: seed, Controllers: 2, Boot: 10 * time.Second, Idle: 20 * time.Minute, Skew: time.Minute, Mode: string(store.JIT)}
	const machines = 4
	o.Steps = append(o.Steps, Begin(0, Workflow{ID: "100", Count: machines}))
	for i := range KillsPerStory {
		at := time.Minute + time.Duration(i)*killEvery + d.of("kill", i).between(0, time.Second)
		o.Steps = append(o.Steps,
			Begin(at+d.of("ask", i).between(-500*time.Millisecond, time.Second), Workflow{
				ID: strconv.Itoa(1000 + i), Count: 1 + d.of("count", i).below(machines/2), Jobs: 1, Job: time.Second,
			}),
			Kill(at, string(Controller)))
	}
	o.Steps = inOrder(o.Steps)
	return o
}
