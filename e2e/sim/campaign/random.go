package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/sim/lived"
)

// often is how often progress is saved while stories end.
const often = 20 * time.Second

// progress is how far the random stories came. It is of one program, first seed and number of processes: another one
// begins anew.
type progress struct {
	Program string         `json:"program"` // hash
	Seed    uint64         `json:"seed"`
	Shards  []shard        `json:"shards"`
	Covered lived.Coverage `json:"covered"`
	Broken  []string       `json:"broken,omitempty"` // the first of what broke

	mu    sync.Mutex
	saved time.Time
}

// shard is what one process has to show.
type shard struct {
	Next uint64    `json:"next"` // seed
	Sum  lived.Sum `json:"sum"`
}

// random tells random stories until enough instance-hours were lived, from where the last run was when it ended.
func random(ctx context.Context, o options, _, program string) result {
	p, err := resume(o, program)
	if err != nil {
		fmt.Fprintln(o.out, err)
		return result{problems: 1}
	}
	var problems errgroup.Group
	for i := range p.Shards {
		left := o.hours/float64(o.procs) - p.Shards[i].Sum.Hours
		if left <= 0 {
			continue
		}
		problems.Go(func() error { return p.runShard(ctx, o, program, i, left) })
	}
	err = problems.Wait()
	if o.state != "" {
		err = errors.Join(err, p.save(o.state))
	}
	return p.result(o.out, err)
}

// resume returns the progress of the state file, if it is of the same program, seed and processes.
func resume(o options, program string) (*progress, error) {
	hash, err := hashFile(program)
	if err != nil {
		return nil, err
	}
	fresh := &progress{Program: hash, Seed: o.seed, Shards: make([]shard, o.procs)}
	for i := range fresh.Shards {
		fresh.Shards[i].Next = o.seed
	}
	if o.state == "" {
		return fresh, nil
	}
	var p progress
	found, err := load(o.state, &p)
	switch {
	case err != nil:
		return nil, err
	case !found:
		fmt.Fprintf(o.out, "from the beginning; progress is kept in %s\n", o.state)
		return fresh, nil
	case o.again:
		fmt.Fprintf(o.out, "anew, as asked; ")
	case p.Program != fresh.Program:
		fmt.Fprintf(o.out, "anew: %s is of another build, %s, this is %s; ", o.state, p.Program, fresh.Program)
	case p.Seed != fresh.Seed || len(p.Shards) != len(fresh.Shards):
		fmt.Fprintf(o.out, "anew: %s is of seed %d in %d processes, this is seed %d in %d; ", o.state, p.Seed, len(p.Shards), fresh.Seed, len(fresh.Shards))
	case p.complete(o.hours):
		fmt.Fprintf(o.out, "complete already, by %s: %.0f instance-hours of %g; -again tells them anew\n", o.state, p.sum().Hours, o.hours)
		return &p, nil
	default:
		fmt.Fprintf(o.out, "goes on from %s: %.0f instance-hours of %g\n", o.state, p.sum().Hours, o.hours)
		return &p, nil
	}
	fmt.Fprintf(o.out, "what it had is in %s.old\n", o.state)
	if err := os.Rename(o.state, o.state+".old"); err != nil {
		return nil, fmt.Errorf("keep the old progress: %w", err)
	}
	return fresh, nil
}

// complete reports whether every process has lived its share.
func (p *progress) complete(hours float64) bool {
	return !slices.ContainsFunc(p.Shards, func(s shard) bool { return s.Sum.Hours < hours/float64(len(p.Shards)) })
}

func (p *progress) sum() lived.Sum {
	var sum lived.Sum
	for _, s := range p.Shards {
		sum.Merge(s.Sum)
	}
	return sum
}

// runShard lets one process live through what is left of its share.
func (p *progress) runShard(ctx context.Context, o options, program string, i int, left float64) error {
	before := p.Shards[i].Sum.Violations
	text, _, err := test1(ctx, o.root, program, progresses(func(got lived.Progress) { p.add(o, i, got) }),
		"-test.run=^TestRandom$", "-sim.tell", fmt.Sprintf("-sim.shard=%d/%d", i, o.procs),
		fmt.Sprintf("-sim.seed=%d", p.Shards[i].Next), fmt.Sprintf("-sim.hours=%g", left*float64(o.procs)))
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil || ctx.Err() != nil || errors.Is(err, errFailed) && p.Shards[i].Sum.Violations > before {
		return nil // what broke is in Broken
	}
	return fmt.Errorf("process %d of %d, from seed %d: %w\n%s", i+1, o.procs, p.Shards[i].Next, err, complaints(text))
}

// add adds a story, and saves all of them at times.
func (p *progress) add(o options, i int, got lived.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Covered.Add(got.Part)
	if got.Sum != nil {
		p.Shards[i].Sum.Merge(*got.Sum)
		p.Shards[i].Next = got.Next
	}
	for _, text := range got.Broken {
		fmt.Fprintln(o.out, text)
		if len(p.Broken) < most {
			p.Broken = append(p.Broken, text)
		}
	}
	if o.state == "" || time.Since(p.saved) < often {
		return
	}
	p.saved = time.Now()
	if err := save(o.state, p); err != nil {
		fmt.Fprintln(o.out, err) // the next one may succeed, and the last one must
	}
}

func (p *progress) save(path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return save(path, p)
}

// result tells what came of it so far.
func (p *progress) result(out io.Writer, err error) result {
	sum := p.sum()
	r := result{runs: sum.Stories, faults: sum.Injected(), hours: sum.Hours, violations: sum.Violations, covered: &p.Covered}
	if sum.Stories > 0 {
		fmt.Fprintln(out, sum.Tell())
	}
	if sum.Violations > 0 {
		fmt.Fprintf(out, "broken in all, interruptions included:\n")
		for _, text := range p.Broken {
			fmt.Fprintf(out, "  %s\n", text)
		}
	}
	if !sum.Serves() {
		r.problems++
		fmt.Fprintf(out, "%d of %d requests were served: an installation that serves few breaks few laws\n", sum.Ready, sum.Requests)
	}
	if err != nil {
		r.problems++
		fmt.Fprintln(out, err)
	}
	return r
}
