package reconciler

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// GitHub is what the controller needs of GitHub.
type GitHub interface {
	// JITConfig registers a runner for one job. ErrNameTaken: choose another name.
	JITConfig(ctx context.Context, name, label string) (githubapi.JIT, error)
	// RegistrationToken returns a token good for at least some minutes.
	RegistrationToken(ctx context.Context) (githubapi.Token, error)
	// Runners lists every runner of the scope.
	Runners(ctx context.Context) ([]githubapi.Runner, error)
	// FindRunner returns the runner of a name, in whatever case, if there is one.
	FindRunner(ctx context.Context, name string) (githubapi.Runner, bool, error)
	// AddLabel gives a runner a label besides, once more if it has it; nil only where GitHub shows it. ErrGone: there is no such runner.
	AddLabel(ctx context.Context, id int64, label string) error
	// DeleteRunner deletes a runner. An unknown one is no error; ErrBusy: it runs a job.
	DeleteRunner(ctx context.Context, id int64) error
	// URL is the repository or organisation that runners register with.
	URL() string
}

// Class is the size of a resource class, and what is bounded for it alone.
type Class struct {
	CPU  int           // vCPUs, exactly
	Mem  int           // MiB, at least
	Idle time.Duration // in place of Limits.Idle; 0: that
	Cap  int           // instances of it that are not terminated, at once; 0: no own limit

	Floor Floor // idle machines kept while nobody asks; the zero value: none
}

// Config holds every number and choice of the controller. All must be set; see Defaults.
type Config struct {
	Holder       string // unique per process
	Registration store.RegistrationMode
	Classes      map[string]Class
	Limits       statemachine.Limits

	Ahead        int // idle instances that have a listener, at most, in mode JIT; 0: none
	MaxCount     int // instances per request
	MaxInstances int // instances that are not terminated, at once

	DefaultMaxRuntime time.Duration // for requests that name none
	MaxRuntime        time.Duration // longest max runtime and timeout of a request
	ClientSilence     time.Duration // a waiting client unseen for so long has gone
	Batch             time.Duration // requests of one kind within it share a launch
	Exclusion         time.Duration // how long a refused slot is left alone
	LaunchRetry       time.Duration // how long capacity that is missing everywhere is asked for again; 0: not at all

	HotPoll  time.Duration // vitals of instances something waits for
	WarmPoll time.Duration // vitals of all others
	Scan     time.Duration // everything
	Sweep    time.Duration // fleet against records
	Runners  time.Duration // GitHub's runners against records
	Orphan   time.Duration // an unknown machine is terminated after it

	Housekeeping time.Duration // each chore

	Watch  WatchConfig
	Prices Prices // nil: none is known
	Budget Budget // needs them

	LeaseTTL     time.Duration
	LeaseRequest time.Duration // longest time one lease write may take
}

// WatchConfig says how runs are watched at GitHub.
type WatchConfig struct {
	Off       bool
	Serves    string        // whose runs: owner/name, owner, or "" for those of any
	Poll      time.Duration // each repository
	Remember  time.Duration // how long the jobs of a run that is over may be run again
	RerunLost bool          // jobs that were lost with their machines are
}

// within reports whether the runs of a repository are ours.
func (c WatchConfig) within(repository string) bool {
	owner, _, _ := strings.Cut(repository, "/")
	return c.Serves == "" || strings.EqualFold(c.Serves, repository) || strings.EqualFold(c.Serves, owner)
}

// own returns the one repository whose runs are ours, in lower case; "" if there may be several.
func (c WatchConfig) own() string {
	if c.Off || !strings.Contains(c.Serves, "/") {
		return ""
	}
	return strings.ToLower(c.Serves)
}

// Defaults returns the numbers of the design. Holder and Classes remain to be set.
func Defaults() Config {
	return Config{
		Registration:      store.JIT,
		Limits:            statemachine.DefaultLimits(),
		MaxCount:          1000,
		MaxInstances:      100,
		DefaultMaxRuntime: 30 * time.Minute,
		MaxRuntime:        24 * time.Hour, // GitHub lets a job wait and run for days; a forgotten machine must not
		ClientSilence:     60 * time.Second,
		Batch:             35 * time.Millisecond, // as Karpenter's CreateFleet batcher
		Exclusion:         3 * time.Minute,
		LaunchRetry:       24 * time.Hour, // as MaxRuntime: no deadline is later
		HotPoll:           2 * time.Second,
		WarmPoll:          15 * time.Second,
		Scan:              3 * time.Minute,
		Sweep:             30 * time.Second,
		Runners:           10 * time.Minute,
		Orphan:            2 * time.Minute,
		Housekeeping:      5 * time.Minute,
		Watch:             WatchConfig{Poll: 15 * time.Second, Remember: 24 * time.Hour},
		LeaseTTL:          2 * time.Second, // fail-over within 3 s (docs/goals.md, G13)
		LeaseRequest:      500 * time.Millisecond,
	}
}

// React is how long a controller may take for what is due: a fail-over (G13), two looks at what is
// polled, and the answer of a back end, for which the lease allows as long as for its own call.
func (c Config) React() time.Duration { return 2*c.LeaseTTL + 2*c.LeaseRequest + 2*c.HotPoll }

// query says what r needs of an instance.
func (c Config) query(r store.RunRequest) (pool.Query, error) {
	class, ok := c.Classes[r.ResourceClass]
	if !ok {
		return pool.Query{}, fmt.Errorf("resourceClass: %.40q is not configured", r.ResourceClass)
	}
	return pool.Query{
		ResourceClass: r.ResourceClass,
		UsageClasses:  r.UsageClasses,
		AllowedTypes:  r.AllowedInstanceTypes,
		CPU:           class.CPU,
		Mem:           class.Mem,
	}, nil
}

// LimitsOf returns the limits of the instances of a class.
func (c Config) LimitsOf(class string) statemachine.Limits {
	limits := c.Limits
	limits.Idle = cmp.Or(c.Classes[class].Idle, limits.Idle)
	return limits
}

// classNames lists the configured classes in order.
func (c Config) classNames() []string { return slices.Sorted(maps.Keys(c.Classes)) }

// LaunchBudget is how many instances may ever be launched for one attempt of a request for count: enough for bad
// luck, not for a crash-looping script.
func LaunchBudget(count int) int { return count + max(3, count) }

// mostInstances returns how many instances of a class the caps ever allow, and which setting says so.
func (c Config) mostInstances(class string) (int, string) {
	if own := c.Classes[class].Cap; own > 0 && own < c.MaxInstances {
		return own, "classes." + class + ".cap"
	}
	return c.MaxInstances, "caps.maxInstances"
}
