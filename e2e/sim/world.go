package sim

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// World is one installation in one bubble.
type World struct {
	o     Script
	clock clock.WithTicker
	begin time.Time
	dir   string // of all agents
	log   *slog.Logger

	truth *truth
	table *storetest.Memory // below truth
	pool  pool.Pool
	fleet *fleettest.Memory
	hub   *githubsim.Hub
	cfg   reconciler.Config

	history      *history
	transcriptMu sync.Mutex
	transcript   []line

	mu           sync.Mutex
	seen         map[Call]int // of all processes
	exact        map[Call]map[int]Kind
	fired        []Fired
	trace        uint64
	machines     map[string]*machine
	controllers  []*supervised
	flows        []*workflow
	restarts     int
	restarted    time.Time                // when the last of them died
	down         map[string]int           // contracts that are out of order, and for how many reasons
	cuts         []cut                    // who is cut off from what
	hidden       map[string]bool          // from listings of the whole fleet
	slow         map[string]time.Duration // contracts whose calls take up to so much longer
	hot          share                    // of the table's partitions refuse every call
	refusedUntil time.Duration            // the fleet refuses to end some machines, or is out of reach
	configured   time.Time                // when the configuration was changed; zero: never
	wasCut       bool                     // somebody ever was
	liveFault    func(Call) Kind          // the fault of a call that passes a gate, which takes no time; nil: see Script. Set by Live
	cut          map[string]bool          // jobs that a test wants to end before they are done: see Live
	waived       map[string]bool          // laws that do not hold here, and reasons that exempt a machine's end: see Live; guarded by truth.mu
	steps        map[string]time.Duration // by how much somebody set the clock of a program forward
	cutOff       [][2]time.Duration       // when runners could not reach GitHub: from, to
	calm         bool                     // no fault any more
	disturbed    time.Duration            // until when anything was out of order, or a call met a fault
	upset        time.Duration            // the same, but for deaths of controllers
	hotUntil     time.Duration            // until when partitions refused calls
	scarce       time.Duration            // when the fleet last had less to offer

	ended   chan struct{}
	spoilt  chan struct{} // closed if the story ends with a violation
	running sync.WaitGroup
}

// Fired is a fault that happened.
type Fired struct {
	Fault

	At      time.Duration // since the beginning of the world
	Process string
}

// Report is what became of a story.
type Report struct {
	Violations []Violation
	Fired      []Fired
	Made       map[Call]int // calls
	Calls      int
	Requests   int           // asked for
	Ready      int           // answered with machines
	Failed     int           // answered with a reason
	Restarts   int           // of controllers that had died
	Launched   int           // machines
	Jobs       int           // completed with success
	Hours      float64       // instance-hours lived
	Settled    time.Duration // from the last fault, step or job until everything stood still
	Elapsed    time.Duration // virtual
	Accesses   int           // to the records of instances, whose order was found
	Open       int           // and those among them that had no answer
	Failovers  []Failover
	Terms      int64  // of the lease
	Undone     int    // writes of deposed leaders that were refused
	Belated    int    // and those of items that no successor had written yet
	Trace      uint64 // of every call and its time: the same for the same story
	Coverage   Coverage
}

// Run tells a story in a bubble of its own. t is only the bubble's: violations are the caller's to judge.
func Run(t *testing.T, o Script) (r Report) {
	t.Helper()
	o = o.complete()
	dir, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}()
	rand.Seed(int64(o.Seed)) //nolint:staticcheck,gosec // the retries of a library draw from it; see the directive below
	cryptotest.SetGlobalRandom(t, o.Seed)
	bubbletest.Run(t, func(t *testing.T) {
		w := newWorld(o, dir)
		w.run()
		r = w.end()
	})
	return r
}

// scratch makes the folder of all agents' state files: in memory where the system has that.
func scratch() (string, error) {
	for _, parent := range []string{"/dev/shm", ""} {
		if dir, err := os.MkdirTemp(parent, "remuda-sim-"); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("make a scratch folder in /dev/shm or %s: none is writable", os.TempDir())
}

func newWorld(o Script, dir string) *World {
	clk := clock.RealClock{}
	w := &World{
		o: o, clock: clk, begin: clk.Now(), dir: dir, log: slog.New(slog.DiscardHandler),
		pool: pooltest.NewMemory(clk), fleet: fleettest.NewMemory(clk),
		hub: githubsim.New(githubsim.Options{
			Clock: clk, JITLapse: o.JITLapse, OnlineFor: o.paced(githubsim.DefaultOnlineFor),
			SessionTimeout: o.paced(githubsim.DefaultSessionTimeout), PollWait: o.paced(githubsim.DefaultPollWait),
		}),
		seen: map[Call]int{}, exact: map[Call]map[int]Kind{}, machines: map[string]*machine{}, down: map[string]int{}, steps: map[string]time.Duration{}, slow: map[string]time.Duration{}, ended: make(chan struct{}), spoilt: make(chan struct{}),
	}
	if os.Getenv("REMUDA_TEST_LOG") != "" {
		w.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	w.cfg = o.config()
	w.table = o.newTable(clk)
	var table store.Table = w.table
	if o.Under != nil {
		table = o.Under(table)
	}
	w.truth = newTruth(w, table)
	w.history = newHistory(w.since, w.hides)
	for _, f := range o.Faults {
		if w.exact[f.Call] == nil {
			w.exact[f.Call] = map[int]Kind{}
		}
		w.exact[f.Call][f.N] = f.Kind
	}
	w.fleet.OnLaunch(w.boot)
	w.fleet.OnTerminate(w.off)
	w.fleet.SetEndDelay(5 * time.Second)
	return w
}

// since returns the time of the story.
func (w *World) since() time.Duration { return w.clock.Since(w.begin) }

// faultOf decides what fault a call meets, and remembers it.
func (w *World) faultOf(p *process, c Call, k key) Kind {
	if w.liveFault != nil {
		return w.liveFault(c)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[c]++
	w.trace += mix(uint64(newHash(uint64(w.since())).text(p.name).end().call(c))) // calls of the same instant have no order
	if w.o.Trace != nil {
		_, _ = fmt.Fprintf(w.o.Trace, "%12d %s %s\n", w.since(), p.name, c) // for people
	}
	kind := w.exact[c][w.seen[c]]
	if kind == "" && !w.calm && len(w.o.Rates) > 0 {
		kind = w.drawn(c.Site, k)
	}
	if kind != "" {
		f := Fault{c, w.seen[c], kind}
		w.fired = append(w.fired, Fired{f, w.since(), p.name})
		if !kind.weak() {
			died := p.role == Controller && (kind == CrashBefore || kind == CrashAfter)
			w.disturbLocked(longestHang, died) // it may take so long to show
		}
		w.tellf("fault %s (%s)", f, p.name)
	}
	return kind
}

// drawn throws the dice once for a call.
func (w *World) drawn(s Site, k key) Kind {
	x := k.float()
	for _, kind := range s.Kinds() {
		if x -= w.o.Rates[kind]; x < 0 {
			return kind
		}
	}
	return ""
}

// later does something after d, unless the world has ended.
func (w *World) later(d time.Duration, do func(context.Context)) {
	w.running.Go(func() {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			do(context.Background())
		case <-w.ended:
		}
	})
}

// listed is what a listing of machines shows with a kind of fault.
func (p *process) listed(all []fleet.Machine, kind Kind, _ key) []fleet.Machine {
	if kind == Stale {
		return slices.DeleteFunc(all, func(m fleet.Machine) bool { return p.w.clock.Since(m.LaunchedAt) <= time.Minute })
	}
	if kind == Forgets {
		return p.forgetOne(all)
	}
	return all
}

// lagging shows runners as not busy, as GitHub does for up to a minute.
func (w *World) lagging(all []githubapi.Runner, kind Kind, _ key) []githubapi.Runner {
	for i := range all {
		all[i].Busy = all[i].Busy && kind != Stale
	}
	return all
}

// disturbs reports whether an action puts anything out of order. What runs, operators and the fleet's offer ask for is everyday.
func disturbs(a Action) bool {
	switch a.(type) {
	case Workflow, drain, template, capacity, scarce, orphanMachine:
		return false
	}
	return true
}

// killsLeader reports whether an action is the death of a controller.
func killsLeader(a Action) bool {
	k, ok := a.(kill)
	return ok && strings.HasPrefix(k.Who, string(Controller))
}

// disturb notes that something is out of order for d from now on. A controller that died leaves all to the next one.
func (w *World) disturb(d time.Duration, died bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disturbLocked(d, died)
}

// disturbLocked is disturb, with w.mu held.
func (w *World) disturbLocked(d time.Duration, died bool) {
	w.disturbed = max(w.disturbed, w.since()+d)
	if !died {
		w.upset = max(w.upset, w.since()+d)
	}
}

// calmSince returns the time of the story since which nothing is out of order; later than now: something is. A story in which
// nothing ever was has been calm for longer than it lasts.
func (w *World) calmSince() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calmFrom(w.disturbed)
}

// succeedsSince is calmSince, for what a controller makes good at once that takes over from one that died.
func (w *World) succeedsSince() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calmFrom(w.upset)
}

func (w *World) calmFrom(last time.Duration) time.Duration {
	if last == 0 {
		return -w.o.paced(time.Hour)
	}
	return last
}

// sleep waits, and reports whether the story goes on.
func (w *World) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-w.spoilt:
		return false
	case <-t.C:
		return true
	}
}

// run lives through the script.
func (w *World) run() {
	w.inherit()
	w.truth.watch()
	for i := range w.o.Controllers {
		w.controller(fmt.Sprintf("controller-%d", i+1))
	}
	for _, s := range w.o.Steps {
		if !w.sleep(s.At - w.since()) {
			return
		}
		w.tellf("%s", s.What)
		if disturbs(s.Act) {
			w.disturb(lasting(s.Act), killsLeader(s.Act))
		}
		s.Do(w)
	}
	if w.o.CalmAt > 0 {
		w.sleep(w.o.CalmAt - w.since())
	}
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
	w.settle()
}

// end stops everything and reports.
func (w *World) end() Report {
	elapsed := w.since()
	w.publish()
	close(w.ended)
	for _, c := range w.controllers {
		c.stop()
	}
	for _, f := range w.flows {
		f.proc.kill()
	}
	w.killAll()
	w.running.Wait()
	w.truth.finish()
	accesses, open := w.history.check(w.truth.violate)
	r := w.truth.report()
	r.Accesses, r.Open, r.Coverage = accesses, open, w.truth.coverage
	r.Elapsed, r.Restarts, r.Fired, r.Made, r.Trace = elapsed, w.restarts, w.fired, w.seen, w.trace
	for _, n := range w.seen {
		r.Calls += n
	}
	return r
}

// store returns the store as p sees it.
func (w *World) store(p *process) *store.Store { return store.New(tableGate{p, w.truth}) }
