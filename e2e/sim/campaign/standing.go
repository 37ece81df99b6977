package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// result is what came of a campaign.
type result struct {
	name       string
	runs       int
	faults     int
	hours      float64 // instance-hours
	violations int
	problems   int // anything else that failed
	took       time.Duration
}

func (r result) failed() bool { return r.violations > 0 || r.problems > 0 || r.runs == 0 }

// hasty are the flags of a program that tells one story: it is built in little more than half the time, without what would
// make it quick itself.
var hasty = []string{"-vet=off", "-ldflags=-s -w", "-gcflags=github.com/remuda-run/remuda/...=-N -l"}

// build makes the simulation's test program, with the files of an overlay if one is named. It returns what the
// compiler said.
func build(ctx context.Context, root, program, overlay string) (string, error) {
	args := []string{"test", "-c", "-o", program}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
		args = append(args, hasty...)
	}
	cmd := command(ctx, root, "go", append(args, "./e2e/sim")...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// command is a process that is asked to end, with all it started, when ctx does.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// standing runs a test of the simulation in several processes at once, each of which takes its share.
func standing(test string, args ...string) func(context.Context, options, string, string) result {
	return func(ctx context.Context, o options, _, program string) result {
		var all result
		var mu sync.Mutex
		var shards errgroup.Group
		for i := range o.procs {
			shards.Go(func() error {
				shard := fmt.Sprintf("-sim.shard=%d/%d", i, o.procs)
				text, err := test1(ctx, o.root, program, append([]string{"-test.run=^" + test + "$", shard}, args...)...)
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprint(o.out, complaints(text))
				all.add(tally(text))
				if err != nil && all.violations == 0 {
					fmt.Fprintf(o.out, "%s %s: %v\n", test, shard, err)
					all.problems++
				}
				return nil
			})
		}
		_ = shards.Wait() // they return none
		return all
	}
}

// random is standing for the random stories, whose length is an option.
func random(ctx context.Context, o options, work, program string) result {
	return standing("TestRandom", fmt.Sprintf("-sim.seed=%d", o.seed), fmt.Sprintf("-sim.hours=%g", o.hours))(ctx, o, work, program)
}

// kills is standing for kills of the leader, whose number is an option.
func kills(ctx context.Context, o options, work, program string) result {
	return standing("TestKills", fmt.Sprintf("-sim.seed=%d", o.seed), fmt.Sprintf("-sim.kills=%d", o.kills))(ctx, o, work, program)
}

// test1 runs one process of the simulation's tests and returns what it said.
func test1(ctx context.Context, root, program string, args ...string) (string, error) {
	cmd := command(ctx, filepath.Join(root, "e2e", "sim"), program, append(args, "-test.v", "-test.timeout=0")...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 && strings.Contains(out.String(), "--- FAIL") {
		err = errors.New("the test failed")
	}
	return out.String(), err
}

// counted is how the tests of the simulation tell what they did.
var counted = regexp.MustCompile(`tally: stories=(\d+) faults=(\d+) hours=([0-9.e+]+) violations=(\d+)`)

// tally reads the counts in a test's output.
func tally(text string) result {
	var r result
	for _, m := range counted.FindAllStringSubmatch(text, -1) {
		n := func(i int) int { v, _ := strconv.Atoi(m[i]); return v } // digits, by the expression
		h, _ := strconv.ParseFloat(m[3], 64)
		r.add(result{runs: n(1), faults: n(2), hours: h, violations: n(4)})
	}
	return r
}

func (r *result) add(o result) {
	r.runs, r.faults, r.hours, r.violations, r.problems = r.runs+o.runs, r.faults+o.faults, r.hours+o.hours, r.violations+o.violations, r.problems+o.problems
}

// most is how many lines of a test's output are told.
const most = 200

// complaints returns what a test said, without the noise of its frame.
func complaints(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "PASS") || counted.MatchString(line) {
			continue
		}
		if n++; n > most {
			b.WriteString("…\n")
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// table is the summary.
func table(results []result, took time.Duration) string {
	var b strings.Builder
	row := func(cells ...any) { fmt.Fprintf(&b, "%-9s %9v %9v %15v %11v %9v %8v\n", cells...) }
	row("campaign", "runs", "faults", "instance-hours", "violations", "problems", "seconds")
	for _, r := range results {
		row(r.name, r.runs, r.faults, strconv.FormatFloat(r.hours, 'f', 0, 64), r.violations, r.problems, strconv.FormatFloat(r.took.Seconds(), 'f', 0, 64))
	}
	fmt.Fprintf(&b, "%.0f s in all\n", took.Seconds())
	return b.String()
}
