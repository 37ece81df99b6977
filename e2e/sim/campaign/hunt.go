package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/e2e/sim/lived"
	"github.com/remuda-run/remuda/e2e/sim/plant"
)

// hunted is what a process that hunts said.
type hunted struct {
	find *lived.Find
	last lived.StoryRef // that it began
	text string
	cpu  time.Duration
	err  error
	hung bool
}

func (h hunted) verdict() (verdict, bool) {
	v, ok := read(h.last, h.find, h.text, h.err, h.hung)
	v.CPU = h.cpu
	return v, ok
}

// at names the story in which the verdict was found.
func (h hunted) at(v verdict) lived.StoryRef {
	if h.find != nil {
		return h.find.StoryRef
	}
	return lived.StoryRef{Mode: h.last.Mode, Story: v.Story}
}

// errHangs ends a process whose story has no end: in a bubble only what spins or waits for a lock does that.
var errHangs = errors.New("a story has no end")

// hunt runs TestHunt in one process. A story that takes longer than r.patience is the last one.
func (r *rater) hunt(ctx context.Context, program string, args ...string) hunted {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watchdog := time.AfterFunc(r.patience, func() { stop(errHangs) })
	defer watchdog.Stop()
	var h hunted
	var mu sync.Mutex // of h, for a process that lives on behind its end
	onLine := func(line string) bool {
		mu.Lock()
		defer mu.Unlock()
		if text, ok := strings.CutPrefix(line, lived.BeginMark); ok {
			h.last, _ = lived.ParseStoryRef(text)
			watchdog.Reset(r.patience)
			return true
		}
		f, ok := lived.ParseFind(line)
		if ok {
			h.find = &f
		}
		return ok
	}
	text, cpu, err := test1(ctx, r.o.root, program, onLine, append([]string{"-test.run=^TestHunt$"}, args...)...)
	mu.Lock()
	defer mu.Unlock()
	h.text, h.cpu, h.err, h.hung = text, cpu, err, errors.Is(context.Cause(ctx), errHangs)
	return h
}

// byUnitTest expects the unit test that a patch names to fail with it, and only then.
func byUnitTest(ctx context.Context, root, overlay string, b plant.Bug) (verdict, error) {
	test := func(args ...string) (string, time.Duration, error) {
		args = append([]string{"test", "-count=1", "-v", "-run=^" + b.Test + "$"}, args...)
		cmd := command(ctx, root, "go", append(args, b.Package)...)
		text, err := cmd.CombinedOutput()
		return string(text), processorTime(cmd), err
	}
	if text, _, err := test(); !strings.Contains(text, "--- PASS: "+b.Test) {
		return verdict{}, fmt.Errorf("%s %s does not pass without the bug: %w\n%s", b.Package, b.Test, errors.Join(errFailed, err), complaints(text))
	}
	text, cpu, err := test("-overlay", overlay)
	switch {
	case err == nil:
		return verdict{By: plant.Nothing, CPU: cpu}, nil
	case !strings.Contains(text, "--- FAIL: "+b.Test):
		return verdict{}, fmt.Errorf("%s %s ended without a verdict: %w\n%s", b.Package, b.Test, err, complaints(text))
	}
	return verdict{By: unitTest, Story: b.Package, Law: b.Test, CPU: cpu}, nil
}
