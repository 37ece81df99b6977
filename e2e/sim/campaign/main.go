// Command campaign is `make sim`: it breaks simulated installations in every way there is to break them, and shows
// that it would notice.
//
//	campaign                     every single fault, every pair on provision and release, random stories, planted bugs
//	campaign -seed 7 -hours 1e6  only random stories, from that seed, for so many instance-hours
//	campaign -kills 10000        only kills of the controller that leads
//	campaign -share 0.4          two fifths of all that, for those who have less time
//	campaign -only bugs          one of seeds, singles, pairs, random, kills, bugs
//	campaign -only killrate      how many planted bugs the others find without the stories that were written for them
//
// What takes hours (killrate, and random stories of a number of hours) is kept in a file as it comes, and goes on there
// after an interruption.
//
// A test process of the simulation uses one core, so that chance has no part in it; there is one process for each.
// It ends with a table, and with status 1 if a law was broken or a planted bug was not noticed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/remuda-run/remuda/e2e/sim/lived"
)

// hours is how many instance-hours of random stories are a part of all campaigns (docs/goals.md, G10).
const hours = 1e5

// someKills is how many kills of the controller are a part of all campaigns; docs/goals.md (G6) asks for 10,000 in a run of
// their own.
const someKills = 1000

// options are the flags.
type options struct {
	root  string
	procs int
	seed  uint64
	hours float64
	kills int
	share float64 // of singles, pairs, random stories, kills and planted bugs
	only  string
	out   io.Writer

	state    string // file of what was done; "": kept nowhere
	again    bool   // do it anew
	budget   time.Duration
	bugs     string // names with commas; "": all
	revision string
	publish  bool
}

func main() { os.Exit(start()) }

// start is main with a status.
func start() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{out: os.Stdout}
	flag.StringVar(&o.root, "root", ".", "the repository")
	flag.IntVar(&o.procs, "procs", 2, "processes at once")
	flag.StringVar(&o.only, "only", "", "one of "+strings.Join(names(), ", ")+"; all but killrate if empty")
	flag.StringVar(&o.state, "state", "", "file that keeps what was done; default dist/killrate.json, and dist/random.json with a seed or hours")
	flag.BoolVar(&o.again, "again", false, "do again what the state file has")
	budget := flag.String("budget", "", "killrate: time of a processor for each bug; default 30m")
	flag.StringVar(&o.bugs, "bugs", "", "killrate: only these, with commas between")
	flag.StringVar(&o.revision, "revision", "", "killrate: what was judged under another name is judged again; default the hash of the simulation without a bug")
	flag.BoolVar(&o.publish, "publish", false, "killrate: write what is known into docs/reliability.md")
	seed := flag.String("seed", "", "first seed: only random stories")
	span := flag.String("hours", "", "instance-hours of random stories; default 1e5")
	deaths := flag.String("kills", "", "kills of the leading controller; default "+strconv.Itoa(someKills)+" among all else")
	share := flag.String("share", "", "how much of singles, pairs, random stories, kills and planted bugs; default 1")
	flag.Parse()
	err := errors.Join(o.part(*share), o.numbers(*seed, *span, *deaths), o.spend(*budget))
	o.hours, o.kills = o.hours*o.share, max(1, int(float64(o.kills)*o.share))
	if err == nil {
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "campaign: %v\n", err)
		return 1
	}
	return 0
}

// numbers reads the flags that make may leave empty.
func (o *options) numbers(seed, span, deaths string) error {
	o.seed, o.hours, o.kills = 1, hours, someKills
	var err error
	if deaths != "" {
		o.only = "kills"
		if o.kills, err = strconv.Atoi(deaths); err != nil || o.kills < 1 {
			return fmt.Errorf("kills: must be a whole number above 0, got %q", deaths)
		}
	}
	if o.only == "" && (seed != "" || span != "") {
		o.only = "random"
	}
	if seed != "" {
		if o.seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return fmt.Errorf("seed: must be a whole number, got %q", seed)
		}
	}
	if span != "" {
		if o.hours, err = strconv.ParseFloat(span, 64); err != nil || !(o.hours > 0) {
			return fmt.Errorf("hours: must be a number above 0, got %q", span)
		}
	}
	switch {
	case o.state != "":
	case o.only == "killrate":
		o.state = filepath.Join(o.root, "dist", "killrate.json")
	case o.only == "random" && (seed != "" || span != ""):
		o.state = filepath.Join(o.root, "dist", "random.json")
	}
	if o.procs < 1 {
		return fmt.Errorf("procs: must be at least 1, got %d", o.procs)
	}
	if o.only != "" && !slices.Contains(names(), o.only) {
		return fmt.Errorf("only: must be one of %s, got %q", strings.Join(names(), ", "), o.only)
	}
	return nil
}

// part reads the share, which make may leave empty.
func (o *options) part(share string) (err error) {
	o.share = 1
	if share == "" {
		return nil
	}
	if o.share, err = strconv.ParseFloat(share, 64); err != nil || !(o.share > 0 && o.share <= 1) {
		return fmt.Errorf("share: must be a number above 0, at most 1, got %q", share)
	}
	return nil
}

// oneIn is one story, or bug, in how many makes up the share.
func (o options) oneIn() int { return int(math.RoundToEven(1 / max(o.share, 1e-6))) }

// spend reads the budget, which make may leave empty.
func (o *options) spend(budget string) (err error) {
	o.budget = wholeHunt
	if budget == "" {
		return nil
	}
	if o.budget, err = time.ParseDuration(budget); err != nil || o.budget <= 0 {
		return fmt.Errorf("budget: must be a duration above 0, such as 60s, got %q", budget)
	}
	return nil
}

// run goes through the campaigns and tells of each.
func run(ctx context.Context, o options) (err error) {
	work, err := os.MkdirTemp("", "remuda-campaign-")
	if err != nil {
		return fmt.Errorf("make a folder for the programs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if o.root, err = filepath.Abs(o.root); err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	program := filepath.Join(work, "sim.test")
	if text, err := build(ctx, o.root, program, ""); err != nil {
		return fmt.Errorf("build the simulation: %w\n%s", err, text)
	}
	begin := time.Now()
	var results []result
	for _, c := range campaigns {
		if o.only != c.name && (o.only != "" || c.alone) {
			continue
		}
		fmt.Fprintf(o.out, "%s: %s\n", c.name, c.about)
		start := time.Now()
		r := c.run(ctx, o, work, program)
		r.name, r.took = c.name, time.Since(start)
		results = append(results, r)
		if r.covered != nil {
			fmt.Fprint(o.out, r.covered.Tell(lived.Seen(covered(results))))
		}
		if ctx.Err() != nil {
			break
		}
	}
	fmt.Fprint(o.out, "\n"+table(results, time.Since(begin)))
	if all := covered(results); len(all) > 1 {
		fmt.Fprint(o.out, "\n"+lived.Table(all))
	}
	if ctx.Err() != nil {
		return errors.New("interrupted; what came of it so far is told above")
	}
	return failures(results)
}

// covered lists the coverage of those that told of it.
func covered(results []result) []lived.Named {
	var out []lived.Named
	for _, r := range results {
		if r.covered != nil {
			out = append(out, lived.Named{Name: r.name, Coverage: r.covered})
		}
	}
	return out
}

func failures(results []result) error {
	var failed []string
	for _, r := range results {
		if r.failed() {
			failed = append(failed, r.name)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %s; what broke is told above", strings.Join(failed, ", "))
	}
	return nil
}

// campaigns are carried out in this order.
var campaigns []campaign

type campaign struct {
	name, about string
	run         func(ctx context.Context, o options, work, program string) result
	alone       bool // only by its name
}

func init() {
	campaigns = []campaign{
		{"seeds", "a seed must give the same story again", standing("TestSeed_GivesTheSameStory"), false},
		{"singles", "each story with each single fault at each of its calls", shared("TestSingles"), false},
		{"pairs", "all pairs of faults on the path of provision and release", shared("TestPairs"), false},
		{"random", "random stories", random, false},
		{"kills", "kills of the controller that leads", kills, false},
		{"bugs", "each planted bug with a story of its own must break a law in it", bugs, false},
		{"killrate", "each planted bug, hunted with all of these but its own story", killrate, true},
	}
}

func names() []string {
	var out []string
	for _, c := range campaigns {
		out = append(out, c.name)
	}
	return out
}
