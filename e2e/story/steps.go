package story

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Step is a part of the story.
type Step struct {
	Title string
	act   func(*Story, context.Context) error
}

// The steps, in the order in which they can be told. Each needs those before it, but for ReleaseB, which
// stands for Race to Forgotten.
var (
	Cold      = Step{"run-a asks for 3 runners: the pool is empty, so all start cold", (*Story).cold}
	Warm      = Step{"run-b asks for 2 and gets two of run-a's machines, warm", (*Story).warm}
	Race      = Step{"run-b and run-c race for the last idle one: one wins, the other starts cold", (*Story).race}
	Picky     = Step{"run-d asks for a type nobody has: cold beside a full pool", (*Story).picky}
	Kill      = Step{"an agent is killed with -9 while run-f claims it: its seat is filled again", (*Story).kill}
	Forgotten = Step{"run-e never releases: its machines are gone after max runtime", (*Story).forgotten}
	ReleaseB  = Step{"run-b gives its machines back", (*Story).releaseB}
	Drained   = Step{"nobody asks any more: the pool drains to zero", (*Story).drained}
)

// Full is the whole story, Short one that needs the pool only once.
var (
	Full  = []Step{Cold, Warm, Race, Picky, Kill, Forgotten, Drained}
	Short = []Step{Cold, Warm, ReleaseB, Drained}
)

func (s *Story) cold(ctx context.Context) error {
	a, err := s.request(ctx, "run-a", 3, "--allowed-instance-types", "c*")
	if err != nil {
		return err
	}
	s.answer(a)
	s.expect(a.WarmCount == 0, "run-a got %d warm from an empty pool", a.WarmCount)
	if err := s.jobs(ctx, "run-a", 3); err != nil {
		return err
	}
	return s.release(ctx, "run-a")
}

func (s *Story) warm(ctx context.Context) error {
	b, err := s.request(ctx, "run-b", 2, "--allowed-instance-types", "c*")
	if err != nil {
		return err
	}
	s.answer(b)
	s.expect(b.WarmCount == 2, "run-b got %d warm, want 2", b.WarmCount)
	for _, id := range s.held["run-b"] {
		s.expect(slices.Contains(s.held["run-a"], id), "run-b got %s, which run-a never had", id)
	}
	return s.jobs(ctx, "run-b", 2)
}

func (s *Story) releaseB(ctx context.Context) error { return s.release(ctx, "run-b") }

func (s *Story) race(ctx context.Context) error {
	if err := s.until(ctx, "one is idle", func() bool { return len(s.instances(witness.Pooled)) == 1 }); err != nil {
		return err
	}
	last := s.instances(witness.Pooled)[0].ID
	var racers sync.WaitGroup
	results := make([]result, 2)
	errs := make([]error, 2)
	for i, run := range []string{"run-b-2", "run-c"} {
		racers.Go(func() { results[i], errs[i] = s.request(ctx, run, 1, "--allowed-instance-types", "c*") })
	}
	racers.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	winners := 0
	for _, r := range results {
		s.answer(r)
		if r.Instances[0].InstanceID == last {
			winners++
		}
	}
	s.expect(winners == 1, "%d requests got %s, want one", winners, last)
	if err := s.jobs(ctx, "run-c", 1); err != nil {
		return err
	}
	return s.release(ctx, "run-b", "run-b-2", "run-c")
}

func (s *Story) picky(ctx context.Context) error {
	if err := s.until(ctx, "the pool is full", func() bool { return len(s.instances(witness.Pooled)) == 4 }); err != nil {
		return err
	}
	d, err := s.request(ctx, "run-d", 1, "--allowed-instance-types", "r6i.*")
	if err != nil {
		return err
	}
	s.answer(d)
	s.expect(d.WarmCount == 0 && d.Instances[0].InstanceType == "r6i.large", "run-d got %+v, want a cold r6i.large", d.Instances[0])
	if err := s.jobs(ctx, "run-d", 1); err != nil {
		return err
	}
	return s.release(ctx, "run-d")
}

func (s *Story) kill(ctx context.Context) error {
	// The claim lasts until the agent is killed, however long that takes.
	if err := s.outage(ctx, githubsim.Outage{Mode: githubsim.Hangs, Calls: []githubsim.Call{githubsim.CallConnect}}); err != nil {
		return err
	}
	done := make(chan error, 1)
	var f result
	go func() {
		var err error
		f, err = s.request(ctx, "run-f", 2, "--allowed-instance-types", "c*")
		done <- err
	}()
	var victim store.InstanceID
	err := s.until(ctx, "one is claimed for run-f", func() bool {
		claimed := s.instances(func(in store.Instance) bool { return in.State == statemachine.Claimed && in.RunID == "run-f" })
		if len(claimed) > 0 {
			victim = claimed[0].ID
		}
		return victim != ""
	})
	if err != nil {
		return errors.Join(err, <-done)
	}
	if err := s.Site.Crash(victim); err != nil {
		return errors.Join(err, <-done)
	}
	s.say("killed the agent of %s", victim)
	if err := errors.Join(s.outage(ctx, githubsim.Outage{}), <-done); err != nil {
		return err
	}
	s.answer(f)
	s.expect(!slices.Contains(s.held["run-f"], string(victim)), "run-f was given %s, whose agent was killed", victim)
	if err := s.jobs(ctx, "run-f", 2); err != nil {
		return err
	}
	return s.release(ctx, "run-f")
}

func (s *Story) forgotten(ctx context.Context) error {
	e, err := s.request(ctx, "run-e", 2, "--allowed-instance-types", "c*", "--max-runtime", s.Forgotten.String())
	if err != nil {
		return err
	}
	s.answer(e)
	if err := s.jobs(ctx, "run-e", 2); err != nil {
		return err
	}
	held := func(in store.Instance) bool {
		return slices.Contains(s.held["run-e"], string(in.ID)) && in.State != statemachine.Terminated
	}
	if err := s.until(ctx, "the machines of run-e are gone", func() bool { return len(s.instances(held)) == 0 }); err != nil {
		return err
	}
	s.say("run-e was never released; its machines are terminated")
	return nil
}

func (s *Story) drained(ctx context.Context) error {
	if s.Drain {
		if _, err := s.Site.Remuda(ctx, "drain", "--all", "--timeout", s.Patience.String()); err != nil {
			return err
		}
	}
	return s.until(ctx, "the fleet is empty", func() bool { return s.Witness.Count(witness.Gone) == len(s.Witness.Instances()) })
}
