package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/machinelog"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Options configure an agent. A zero duration takes its default.
type Options struct {
	Store      *store.Store
	Principal  store.Principal
	InstanceID store.InstanceID
	Dir        string // state file and job-started hook; must exist
	Exe        string // this program, for the hook; default: os.Executable
	Repository string // owner/name or owner whose jobs may run here; "" does not check
	Version    string // reported with each heartbeat
	HookSocket bool   // serve HookSocket in Dir to job-started hooks; else only Confirm does what it does

	Clock  clock.WithTicker
	Offset func() time.Duration // the store's clock minus ours, if it knows that; nil: no difference
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

	// Refusal, if set, says why no run of a resource class may use this machine, and what the operator can do; "": it may.
	Refusal func(class string) string

	// KeepOutput, if set, keeps the end of what was printed on the machine where it outlives it. It is called before the
	// machine's end and before a report that may lead to it, once at a time. Secrets must not be in what is kept. Nothing
	// waits longer than keepLimit for it, and a failure has no consequence.
	KeepOutput func(ctx context.Context, reason string, secrets []string) error

	BootDeadline time.Duration       // from the first start until a record must have been read; default Limits.Created
	Grace        time.Duration       // after the deadline until the agent halts the machine; default Limits.AgentGrace
	Beat         time.Duration       // period of the heartbeat; default Limits.Beat
	IdleBeat     time.Duration       // the same while the machine waits for its next run; default Limits.IdleBeat, at least Beat
	IdlePoll     time.Duration       // between reads of the record while waiting for an assignment; default 250 ms
	Poll         time.Duration       // between reads otherwise; default 2 s
	NoticePoll   time.Duration       // between checks for an interruption notice; default: Poll
	OnlineLimit  time.Duration       // from the start of a listener until it must be online; default 60 s
	StartLimit   time.Duration       // for Runner.Start, configuration included; default 90 s
	Mask         machinelog.Patterns // the operator's patterns of text that reports must not show
	CleanLimit   time.Duration       // for stopping the listener and scrubbing; default 100 s, below Limits.Handshake
}

// ErrUsedUp says that machines of this class serve one run.
var ErrUsedUp = errors.New("agent: machine serves one run")

// CleanupError is the error of a refused cleanup.
type CleanupError struct {
	Cause string // one of store.UncleanCauses
	Err   error
}

func (e *CleanupError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *CleanupError) Unwrap() error { return e.Err }

// uncleanCause returns the cause that a refused cleanup is counted under; "" is store.UncleanOther.
func uncleanCause(err error) string {
	cause := new(CleanupError)
	switch {
	case errors.Is(err, ErrUsedUp):
		return store.UncleanOnce
	case errors.As(err, &cause):
	case errors.Is(err, context.DeadlineExceeded):
		return store.UncleanTimeout
	}
	return cause.Cause
}

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

// Defaults of the design that no limit of another part covers.
const (
	defaultIdlePoll = 250 * time.Millisecond
	defaultPoll     = 2 * time.Second
	// A registration takes 2.7 s (docs/goals.md); the rest is patience with GitHub.
	defaultOnlineLimit = 60 * time.Second
	defaultStartLimit  = 90 * time.Second
	defaultCleanLimit  = 100 * time.Second
)

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
		{"beat", &o.Beat, limits.Beat}, {"idle beat", &o.IdleBeat, max(cmp.Or(o.Beat, limits.Beat), limits.IdleBeat())}, {"idle poll", &o.IdlePoll, defaultIdlePoll}, {"poll", &o.Poll, defaultPoll},
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
	if o.Refusal == nil {
		o.Refusal = func(string) string { return "" }
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
