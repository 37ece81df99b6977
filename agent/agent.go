// Package agent is the authority on one machine: it runs the operator's script, registers the
// runner its record asks for, drains and cleans up after it, reports, and powers the machine off
// when its time is over.
//
// It is level-based: it reads its own record, compares it with the machine, acts and reports; it
// never needs a push, and it may be killed and started again at any point. Heartbeat and dead-man
// timer run in goroutines of their own, so that nothing that may block, neither script nor runner
// nor store, can stop them. See docs/architecture.md#agent.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// EnvMarker marks every process that belongs to an instance: the agent, its script, the runner and
// its jobs. The value is the instance id.
const EnvMarker = "REMUDA_INSTANCE_ID"

// ErrHalted says that Run ended because the machine was told to power off.
var ErrHalted = errors.New("agent: machine halted")

// Options configure an agent. A zero duration takes its default.
type Options struct {
	Store      *store.Store
	Principal  store.Principal
	InstanceID store.InstanceID
	Dir        string // state file and job-started hook; must exist
	Exe        string // this program, for the hook; default: os.Executable
	Repository string // owner/name or owner whose jobs may run here; "" does not check
	Version    string // reported with each heartbeat

	Clock  clock.WithTicker
	Offset func() time.Duration // the store's clock minus ours, if it can tell; nil: no difference
	Jitter func() float64       // uniform in [0,1); nil: math/rand
	Log    *slog.Logger

	Runner  Runner
	Machine Machine
	Script  Script // nil: none

	// Connect, if set, finds Store and Principal, for machines that cannot know them at once: it is
	// called under the dead-man timer, until it succeeds. A call may take connectLimit.
	Connect func(ctx context.Context) (*store.Store, store.Principal, error)
	// TakeOver, if set, ends what guards the machine while no agent does. It is called once the
	// dead-man timer runs, until it succeeds.
	TakeOver func(ctx context.Context) error

	// Prefetch, if set, is called once after the first heartbeat, beside everything else, for what takes
	// long and is needed later. It reports nothing: who needs it tries again. It ends with ctx.
	Prefetch func(ctx context.Context)

	BootDeadline time.Duration // from the first start until a record must have been seen; default Limits.Created
	Grace        time.Duration // past the threshold before the machine is halted; default Limits.AgentGrace
	Beat         time.Duration // period of the heartbeat; default Limits.Beat
	IdlePoll     time.Duration // between reads of the record while waiting for an assignment; default 250 ms
	Poll         time.Duration // between reads otherwise; default 2 s
	NoticePoll   time.Duration // between looks for an interruption notice; default: Poll
	OnlineLimit  time.Duration // from the start of a listener until it must be online; default 60 s
	StartLimit   time.Duration // for Runner.Start, configuration included; default 90 s
	CleanLimit   time.Duration // for stopping the listener and scrubbing; default 100 s, below Limits.Handshake
}

// ErrUsedUp says that machines of this class serve one run.
var ErrUsedUp = errors.New("agent: machine serves one run")

// Machine is what the agent may do to the computer it runs on.
type Machine interface {
	// Halt powers the machine off; that ends it for good. It returns once this is under way. An
	// error means that it may stay on: Halt is called again.
	Halt(ctx context.Context, reason string) error
	// Scrub removes what a run of a resource class left behind, and checks. It returns nil only if the
	// machine may serve another run; ErrUsedUp if that is not to be.
	Scrub(ctx context.Context, class string) error
	// Interrupted reports whether the machine was given notice that it will be taken away.
	Interrupted(ctx context.Context) bool
}

// Script is the operator's pre-runner script.
type Script interface {
	// Run executes it and returns an error with its status and last lines unless it succeeded. It
	// leaves no process of it running when ctx ends.
	Run(ctx context.Context) error
}

// Defaults of the design that are nobody else's limits.
const (
	defaultIdlePoll = 250 * time.Millisecond
	defaultPoll     = 2 * time.Second
	// A registration takes 2.7 s (docs/goals.md); the rest is patience with GitHub.
	defaultOnlineLimit = 60 * time.Second
	defaultStartLimit  = 90 * time.Second
	defaultCleanLimit  = 100 * time.Second
)

// haltWait is how long Run waits for its own goroutines once the machine is told to halt. One that
// hangs must not keep the process alive.
const haltWait = 5 * time.Second

// Agent is one agent. Its methods but Run are internal to its goroutines.
type Agent struct {
	o       Options
	log     *slog.Logger
	disk    *disk
	key     store.MachineKey // opens registrations
	expiry  *expiry
	outbox  *outbox
	deadman *deadman

	kick    chan struct{} // wakes the worker
	beatNow chan struct{} // wakes the heartbeat
	beaten  chan struct{} // closed after the first heartbeat was tried
	fast    atomic.Bool   // poll with IdlePoll
	readNow chan struct{} // wakes the watch

	mu        sync.Mutex
	record    *store.Instance // newest seen by this process
	abort     context.CancelCauseFunc
	abortFor  int64 // the assignment whose start abort cancels
	listener  Listener
	phase     string // what the worker does, for the heartbeat; "" shows the listener
	ending    Ending // of the last listener of this assignment; "": none has ended
	interrupt bool

	// The worker's alone.
	retry   retry
	pause   *backoff.ExponentialBackOff
	started time.Time // when the listener was started or adopted
	online  time.Time // when it was first seen online; zero: not yet
	refused int       // jobs of the listener that the hook refused
}

// New returns an agent. It starts nothing, reads the state an earlier one left in o.Dir, and sets a
// state that cannot be read aside: an agent without memory is safer than none.
func New(o Options) (*Agent, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("configure agent: %w", err)
	}
	log := o.Log.With(logkey.InstanceID, o.InstanceID)
	d, err := openDisk(filepath.Join(o.Dir, stateFile), log)
	if err != nil {
		return nil, err
	}
	key, err := openKey(o.Dir, log)
	if err != nil {
		return nil, err
	}
	a := &Agent{
		o: o, log: log, disk: d, key: key,
		kick: make(chan struct{}, 1), beatNow: make(chan struct{}, 1), readNow: make(chan struct{}, 1),
		beaten: make(chan struct{}),
	}
	a.expiry = &expiry{clock: o.Clock, offset: o.Offset, grace: o.Grace, changed: make(chan struct{}, 1)}
	a.outbox = newOutbox(o.Clock, log)
	a.deadman = &deadman{
		clock: o.Clock, log: log, grace: o.Grace, machine: o.Machine, expiry: a.expiry, listener: a.current,
		armed: make(chan struct{}), orders: make(chan string, 1), off: make(chan struct{}),
	}
	a.pause = newPause()
	a.fast.Store(true)
	return a, nil
}

// complete fills in defaults and returns every missing option, joined.
func (o *Options) complete() error {
	var errs []error
	for _, f := range []struct {
		name    string
		missing bool
	}{
		{"store", o.Store == nil && o.Connect == nil}, {"principal", o.Principal == "" && o.Connect == nil}, {"instance id", o.InstanceID == ""},
		{"dir", o.Dir == ""}, {"clock", o.Clock == nil}, {"log", o.Log == nil}, {"runner", o.Runner == nil},
		{"machine", o.Machine == nil},
	} {
		if f.missing {
			errs = append(errs, fmt.Errorf("%s: must be set", f.name))
		}
	}
	if o.Connect != nil && (o.Store != nil || o.Principal != "") {
		errs = append(errs, errors.New("connect: must be nil if store or principal is set"))
	}
	limits := statemachine.DefaultLimits()
	for _, d := range []struct {
		name  string
		value *time.Duration
		or    time.Duration
	}{
		{"boot deadline", &o.BootDeadline, limits.Created}, {"grace", &o.Grace, limits.AgentGrace},
		{"beat", &o.Beat, limits.Beat}, {"idle poll", &o.IdlePoll, defaultIdlePoll}, {"poll", &o.Poll, defaultPoll},
		{"online limit", &o.OnlineLimit, defaultOnlineLimit}, {"start limit", &o.StartLimit, defaultStartLimit},
		{"clean limit", &o.CleanLimit, defaultCleanLimit},
		{"notice poll", &o.NoticePoll, cmp.Or(o.Poll, defaultPoll)},
	} {
		if *d.value == 0 {
			*d.value = d.or
		}
		if *d.value < 0 {
			errs = append(errs, fmt.Errorf("%s: must be greater than 0, got %s", d.name, *d.value))
		}
	}
	if o.Offset == nil {
		o.Offset = func() time.Duration { return 0 }
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Exe == "" {
		exe, err := os.Executable()
		if err != nil {
			errs = append(errs, fmt.Errorf("exe: %w", err))
		}
		o.Exe = exe
	}
	return errors.Join(errs...)
}

// Run works until ctx ends, and then returns nil and leaves a live listener to the next agent; or
// until the machine is halted, and then returns an error that wraps ErrHalted. All it started has
// ended then, except what still hangs haltWait after the machine was halted.
func (a *Agent) Run(ctx context.Context) error {
	a.begin()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return a.deadman.run(ctx) }) // before any user code (H03)
	g.Go(func() error { a.takeOver(ctx); return nil })
	g.Go(func() error { a.interrupts(ctx); return nil })
	g.Go(func() error {
		if !a.connect(ctx) {
			return nil
		}
		g.Go(func() error { a.beats(ctx); return nil })
		g.Go(func() error { a.outbox.run(ctx); return nil })
		g.Go(func() error { a.watch(ctx); return nil })
		g.Go(func() error { a.prefetch(ctx); return nil })
		a.work(ctx)
		return nil
	})
	done := make(chan error, 1)
	go func() { done <- g.Wait() }()
	select {
	case err := <-done:
		return err
	case <-a.deadman.off:
	}
	t := a.o.Clock.NewTimer(haltWait)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C():
		a.log.Error("halted with a part of the agent hanging")
		return ErrHalted
	}
}

// begin takes up what an earlier agent of this machine left.
func (a *Agent) begin() {
	now := a.o.Clock.Now()
	boot, err := process.BootID()
	if err != nil {
		a.log.Error("no process of an earlier agent can be known", logkey.Error, err)
	}
	a.save(func(s *State) {
		if s.StartedAt.IsZero() {
			s.StartedAt = store.At(now)
		}
		if s.Boot != boot || err != nil {
			s.Boot, s.Work.Listener = boot, process.Ref{}
		}
	})
	s := a.disk.get()
	a.expiry.boot(s.StartedAt.Add(a.o.BootDeadline), s.StartedAt.Time, now)
	if !s.Threshold.IsZero() {
		a.expiry.learn(s.Threshold.Time, s.ReadAt.Time, now)
	}
	if s.Report.Signal != "" { // its writer may have died before it was delivered
		a.outbox.post(s.Report)
		a.outbox.doubtful() // and an older one may be on its way
	}
}

// save updates the state. What cannot be written is still known until this process ends.
func (a *Agent) save(change func(*State)) {
	if err := a.disk.update(change); err != nil {
		a.log.Error("save state", logkey.Error, err)
	}
}

// poke fills a channel of capacity one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
