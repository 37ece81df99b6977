package soak

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/githubsim/simrunner"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// fault is one thing the saboteur can do. It reports false if there was nobody to do it to.
type fault struct {
	name   string
	weight int
	do     func(*soak) bool
}

// killLeader is the fault that the long soak counts.
const killLeader = "kill -9: leading controller"

// faults are all there are. Their weights make the long soak mostly one of kills of the leader.
func faults() []fault {
	return []fault{
		{killLeader, 30, func(s *soak) bool { return s.killLeader(false) }},
		{killLeader + " and standby", 3, func(s *soak) bool { return s.killLeader(true) }},
		{"kill -9: standby controller", 1, (*soak).killStandby},
		{"stop: leading controller", 1, (*soak).stopLeader},
		{"kill -9: agent", 2, func(s *soak) bool { return s.strikeMachine(agentOf, syscall.SIGKILL) }},
		{"stop: agent", 1, func(s *soak) bool { return s.strikeMachine(agentOf, syscall.SIGSTOP) }},
		{"kill -9: listener", 2, func(s *soak) bool { return s.strikeMachine(listenerOf, syscall.SIGKILL) }},
		{"stop: listener", 1, func(s *soak) bool { return s.strikeMachine(listenerOf, syscall.SIGSTOP) }},
		{"kill -9: client", 2, func(s *soak) bool { return s.strikeClient(syscall.SIGKILL) }},
		{"stop: client", 1, func(s *soak) bool { return s.strikeClient(syscall.SIGSTOP) }},
		{fullDisk + "store", 1, func(s *soak) bool { return s.strikeDisk("store") }},
		{fullDisk + "fleet", 1, func(s *soak) bool { return s.strikeDisk("fleet") }},
	}
}

// auditEvery is after how many faults of the long soak the audit looks, while everything goes on.
const auditEvery = 25

// few is how many faults the short soak causes.
const few = 5

// pairEvery is how many faults of the long soak there are for each that comes while another is done.
const pairEvery = 4

// sabotage causes faults: a few in the short soak, else until the leader was killed often enough.
func (s *soak) sabotage() {
	all := slices.DeleteFunc(faults(), func(f fault) bool {
		what, disk := strings.CutPrefix(f.name, fullDisk)
		return disk && s.disks[what] == nil
	})
	if *kills == 0 {
		s.strike(all[0]) // the kill of the leader
		s.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, f := range all[:few-1] {
			s.strike(f)
		}
		return
	}
	sum := 0
	for _, f := range all {
		sum += f.weight
	}
	pick := func() fault {
		at := s.rng.IntN(sum)
		return all[slices.IndexFunc(all, func(f fault) bool { at -= f.weight; return at < 0 })]
	}
	for n := 1; s.killed() < *kills && !s.Failed(); n++ {
		var second sync.WaitGroup
		first, other := pick(), all[s.rng.IntN(len(all))]
		if s.rng.IntN(pairEvery) == 0 && other.name != first.name {
			s.ledger.count("faults beside another")
			s.beside.Store(true)
			second.Go(func() { s.strike(other) })
		}
		s.strike(first)
		second.Wait()
		s.beside.Store(false)
		if n%auditEvery == 0 {
			s.audit("amid the work")
			fmt.Fprintf(os.Stderr, "%s: %d faults, %d kills of the leader, %d runs\n", time.Since(s.began).Round(time.Second), n, s.killed(), s.ledger.counted("runs"))
		}
	}
}

// killed is how often the leader was killed.
func (s *soak) killed() int {
	return s.ledger.counted(killLeader) + s.ledger.counted(killLeader+" and standby")
}

// strike causes one fault, as soon as there is a victim, after a pause that decides what it meets.
func (s *soak) strike(f fault) {
	time.Sleep(s.pause(0, time.Second))
	start := time.Since(s.began)
	defer func() { s.Logf("%7.2f to %7.2f s: %s", start.Seconds(), time.Since(s.began).Seconds(), f.name) }()
	for deadline := time.Now().Add(patience); !f.do(s); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Errorf("%s: no victim within %s", f.name, patience)
			return
		}
	}
	s.ledger.count(f.name)
}

// pause draws a duration.
func (s *soak) pause(from, to time.Duration) time.Duration {
	return from + time.Duration(s.rng.Int64N(int64(to-from)))
}

// killLeader kills the controller that leads, asks for an instance, and measures how soon that is owned
// and answered.
func (s *soak) killLeader(both bool) bool {
	leader := s.leader()
	if leader == nil {
		return false
	}
	before, err := s.store.Lease(s.Context())
	if err != nil || leader.signal(syscall.SIGKILL) != nil {
		return false
	}
	at := time.Now()
	if both {
		for _, u := range s.controllers {
			if u != leader {
				_ = u.signal(syscall.SIGKILL) // it may have ended
			}
		}
	}
	id := fmt.Sprintf("probe-%d", s.probes.Add(1))
	answered := make(chan bool, 1)
	go func() { answered <- s.request(id, 1) }()
	var owned time.Time
	for done := false; !done; {
		select {
		case got := <-answered:
			done = true
			if !got {
				s.release(id, false) // said already why
				return true
			}
		case <-time.After(5 * time.Millisecond):
		}
		if owned.IsZero() {
			owned = s.ownedSince(store.RequestID(id))
		}
	}
	if owned.IsZero() && s.witness.Look(s.Context()) == nil { // it is slower than the controller: the hand-over must do
		owned = s.ownedSince(store.RequestID(id))
	}
	r := restart{both: both, beside: s.beside.Load()}
	status, err := s.store.Status(s.Context(), store.Consistent, store.RequestID(id))
	if err == nil && !owned.IsZero() {
		r.claim, r.ready = owned.Sub(at), status.ReadyAt.Sub(at)
		for _, u := range s.controllers {
			for _, l := range u.says(false) {
				if l.Msg == "this controller leads" && l.Term > before.Term && (r.lead == 0 || l.At.Sub(at) < r.lead) {
					r.lead = l.At.Sub(at)
				}
			}
		}
		s.ledger.restarted(r)
	}
	s.workers.Go(func() {
		s.release(id, true)
		s.ledger.count("runs")
	})
	return true
}

// ownedSince returns when the first instance became a run's; zero if none is.
func (s *soak) ownedSince(run store.RequestID) time.Time {
	for _, in := range s.witness.Instances() {
		if in.RunID == run {
			return in.Since.Time
		}
	}
	return time.Time{}
}

func (s *soak) killStandby() bool {
	leader := s.leader()
	if leader == nil {
		return false
	}
	for _, u := range s.controllers {
		if u != leader {
			return u.signal(syscall.SIGKILL) == nil
		}
	}
	return false
}

// stopFor is how long a victim is stopped: longer and shorter than the lease.
func (s *soak) stopFor() time.Duration {
	if *kills == 0 {
		return s.pause(time.Second, 5*time.Second)
	}
	return s.pause(time.Second, 8*time.Second)
}

// stopLeader stops the controller that leads; when it goes on, it may believe that it still does.
func (s *soak) stopLeader() bool {
	leader := s.leader()
	if leader == nil || leader.signal(syscall.SIGSTOP) != nil {
		return false
	}
	time.Sleep(s.stopFor())
	if err := leader.signal(syscall.SIGCONT); err != nil && !errors.Is(err, os.ErrProcessDone) { // killed meanwhile
		s.Errorf("let %s go on: %v", leader.Name, err)
	}
	return true
}

// strikeMachine strikes the agent or the listener of some machine that somebody owns, most likely one that
// is at work.
func (s *soak) strikeMachine(part func(*soak, store.Instance) process.Ref, sig syscall.Signal) bool {
	var owned []store.Instance
	for _, in := range s.witness.Instances() {
		if in.State == statemachine.Claimed || in.State == statemachine.Running || in.State == statemachine.Created || in.State == statemachine.Idle {
			owned = append(owned, in)
		}
	}
	if len(owned) == 0 {
		return false
	}
	in := owned[s.rng.IntN(len(owned))]
	victim := part(s, in)
	if victim.PID == 0 {
		return false
	}
	if sig == syscall.SIGKILL {
		s.ledger.faulted(string(in.ID)) // first: its job may end at once
	}
	if process.Signal(victim, sig) != nil {
		return false // it has ended
	}
	if sig == syscall.SIGSTOP {
		time.Sleep(s.stopFor())
		if err := process.Signal(victim, syscall.SIGCONT); err != nil {
			s.Logf("let process %d of %s go on: %v", victim.PID, in.ID, err) // it was ended meanwhile
		}
	}
	return true
}

// agentOf returns the agent of a machine.
func agentOf(s *soak, in store.Instance) process.Ref {
	agent, _, _ := s.Leader(string(in.ID)) // none: no victim
	return agent
}

// listenerOf returns the process of a machine that listens for jobs.
func listenerOf(_ *soak, in store.Instance) process.Ref {
	refs, err := process.Find(procfleet.EnvInstance, string(in.ID))
	if err != nil {
		return process.Ref{}
	}
	for _, ref := range refs {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", ref.PID))
		text := string(line)
		if err == nil && strings.Contains(text, "\x00"+simrunner.Subcommand+"\x00") && !strings.Contains(text, "\x00"+simrunner.WorkerCommand+"\x00") {
			return ref
		}
	}
	return process.Ref{}
}

// strikeClient strikes a command of a workflow that runs.
func (s *soak) strikeClient(sig syscall.Signal) bool {
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	if len(s.clients.all) == 0 {
		return false
	}
	c := s.clients.all[s.rng.IntN(len(s.clients.all))]
	if c.cmd.Process.Signal(sig) != nil {
		return false // it has ended
	}
	if sig == syscall.SIGKILL {
		c.killed = true
		return true
	}
	lasts := s.stopFor()
	s.clients.mu.Unlock()
	time.Sleep(lasts)
	s.clients.mu.Lock()
	_ = c.cmd.Process.Signal(syscall.SIGCONT) // it cannot end before, but by its time-out
	return true
}

func (s *soak) strikeDisk(what string) bool {
	return s.fullDisk(what, s.disks[what], s.pause(time.Second, 5*time.Second))
}
