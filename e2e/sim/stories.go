package sim

import (
	"cmp"
	"strconv"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/store"
)

// Story is a script without faults whose every call is tried with every fault.
type Story struct {
	Name string
	Script

	// Alone says that it is told without faults only: it takes long, or is about an instant that a fault would move.
	Alone bool
	// Exempt says that machines of this story may end before their time, or come and go: it is about that.
	Exempt bool
}

// soonOver is the max runtime of runs in stories that are told thousands of times: some minutes more than their jobs
// take, faults included, and less than the half hour of the default, which nobody who forgets a run has to wait for.
const soonOver = 3 * time.Minute

// Stories go through every state and every edge of the tables.
func Stories() []Story {
	base := Script{Seed: 1, Controllers: 2, Boot: 10 * time.Second, Idle: 45 * time.Second, Tempo: Tempo{IdlePoll: time.Second, Runners: time.Minute}}
	story := func(name string, exempt bool, change func(*Script), steps ...Step) Story {
		s := base
		for _, step := range steps {
			if f, ok := step.Act.(Workflow); ok {
				f.Max = cmp.Or(f.Max, soonOver)
				step = Begin(step.At, f)
			}
			s.Steps = append(s.Steps, step)
		}
		s.Steps = inOrder(s.Steps)
		if change != nil {
			change(&s)
		}
		return Story{Name: name, Script: s, Exempt: exempt}
	}
	two := Workflow{ID: "100", Count: 2, Jobs: 2, Job: 5 * time.Second}
	warm := Workflow{ID: "200", Count: 2, Jobs: 1, Job: 3 * time.Second}
	github := AtGitHub{GitHub: true}
	again := AtGitHub{GitHub: true, Fails: 1, Later: 1, Rerun: rerunFailed, RerunAfter: 30 * time.Second}
	lost := func(s *Script) { s.RerunLost = true }
	alone := func(s Story) Story {
		s.Alone = true
		return s
	}
	return []Story{
		story("cold, then warm", false, nil, Begin(0, two), Begin(50*time.Second, warm)),
		story("by a token", false, func(s *Script) { s.Mode = string(store.Token) }, Begin(0, two), Begin(50*time.Second, warm)),
		story("cancelled while it waits", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: time.Second, CancelAfter: 8 * time.Second}), Begin(20*time.Second, warm)),
		story("cancelled while its jobs run", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 2, Job: time.Minute, CancelAfter: 30 * time.Second}), Begin(50*time.Second, warm)),
		story("its client vanishes", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, VanishAfter: 5 * time.Second}), Begin(80*time.Second, warm)),
		story("a seat is lost", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: 30 * time.Second, Hold: 70 * time.Second}), Reclaim(30*time.Second, 1)),
		story("the older comes first", true, func(s *Script) { s.Largest = 3 },
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 2, Job: 20 * time.Second}),
			Begin(2*time.Second, Workflow{ID: "200", Count: 2, Jobs: 2, Job: 5 * time.Second}),
			Begin(3*time.Second, Workflow{ID: "300", Count: 1, Jobs: 1, Job: 5 * time.Second})),
		story("no spot to be had", false, func(s *Script) {},
			Capacity(0, fleet.Slot{UsageClass: store.Spot}, 1),
			Begin(time.Second, Workflow{ID: "100", Count: 2, Jobs: 2, Job: 5 * time.Second, Usage: []string{store.Spot, store.OnDemand}})),
		story("nobody gives back", false, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: 5 * time.Second, Forgets: true, Max: 90 * time.Second})),
		story("run again", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: 10 * time.Second, Hold: time.Minute, Forgets: true}),
			Begin(40*time.Second, Workflow{ID: "100", Attempt: 2, Count: 2, Jobs: 1, Job: 5 * time.Second})),
		story("drained by order", true, nil,
			Begin(0, two), Drain(45*time.Second, store.DrainOrder{ID: "all", ResourceClass: "small"})),
		story("notice of the end", true, nil,
			Begin(0, two), Notice(45*time.Second, 1), Begin(55*time.Second, warm)),
		story("half of it in time", true, nil,
			Begin(0, Workflow{ID: "100", Count: 1, Jobs: 1, Job: time.Second}), Capacity(25*time.Second, fleet.Slot{}, 1),
			Begin(30*time.Second, Workflow{ID: "200", Count: 2, Timeout: 25 * time.Second})),
		story("lost while claimed", true, nil,
			Begin(0, two), Begin(50*time.Second, warm), Reclaim(50100*time.Millisecond, 1)),
		story("its jobs wait for no machine", false, func(s *Script) { s.Largest = 3 },
			Begin(0, Workflow{ID: "100", Count: 2, Early: 2, Jobs: 1, Job: 5 * time.Second}),
			Begin(2*time.Second, Workflow{ID: "200", Count: 2, Early: 2, Job: 5 * time.Second}),
			Begin(3*time.Second, Workflow{ID: "300", Count: 1, Early: 3, Job: 5 * time.Second})),
		story("cancelled before its runner is known", true, func(s *Script) { s.Mode = string(store.Token) },
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: time.Second, CancelAfter: 11 * time.Second})),
		story("another template", true, nil,
			Begin(0, two), Template(40*time.Second, "2"), Begin(80*time.Second, warm)),
		alone(story("room comes back", true, nil,
			step(0, scarce{N: 0, span: span{time.Minute}}), Begin(time.Second, Workflow{ID: "100", Count: 2, Jobs: 1, Job: time.Second}))),
		alone(story("run again a day later, with less", true, nil,
			Begin(0, Workflow{ID: "100", Count: 4, Jobs: 1, Job: 5 * time.Second}),
			Begin(2*time.Minute, Workflow{ID: "100", Attempt: 2, Count: 1, Jobs: 1, Job: 5 * time.Second}))),
		alone(story("asked for the impossible first", true, nil,
			Begin(0, Workflow{ID: "100", Count: 1, Types: []string{"z9.*"}}),
			Begin(10*time.Second, Workflow{ID: "100", Attempt: 2, Count: 1, Jobs: 1, Job: 5 * time.Second}))),
		alone(story("cancelled at once", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, CancelAfter: time.Second}), Begin(30*time.Second, warm))),
		story("each wants other types", true, nil,
			Begin(0, Workflow{ID: "100", Count: 1, Types: []string{"c6i.*"}, Jobs: 1, Job: time.Second}),
			Begin(30*time.Second, Workflow{ID: "200", Count: 1, Types: []string{"m5.*"}, Jobs: 1, Job: time.Second}),
			Begin(55*time.Second, Workflow{ID: "300", Count: 1, Types: []string{"c6i.*"}, Jobs: 1, Job: time.Second})),
		alone(story("one after the other under a cap", true, func(s *Script) { s.Largest = 2 },
			Begin(0, two), Begin(time.Second, Workflow{ID: "200", Count: 2, Usage: []string{store.OnDemand}, Jobs: 2, Job: 5 * time.Second}),
			Begin(2*time.Second, Workflow{ID: "300", Count: 1, Jobs: 1, Job: 5 * time.Second}))),
		alone(story("drained before others come", true, nil,
			Begin(0, two), Drain(25*time.Second, store.DrainOrder{ID: "all"}), Begin(40*time.Second, warm))),
		story("GitHub is away when warm ones are claimed", true, nil,
			Begin(0, two), step(48*time.Second, githubOut{Mode: "fails", span: span{40 * time.Second}, API: true}), Begin(50*time.Second, warm)),
		alone(story("a machine that nobody knows", true, nil, step(time.Second, orphanMachine{"c6i.large"}), Begin(2*time.Second, two))),
		alone(story("some room, of another type", true, func(s *Script) { s.Controllers = 1 },
			step(0, scarce{N: 0, span: span{9 * time.Minute}, Type: "c6i.large", Zone: "local-a"}),
			Begin(time.Second, Workflow{ID: "100", Count: 2, Types: []string{"c6i.*"}, Jobs: 1, Job: time.Second}))),
		alone(story("GitHub is away for long when all go back", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: 30 * time.Second, Max: 14 * time.Minute}),
			step(40*time.Second, githubOut{Mode: "fails", span: span{25 * time.Minute}, API: true}))),
		alone(story("the store is down for longer than a client is silent", true, func(s *Script) { s.Controllers, s.Largest = 1, 2 },
			append(append([]Step{Begin(0, Workflow{ID: "100", Count: 2, Jobs: 1, Job: 2 * time.Minute})}, crowd(10*time.Second, 6, 700*time.Millisecond)...),
				step(30*time.Second, down{"store", span{70 * time.Second}}))...)),
		alone(story("GitHub is away at a cold start", true, nil,
			step(0, githubOut{Mode: "fails", span: span{8 * time.Minute}, API: true}),
			Begin(time.Second, Workflow{ID: "100", Count: 2, Timeout: 20 * time.Minute, Jobs: 1, Job: time.Second}))),
		alone(story("a blink of the store, and work later", true, nil,
			Begin(0, two), step(30*time.Second, down{"store", span{1700 * time.Millisecond}}), Begin(6*time.Minute, warm))),
		alone(story("many, one after the other, under a cap", true, func(s *Script) { s.Largest = 3 },
			Begin(0, Workflow{ID: "100", Count: 2}), Begin(2*time.Minute, Workflow{ID: "200", Count: 2}),
			Begin(4*time.Minute, Workflow{ID: "300", Count: 2}), Begin(6*time.Minute, Workflow{ID: "400", Count: 2}))),
		alone(story("listings lack all for a while", true, func(s *Script) { s.Idle = 15 * time.Minute },
			Begin(0, Workflow{ID: "100", Count: 6, Jobs: 1, Job: time.Second}), Begin(20*time.Second, Workflow{ID: "200", Count: 2, Jobs: 2, Job: 4 * time.Minute, Max: 10 * time.Minute}),
			step(6*time.Minute, listLoses{share{1}, span{3 * time.Minute}}))),
		alone(story("claimed in the last moment, slowly", true, nil, append([]Step{
			Begin(0, Workflow{ID: "100", Count: 4, Jobs: 1, Job: 5 * time.Second}), step(40*time.Second, slow{"store", 900 * time.Millisecond, span{time.Minute}}),
		}, crowd(62*time.Second, 14, 400*time.Millisecond)...)...)),
		alone(story("half of it in time, and nobody gives back", true, nil,
			Begin(0, Workflow{ID: "100", Count: 1, Jobs: 1, Job: time.Second}), Capacity(25*time.Second, fleet.Slot{}, 1),
			Begin(30*time.Second, Workflow{ID: "200", Count: 2, Timeout: 25 * time.Second, Forgets: true}))),
		alone(story("nobody reaches the store for an hour, and clocks are set back", true, func(s *Script) { s.StoreTime = true },
			Begin(0, two), Begin(25*time.Second, Workflow{ID: "300", Count: 1, Forgets: true, Max: 20 * time.Minute}),
			step(40*time.Second, down{"store", span{time.Hour}}), step(50*time.Second, setClock{Who: agents, By: 30 * time.Minute, Back: true}))),
		alone(story("two leaders fall asleep, one after the other", true, nil,
			Begin(0, two), Pause(20*time.Second, "controller-2", time.Minute), Pause(3*time.Minute, "controller-1", 5*time.Minute),
			Begin(3*time.Minute+20*time.Second, warm))),
		alone(story("another template while warm ones are claimed, slowly", true, func(s *Script) { s.Idle = 10 * time.Minute }, append([]Step{
			Begin(0, Workflow{ID: "100", Count: 12, Jobs: 1, Job: 5 * time.Second}), step(40*time.Second, slow{"store", 900 * time.Millisecond, span{time.Minute}}),
			Template(45*time.Second, "2"),
		}, crowd(57*time.Second, 14, 450*time.Millisecond)...)...)),
		alone(story("the older loses a machine while the younger's boot, and there is no room", true, nil,
			Capacity(0, fleet.Slot{}, 3), Begin(0, Workflow{ID: "100", Count: 2, Jobs: 2, Job: 5 * time.Second}), Reclaim(6*time.Second, 1),
			Begin(22*time.Second, Workflow{ID: "200", Count: 3, Jobs: 3, Job: 5 * time.Second, Timeout: 5 * time.Minute}),
			Capacity(25*time.Second, fleet.Slot{}, 0))),
		alone(story("the cap is lowered, and the older loses a machine", true, func(s *Script) { s.Largest = 4 },
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 2, Job: 5 * time.Second}), Reclaim(6*time.Second, 1),
			Begin(22*time.Second, Workflow{ID: "200", Count: 3, Jobs: 3, Job: 5 * time.Second, Timeout: 20 * time.Minute}),
			step(25*time.Second, config{Largest: 3}))),
		alone(story("given back, then cancelled", true, nil, Begin(0, Workflow{
			ID: "100", Count: 2, Jobs: 2, Job: 9 * time.Minute, Lingers: 4 * time.Minute, ReleaseAfter: 25 * time.Second, CancelAfter: 40 * time.Second, Max: 10 * time.Minute,
		}))),
		alone(story("one type is short, and others want another", true, nil,
			Capacity(0, fleet.Slot{InstanceType: "c6i.large"}, 0), Begin(0, Workflow{ID: "100", Count: 1, Types: []string{"c6i.large"}}),
			Begin(5*time.Second, Workflow{ID: "200", Count: 1, Types: []string{"m5.*"}, Jobs: 1, Job: time.Second}))),
		alone(story("the store is down when claimed ones would report", true, nil,
			Begin(0, two), Begin(50*time.Second, warm), step(50900*time.Millisecond, down{"store", span{90 * time.Second}}))),
		alone(story("a line under a cap", true, func(s *Script) { s.Largest = 1 },
			append([]Step{Begin(0, Workflow{ID: "100", Count: 1, Jobs: 1, Job: 30 * time.Second})}, crowd(3*time.Second, 4, 7*time.Second)...)...)),
		alone(story("the store is down in the middle of a claim", true, func(s *Script) { s.Idle = 20 * time.Minute },
			Begin(0, two), Begin(30*time.Second, Workflow{ID: "200", Count: 2, Jobs: 1, Job: time.Second}),
			step(30020*time.Millisecond, down{"store", span{4 * time.Second}}), Begin(6*time.Minute, Workflow{ID: "300", Count: 2, Jobs: 1, Job: time.Second}))),
		alone(story("ends are refused for a while", true, func(s *Script) { s.NeverBoots = 1 },
			Begin(0, Workflow{ID: "100", Count: 1, Timeout: 15 * time.Minute}), step(5*time.Minute, refuseEnd{span{10 * time.Minute}}))),
		alone(story("one controller, cut off for writes for a moment, and work later", true, func(s *Script) { s.Controllers = 1 },
			Begin(0, two), step(30*time.Second, cut{Who: "controller-1", Contract: "store", span: span{5 * time.Second}, Writes: true}), Begin(6*time.Minute, warm))),
		alone(story("one class is drained", true, nil,
			Begin(0, two), Begin(0, Workflow{ID: "150", Class: "large", Count: 1}), Drain(25*time.Second, store.DrainOrder{ID: "all", ResourceClass: "large"}),
			Begin(50*time.Second, warm))),
		alone(story("no machine ever boots", true, func(s *Script) { s.NeverBoots = 1 },
			Begin(0, Workflow{ID: "100", Count: 1, Timeout: 90 * time.Minute}))),
		alone(story("clocks that are set", true, func(s *Script) { s.StoreTime, s.Skew = true, time.Minute },
			Begin(0, two), step(20*time.Second, setClock{Who: string(Controller), By: time.Hour}), step(25*time.Second, setClock{Who: agents, By: 30 * time.Minute, Back: true}),
			Begin(50*time.Second, warm), step(55*time.Second, setClock{Who: agents, By: 2 * time.Hour}), Begin(2*time.Minute, Workflow{ID: "300", Count: 1, Jobs: 1, Job: time.Minute}))),
		story("failed jobs are run again at GitHub", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 2, Job: 5 * time.Second, AtGitHub: again})),
		story("two cancelled at GitHub", true, nil,
			Begin(0, Workflow{ID: "100", Count: 1, Jobs: 2, Job: time.Minute, CancelAfter: 20 * time.Second, AtGitHub: github}),
			Begin(0, Workflow{ID: "200", Count: 1, Jobs: 1, Job: time.Minute, CancelAfter: 20 * time.Second, AtGitHub: github})),
		story("all that failed was lost", true, lost,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 2, Job: 30 * time.Second, AtGitHub: github}), Reclaim(25*time.Second, 1)),
		story("one was lost, and one failed by itself", true, lost,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 2, Job: 30 * time.Second, AtGitHub: AtGitHub{GitHub: true, Fails: 1}}), Reclaim(25*time.Second, 2)),
		story("nobody waits, and it fails", true, nil,
			Begin(0, Workflow{ID: "100", Count: 1, Types: []string{"z9.*"}, Early: 1, Job: time.Second, AtGitHub: AtGitHub{GitHub: true, NoWait: true}})),
		alone(story("a run waits for an approval", true, nil,
			Begin(0, Workflow{ID: "100", Count: 2, Jobs: 2, Job: 5 * time.Second, Max: 10 * time.Minute, AtGitHub: AtGitHub{GitHub: true, Later: 2, Approval: 10 * time.Minute}}))),
		story("idle machines listen ahead", false, func(s *Script) { s.Ahead = 10 }, Begin(0, two), Begin(50*time.Second, warm)),
		story("a job starts before its agent knows of the run", false, func(s *Script) { s.Ahead, s.Tempo.Poll = 10, 20*time.Second },
			Begin(0, two), Begin(52*time.Second, Workflow{ID: "200", Count: 2, Early: 2, Job: 3 * time.Second})),
		story("GitHub drops who listens, and one machine may", true, func(s *Script) { s.Ahead, s.JITLapse, s.Idle = 1, 70*time.Second, 4*time.Minute },
			Begin(0, two), Begin(100*time.Second, warm), Begin(230*time.Second, Workflow{ID: "300", Count: 2, Early: 2, Job: time.Second})),
		story("GitHub is away when a listener is to get its label", true, func(s *Script) { s.Ahead = 10 },
			Begin(0, two), step(45*time.Second, githubOut{Mode: "fails", span: span{30 * time.Second}, API: true}), Begin(46*time.Second, warm)),
		alone(story("a floor serves, is outdated and too old", true, func(s *Script) { s.Floors, s.CalmAt = Floors{Small: 2, Age: 30 * time.Minute}, 40*time.Minute },
			Begin(2*time.Minute, Workflow{ID: "100", Count: 3, Jobs: 1, Job: 5 * time.Second}), Template(8*time.Minute, "2"), Kill(9*time.Minute, "controller"))),
		alone(story("a floor comes after requests, by a schedule", true, func(s *Script) {
			s.Floors, s.Largest, s.CalmAt = Floors{Small: 1, Entries: []string{"3@00:02-00:20"}}, 3, 35*time.Minute
		}, Begin(8*time.Minute, Workflow{ID: "100", Class: "large", Count: 2, Jobs: 1, Job: 5 * time.Second}))),
		story("the leader is stopped", true, nil,
			Begin(0, two), step(5*time.Second, stop{string(Controller), span{5 * time.Second}}), Begin(50*time.Second, warm)),
	}
}

// crowd is n runs of one machine each, one a little after the other.
func crowd(from time.Duration, n int, apart time.Duration) []Step {
	var out []Step
	for i := range n {
		out = append(out, Begin(from+time.Duration(i)*apart, Workflow{ID: strconv.Itoa(1000 + i), Count: 1, Jobs: 1, Job: time.Second}))
	}
	return out
}
