package sim

import (
	"cmp"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/store"
)

// Story is a script without faults whose every call is tried with every fault.
type Story struct {
	Name string
	Script

	// Excused says that machines of this story may end before their time, or come and go: it is about that.
	Excused bool
}

// soonOver is the max runtime of runs in stories that are told thousands of times: some minutes more than their jobs
// take, faults included, and less than the half hour of the default, which nobody who forgets a run has to wait for.
const soonOver = 3 * time.Minute

// Stories go through every state and every edge of the tables.
func Stories() []Story {
	base := Script{Seed: 1, Controllers: 2, Boot: 10 * time.Second, Idle: 45 * time.Second, Tempo: Tempo{IdlePoll: time.Second, Runners: time.Minute}}
	told := func(name string, excused bool, change func(*Script), steps ...Step) Story {
		s := base
		for _, step := range steps {
			if f, ok := step.Act.(Workflow); ok {
				f.Max = cmp.Or(f.Max, soonOver)
				step = Begin(step.At, f)
			}
			s.Steps = append(s.Steps, step)
		}
		if change != nil {
			change(&s)
		}
		return Story{name, s, excused}
	}
	two := Workflow{ID: "100", Count: 2, Jobs: 2, Job: 5 * time.Second}
	warm := Workflow{ID: "200", Count: 2, Jobs: 1, Job: 3 * time.Second}
	return []Story{
		told("cold, then warm", false, nil, Begin(0, two), Begin(50*time.Second, warm)),
		told("by a token", false, func(s *Script) { s.Mode = string(store.Token) }, Begin(0, two), Begin(50*time.Second, warm)),
		told("cancelled while it waits", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: time.Second, CancelAfter: 8 * time.Second}), Begin(20*time.Second, warm)),
		told("cancelled while its jobs run", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 2, Job: time.Minute, CancelAfter: 30 * time.Second}), Begin(50*time.Second, warm)),
		told("its client vanishes", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, VanishAfter: 5 * time.Second}), Begin(80*time.Second, warm)),
		told("a seat is lost", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: 30 * time.Second, Hold: 70 * time.Second}), Reclaim(30*time.Second, 1)),
		told("the older comes first", true, func(s *Script) { s.Largest = 3 },
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 2, Job: 20 * time.Second}),
			Begin(2*time.Second, Workflow{ID: "200", Count: 2, Jobs: 2, Job: 5 * time.Second}),
			Begin(3*time.Second, Workflow{ID: "300", Count: 1, Jobs: 1, Job: 5 * time.Second})),
		told("no spot to be had", false, func(s *Script) {},
			Capacity(0, fleet.Slot{UsageClass: store.Spot}, 1),
			Begin(time.Second, Workflow{ID: "100", Count: 2, Jobs: 2, Job: 5 * time.Second, Usage: []string{store.Spot, store.OnDemand}})),
		told("nobody gives back", false, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: 5 * time.Second, Forgets: true, Max: 90 * time.Second})),
		told("run again", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: 10 * time.Second, Hold: time.Minute, Forgets: true}),
			Begin(40*time.Second, Workflow{ID: "100", Attempt: 2, Count: 2, Jobs: 1, Job: 5 * time.Second})),
		told("drained by order", true, nil,
			Begin(0, two), Drain(45*time.Second, store.DrainOrder{ID: "all", ResourceClass: "small"})),
		told("notice of the end", true, nil,
			Begin(0, two), Notice(45*time.Second, 1), Begin(55*time.Second, warm)),
		told("half of it in time", true, nil,
			Begin(0, Workflow{ID: "100", Count: 1, Jobs: 1, Job: time.Second}), Capacity(25*time.Second, fleet.Slot{}, 1),
			Begin(30*time.Second, Workflow{ID: "200", Count: 2, Timeout: 25 * time.Second})),
		told("lost while claimed", true, nil,
			Begin(0, two), Begin(50*time.Second, warm), Reclaim(50100*time.Millisecond, 1)),
		told("cancelled before its runner is known", true, func(s *Script) { s.Mode = string(store.Token) },
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: time.Second, CancelAfter: 11 * time.Second})),
		told("another template", true, nil,
			Begin(0, two), Template(40*time.Second, "2"), Begin(80*time.Second, warm)),
		told("room comes back", true, nil,
			step(0, scarce{N: 0, span: span{time.Minute}}), Begin(time.Second, Workflow{ID: "100", Count: 2, Jobs: 1, Job: time.Second})),
		told("run again a day later, with less", true, nil,
			Begin(0, Workflow{ID: "100", Count: 4, Jobs: 1, Job: 5 * time.Second}),
			Begin(2*time.Minute, Workflow{ID: "100", Attempt: 2, Count: 1, Jobs: 1, Job: 5 * time.Second})),
		told("asked for the impossible first", true, nil,
			Begin(0, Workflow{ID: "100", Count: 1, Types: []string{"z9.*"}}),
			Begin(10*time.Second, Workflow{ID: "100", Attempt: 2, Count: 1, Jobs: 1, Job: 5 * time.Second})),
		told("cancelled at once", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, CancelAfter: time.Second}), Begin(30*time.Second, warm)),
		told("each wants other types", true, nil,
			Begin(0, Workflow{ID: "100", Count: 1, Types: []string{"c6i.*"}, Jobs: 1, Job: time.Second}),
			Begin(30*time.Second, Workflow{ID: "200", Count: 1, Types: []string{"m5.*"}, Jobs: 1, Job: time.Second}),
			Begin(55*time.Second, Workflow{ID: "300", Count: 1, Types: []string{"c6i.*"}, Jobs: 1, Job: time.Second})),
		told("one after the other under a cap", true, func(s *Script) { s.Largest = 2 },
			Begin(0, two), Begin(time.Second, Workflow{ID: "200", Count: 2, Usage: []string{store.OnDemand}, Jobs: 2, Job: 5 * time.Second}),
			Begin(2*time.Second, Workflow{ID: "300", Count: 1, Jobs: 1, Job: 5 * time.Second})),
		told("drained before others come", true, nil,
			Begin(0, two), Drain(25*time.Second, store.DrainOrder{ID: "all"}), Begin(40*time.Second, warm)),
		told("the leader is stopped", true, nil,
			Begin(0, two), step(5*time.Second, stop{string(Controller), span{5 * time.Second}}), Begin(50*time.Second, warm)),
	}
}
