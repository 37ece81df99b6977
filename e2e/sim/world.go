package sim

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand"
	"os"
	"sync"
	"testing"
	"testing/cryptotest"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/pool/pooltest"
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

	history      *history
	transcript   *transcript
	clocks       *clocks
	faults       *faults
	disturbances *disturbances
	outages      *outages
	prices       *prices
	refusals     *refusals
	listings     *listings
	machines     *machines
	supervisor   *supervisor
	workflows    *workflows
	rest         rest
	verdicts     *verdicts

	ended   chan struct{}
	spoilt  chan struct{} // closed if the story ends with a violation
	running sync.WaitGroup
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
	dir, err := Scratch()
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
		time.Sleep(o.After) // a bubble begins with the year 2000
		w := newWorld(o, dir)
		w.run()
		r = w.end()
	})
	return r
}

// Scratch makes a folder for all agents' state files, in memory where the system has that. The caller removes it.
func Scratch() (string, error) {
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
		ended: make(chan struct{}), spoilt: make(chan struct{}),
	}
	if os.Getenv("REMUDA_TEST_LOG") != "" {
		w.log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	w.table = o.newTable(clk)
	var table store.Table = w.table
	if o.Under != nil {
		table = o.Under(table)
	}
	w.prices, w.refusals = newPrices(w), newRefusals(w)
	w.outages, w.listings, w.machines = newOutages(w), &listings{w: w}, &machines{w: w, all: map[string]*machine{}}
	w.supervisor, w.workflows = &supervisor{w: w, cfg: o.config()}, &workflows{w: w, cut: map[string]bool{}}
	w.rest, w.verdicts = rest{w: w}, newVerdicts(w)
	w.transcript, w.clocks, w.faults, w.disturbances = &transcript{w: w}, newClocks(w), newFaults(w), &disturbances{w: w}
	w.truth = newTruth(w, table)
	w.history = newHistory(w)
	w.fleet.OnLaunch(w.machines.boot)
	w.fleet.OnTerminate(w.machines.off)
	w.fleet.SetEndDelay(5 * time.Second)
	return w
}

// since returns the time of the story.
func (w *World) since() time.Duration { return w.clock.Since(w.begin) }

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
		w.supervisor.start(fmt.Sprintf("controller-%d", i+1))
	}
	for _, s := range w.o.Steps {
		if !w.sleep(s.At - w.since()) {
			return
		}
		w.transcript.tellf("%s", s.What)
		if disturbs(s.Act) {
			w.disturbances.note(lasting(s.Act), killsLeader(s.Act))
		}
		s.Do(w)
	}
	if w.o.CalmAt > 0 {
		w.sleep(w.o.CalmAt - w.since())
	}
	w.faults.end()
	w.rest.settle()
}

// end stops everything and reports.
func (w *World) end() Report {
	elapsed := w.since()
	w.transcript.publish()
	close(w.ended)
	for _, c := range w.supervisor.all {
		c.stop()
	}
	for _, f := range w.workflows.all {
		f.proc.kill()
	}
	w.machines.end()
	w.running.Wait()
	w.truth.finish()
	accesses, open := w.history.check()
	r := w.truth.report()
	r.Accesses, r.Open = accesses, open
	r.Elapsed, r.Settled, r.Restarts = elapsed, w.rest.settled, w.supervisor.restarts
	w.faults.report(&r)
	return r
}

// store returns the store as p sees it.
func (w *World) store(p *process) *store.Store { return store.New(tableGate{p, w.truth}) }
