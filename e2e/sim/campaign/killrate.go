package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/sim/plant"
)

// wholeHunt is the time of a processor that a bug may hide for, by default.
const wholeHunt = 30 * time.Minute

// enoughFound is the share of bugs in percent that the campaigns must find on their own.
const enoughFound = 85

// rater finds out how many bugs the campaigns find without the stories that were written for them.
type rater struct {
	o             options
	work, program string // program has no bug
	all           []plant.Bug
	patience      time.Duration // with one story, on a busy computer

	mu    sync.Mutex
	known verdicts
	sum   result
}

// killrate hunts each planted bug, and keeps what came of it.
func killrate(ctx context.Context, o options, work, program string) result {
	r := &rater{o: o, work: work, program: program, known: verdicts{}, patience: 2 * patience}
	if err := r.prepare(ctx); err != nil {
		fmt.Fprintln(o.out, err)
		return result{problems: 1}
	}
	var hunts errgroup.Group
	hunts.SetLimit(o.procs)
	for _, b := range r.all {
		if o.bugs != "" && !slices.Contains(strings.Split(o.bugs, ","), b.Name()) {
			continue
		}
		if holds, err := r.known[b.Name()].holds(b, r.o); holds && err == nil && !o.again {
			fmt.Fprintf(o.out, "%s", strings.TrimSuffix(r.known[b.Name()].line(b), "\n")+", judged before\n")
			r.sum.runs++
			continue
		}
		hunts.Go(func() error {
			if ctx.Err() == nil {
				r.judge(ctx, b)
			}
			return nil
		})
	}
	_ = hunts.Wait() // they return none
	if err := r.summary(ctx); err != nil {
		fmt.Fprintln(o.out, err)
		r.sum.problems++
	}
	return r.sum
}

// prepare reads what there is, and makes sure that nothing is found where there is no bug.
func (r *rater) prepare(ctx context.Context) (err error) {
	o := &r.o
	if r.all, err = plant.All(filepath.Join(o.root, "e2e", "sim", "testdata", "bugs")); err != nil {
		return err
	}
	for name := range strings.SplitSeq(o.bugs, ",") {
		if o.bugs != "" && !slices.ContainsFunc(r.all, func(b plant.Bug) bool { return b.Name() == name }) {
			return fmt.Errorf("bugs: got %q, must be the name of a patch in testdata/bugs", name)
		}
	}
	if o.revision == "" {
		if o.revision, err = hashFile(r.program); err != nil {
			return err
		}
	}
	if found, err := load(o.state, &r.known); err != nil {
		return err
	} else if found {
		fmt.Fprintf(o.out, "%d verdicts are in %s; this is revision %s\n", len(r.known), o.state, o.revision)
	}
	return r.sound(ctx)
}

// noBug is the verdict of the program as it is, among the others.
const noBug = "(no bug)"

// sound fails if the campaigns find something where there is no bug.
func (r *rater) sound(ctx context.Context) error {
	slice := min(r.o.budget, max(r.o.budget/30, 20*time.Second))
	if v := r.known[noBug]; !r.o.again && v.Revision == r.o.revision && v.Budget >= slice {
		return nil
	}
	without := r.hunt(ctx, r.program, fmt.Sprint("-sim.budget=", slice))
	v, ok := without.verdict()
	if !ok || v.By != plant.Nothing {
		return fmt.Errorf("without a bug, which must find nothing: %+v, %w\n%s", v, without.err, complaints(without.text))
	}
	fmt.Fprintf(r.o.out, "without a bug nothing is found in %.0f CPU-s\n", v.CPU.Seconds())
	v.Revision, v.Budget = r.o.revision, slice
	r.known[noBug] = v
	return save(r.o.state, r.known)
}

// judge hunts one bug and keeps the verdict.
func (r *rater) judge(ctx context.Context, b plant.Bug) {
	v, err := r.found(ctx, b)
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return // it is hunted again the next time
	}
	r.sum.runs++
	if err == nil {
		v.Patch, err = hashFile(b.Path)
	}
	if err == nil {
		v.Revision, v.Budget = r.o.revision, r.o.budget
		r.known[b.Name()] = v
		fmt.Fprint(r.o.out, v.line(b))
		err = save(r.o.state, r.known)
	}
	if err != nil {
		r.sum.problems++
		fmt.Fprintf(r.o.out, "  %-26s %-8s %v\n", b.Name(), b.ID, err)
	}
}

// found plants a bug and lets its unit test find it, or the campaigns.
func (r *rater) found(ctx context.Context, b plant.Bug) (v verdict, err error) {
	dir, err := os.MkdirTemp(r.work, b.Name()+"-")
	if err != nil {
		return v, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay, err := overlay(r.o.root, dir, b)
	if err != nil {
		return v, err
	}
	if b.Test != "" {
		return byUnitTest(ctx, r.o.root, overlay, b)
	}
	program := filepath.Join(dir, "sim.test")
	if text, err := build(ctx, r.o.root, program, overlay); err != nil {
		return v, fmt.Errorf("patch %s does not compile: %w\n%s", b.Path, err, text)
	}
	h := r.hunt(ctx, program, fmt.Sprint("-sim.budget=", r.o.budget))
	v, ok := h.verdict()
	if !ok {
		return v, fmt.Errorf("the hunt ended without a verdict: %w\n%s", h.err, complaints(h.text))
	}
	if v.By == plant.Nothing || v.Story == "" {
		return v, nil
	}
	without := r.hunt(ctx, r.program, "-sim.tale="+h.at(v).String())
	if w, ok := without.verdict(); !ok || w.By != plant.Nothing {
		return v, fmt.Errorf("%s: %s, and without the bug too: %+v, %w\n%s", h.at(v), v.Law, w, without.err, complaints(without.text))
	}
	return v, nil
}

// summary tells the rate, writes it where it is published, and fails if it is too low.
func (r *rater) summary(ctx context.Context) error {
	rate, hunted := plant.Rate{}, map[string]plant.Hunted{}
	for _, b := range r.all {
		v, known := r.known[b.Name()]
		holds, err := v.holds(b, r.o)
		if err != nil {
			return err
		}
		if known = known && holds; known {
			hunted[b.Name()] = v.hunted()
		}
		rate.Add(b, known, v.By)
	}
	fmt.Fprintf(r.o.out, "%s\n", rate)
	by := map[string]int{}
	for _, h := range hunted {
		by[h.By]++
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(r.o.out, "  %3d by %s\n", by[name], name)
	}
	if r.o.publish && ctx.Err() == nil {
		if err := publish(r.o.root, r.all, hunted); err != nil {
			return err
		}
	}
	if len(rate.Open) == 0 && rate.Percent() < enoughFound {
		return fmt.Errorf("%.1f %% found, must be at least %d %%", rate.Percent(), enoughFound)
	}
	return nil
}

// publish writes the table of docs/reliability.md.
func publish(root string, all []plant.Bug, hunted map[string]plant.Hunted) error {
	path := filepath.Join(root, "docs", "reliability.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	with, err := plant.Document(string(text), all, hunted)
	if err != nil {
		return fmt.Errorf("publish in %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(with), 0o600); err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	return nil
}
