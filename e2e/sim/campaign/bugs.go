package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/e2e/sim/plant"
)

// patience is how long a bug may hide from its story on a busy computer: stories take seconds.
const patience = 5 * time.Minute

// hunting is the test that tells the stories of planted bugs.
const hunting = "-test.run=^TestPlantedBugs_Stories$"

// bugs plants each bug that has a story of its own and looks whether that breaks a law; without any, none must.
// violations counts the bugs that nobody noticed.
func bugs(ctx context.Context, o options, work, program string) result {
	all, err := plant.All(filepath.Join(o.root, "e2e", "sim", "testdata", "bugs"))
	if err != nil {
		fmt.Fprintln(o.out, err)
		return result{problems: 1}
	}
	var sum result
	if text, _, err := test1(ctx, o.root, program, nil, hunting); err != nil {
		fmt.Fprintf(o.out, "without a bug: %v\n%s", err, complaints(text))
		sum.problems++
	}
	var mu sync.Mutex
	var hunts errgroup.Group
	hunts.SetLimit(o.procs)
	all = slices.DeleteFunc(all, func(b plant.Bug) bool { return b.Script == "" }) // the kill rate's
	for i, b := range all {
		if i%o.oneIn() != 0 {
			continue
		}
		hunts.Go(func() error {
			start := time.Now()
			found, err := hunt(ctx, o.root, work, b)
			mu.Lock()
			defer mu.Unlock()
			sum.runs++
			switch {
			case errors.Is(err, errUnnoticed):
				sum.violations++
				fmt.Fprintf(o.out, "  %-26s %-8s NOT NOTICED: %s\n", b.Name(), b.ID, b.Title)
			case err != nil:
				sum.problems++
				fmt.Fprintf(o.out, "  %-26s %-8s %v\n", b.Name(), b.ID, err)
			default:
				fmt.Fprintf(o.out, "  %-26s %-8s %-38s after %s of the story, %.0f s\n", b.Name(), b.ID, found.law, found.after, time.Since(start).Seconds())
			}
			return nil
		})
	}
	_ = hunts.Wait() // they return none
	return sum
}

// errUnnoticed says that a bug broke no law.
var errUnnoticed = errors.New("no law was broken")

// finding is the first law that a bug broke.
type finding struct{ law, after string }

// broken is how the test says it.
var broken = regexp.MustCompile(`broken: (.+): after ([0-9a-z.]+): `)

// hunt plants one bug and looks for it.
func hunt(ctx context.Context, root, work string, b plant.Bug) (f finding, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no end within %s", patience))
	defer cancel()
	dir, err := os.MkdirTemp(work, b.Name()+"-")
	if err != nil {
		return finding{}, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay, err := overlay(root, dir, b)
	if err != nil {
		return finding{}, err
	}
	program := filepath.Join(dir, "sim.test")
	if text, err := build(ctx, root, program, overlay, hasty...); err != nil {
		return finding{}, fmt.Errorf("patch %s does not compile: %w\n%s", b.Path, err, text)
	}
	text, _, err := test1(ctx, root, program, nil, hunting, "-sim.hunt="+b.Name())
	switch m := broken.FindStringSubmatch(text); {
	case m != nil:
		return finding{m[1], m[2]}, nil
	case err == nil:
		return finding{}, errUnnoticed
	case ctx.Err() != nil:
		return finding{}, context.Cause(ctx)
	default:
		return finding{}, fmt.Errorf("its story died without a verdict: %w\n%s", err, complaints(text))
	}
}

// overlay writes the changed files and the list of them that `go build -overlay` reads.
func overlay(root, dir string, b plant.Bug) (string, error) {
	files, err := b.Apply(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range files {
		copied := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("plant %s: %w", b.Name(), err)
		}
		replace[filepath.Join(root, path)] = copied
	}
	path := filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(path, list, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("plant %s: %w", b.Name(), err)
	}
	return path, nil
}
