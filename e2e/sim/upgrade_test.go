package sim_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
)

// takenOver is a story that begins with what commit e997646 left. Machines 1 and 2 lie in the pool, as do 7, which an order
// names that no controller had looked at, and 8, which is younger than an order for its class. 3 and 5 run for 200, 4 was
// claimed for 450, 9 and a were launched for 300, of which one listens, the launch for 400 was intended, and 500 had only just
// asked. The clients that wait or hold something go on, and others ask.
func takenOver(t *testing.T) sim.Script {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "e997646", "installation.json"))
	check(t, err)
	const job = 5 * time.Second
	return sim.Script{
		Seed: 1, Controllers: 2, Boot: 10 * time.Second, Idle: 20 * time.Minute, // as there
		Inherited: sim.Inherited{Text: text},
		Steps: []sim.Step{
			sim.Begin(0, sim.Workflow{ID: "200", Count: 2, Jobs: 4, Job: 2 * job, Hold: 2 * time.Minute}),
			sim.Begin(0, sim.Workflow{ID: "300", Count: 2, Types: []string{"m5.*"}, Jobs: 2, Job: job}),
			sim.Begin(0, sim.Workflow{ID: "400", Count: 1, Types: []string{"r6i.*"}, Jobs: 1, Job: job}),
			sim.Begin(0, sim.Workflow{ID: "450", Count: 1, Types: []string{"c6i.large"}, Jobs: 1, Job: job}),
			sim.Begin(0, sim.Workflow{ID: "500", Count: 1, Class: "large", Types: []string{"c6i.xlarge"}, Jobs: 1, Job: job}),
			sim.Begin(time.Second, sim.Workflow{ID: "600", Count: 2, Types: []string{"c6i.large"}, Jobs: 2, Job: job, Hold: 3 * time.Minute}),
			sim.Begin(6*time.Minute, sim.Workflow{ID: "700", Count: 5, Types: []string{"c6i.large"}, Jobs: 5, Job: job}),
		},
	}
}

// An installation whose records and agents' state files e997646 wrote goes on: who waits is answered, who holds machines keeps
// them until they are given back, what lies in the pool is claimed before anything is launched, old drain orders dismiss what
// they did, and all of it ends. So does one whose every other record has fields of a later version besides.
func TestUpgrade_RecordsOfAnEarlierVersion(t *testing.T) {
	for _, listening := range []bool{false, true} {
		for _, later := range []bool{false, true} {
			t.Run(fmt.Sprintf("listening=%t,later=%t", listening, later), func(t *testing.T) {
				var story bytes.Buffer
				o := takenOver(t)
				o.Inherited.Listening, o.Later, o.Story = listening, later, &story
				r := sim.Run(t, o)
				sound(t, "taken over", r)
				for _, want := range []string{
					"request 300/1 Ready: i-9 i-a", "request 400/1 Ready: i-b", "request 450/1 Ready: i-4", "request 500/1 Ready: i-8",
					"request 600/1 Ready: i-1 i-2", "request 700/1 Ready: i-1 i-2 i-3 i-4 i-5",
					"i-7 idle -> terminated: dismissed", "request 200/1 Released",
				} {
					if !bytes.Contains(story.Bytes(), []byte(" "+want+"\n")) {
						t.Errorf("the story does not tell: %s", want)
					}
				}
				const requests, jobs, machines = 6, 16, 11 // answered; all; 10 were there
				if r.Ready != requests || r.Failed != 0 || r.Jobs != jobs || r.Launched != machines {
					t.Errorf("Ready, Failed, Jobs, Launched = %d, %d, %d, %d, want %d, 0, %d, %d", r.Ready, r.Failed, r.Jobs, r.Launched, requests, jobs, machines)
				}
				if t.Failed() {
					t.Log(story.String())
				}
			})
		}
	}
}
