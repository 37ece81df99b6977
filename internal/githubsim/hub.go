// Package githubsim is a simulated GitHub Actions service: the REST calls that remuda makes, the
// service side of the runner program, and a queue that hands a job only to an online, idle runner
// that carries its label.
//
// Hub is the whole of it in memory. Its methods are plain calls, without a network or goroutines
// of its own, so that it works inside a testing/synctest bubble. Three sides use it:
//
//   - the client's: JITConfig, RegistrationToken, Runners, FindRunner, AddLabel, DeleteRunner, URL. These are
//     methods of *githubapi.Client and return its error kinds, so a Hub stands wherever a client does;
//   - the runner's: Register, Unregister, Connect, then a Session; Attach is a whole runner in one call;
//   - the tests' and the operator's: Submit, Cancel, Job, Jobs, Wait, Until, Registrations,
//     NamesUsedTwice, Calls, Unchanged, SetOutage, SetTrouble, SetRateLimit, SetSecondaryLimit, SetLatency, SetDeprecated, SetEnd, SetGroups, SetApp,
//     SetConflicts, Expire, Evict, OfferUpdate; and Workflows, which has the workflow runs.
//
// Serve and Handler put HTTP on top, Remote is the runner's side of that, and package simrunner is
// the runner program that uses it.
//
// There is one scope: owner and repository, or enterprise, of a call are not looked at, but for runs, each of which
// belongs to a repository. Where the real service's
// behaviour is documented or visible in the runner's source, the hub does the same; the rest is
// said at the option or method concerned.
package githubsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// Errors of the runner's side. Those of the client's side are the kinds of package githubapi.
var (
	// ErrUnauthorized: the token or secret is unknown or has expired.
	ErrUnauthorized = errors.New("github sim: unauthorized")
	// ErrRunnerGone: the runner is not registered, or no longer.
	ErrRunnerGone = errors.New("github sim: runner is not registered")
	// ErrSessionConflict: the runner has a session already.
	ErrSessionConflict = errors.New("github sim: runner has a session already")
	// ErrSessionGone: the session was closed or timed out.
	ErrSessionGone = errors.New("github sim: session is over")
	// ErrDeprecated: the service takes no runner of this version any more.
	ErrDeprecated = errors.New("github sim: runner version is deprecated and cannot receive messages")
	// ErrInvalid: the service would not accept these values (422).
	ErrInvalid = errors.New("github sim: invalid")
	// ErrNoRun: no run of that id.
	ErrNoRun = errors.New("github sim: no such run")
	// ErrNoJob: no job of that id.
	ErrNoJob = errors.New("github sim: no such job")
	// ErrNoGroup: no runner group of that name or id.
	ErrNoGroup = fmt.Errorf("github sim: no such runner group: %w", errNotFound)
	// ErrNoAnswer: the server could not be reached, or did not answer.
	ErrNoAnswer = fmt.Errorf("no answer: %w", githubapi.ErrUnavailable)
)

// errLost: the call was carried out, but nobody is to learn of it.
var errLost = fmt.Errorf("reply lost: %w", githubapi.ErrUnavailable)

// Defaults of Options.
const (
	// DefaultOnlineFor is how long a runner counts as online after its last sign of life. The real
	// service takes about a minute; shorter keeps simulations quick and still covers a poll that
	// waits for a busy machine.
	DefaultOnlineFor = 15 * time.Second
	// DefaultSessionTimeout is how long a session outlives its last sign of life. The real service
	// gives a job's lock 10 minutes (actions/runner, src/Runner.Listener/JobDispatcher.cs renews it
	// every minute); shorter for the same reason.
	DefaultSessionTimeout = 60 * time.Second
	// DefaultPollWait is the longest wait of one poll for a message, below DefaultOnlineFor so that
	// a runner whose connection hangs is noticed. The real service waits about 50 s.
	DefaultPollWait = 10 * time.Second
	// DefaultAccessFor is how long the access token of a session lasts. The real service says so with each; an
	// hour is what it gives elsewhere (GitHub Docs, "Generating an installation access token").
	DefaultAccessFor = time.Hour
	// DefaultURL is what a hub without a server says its repository is. The name never resolves
	// (RFC 2606).
	DefaultURL = "http://github.invalid/octo/repo"
)

// Options of a Hub. Only Clock is required.
type Options struct {
	Clock clock.WithTicker
	// URL of the repository or organisation, as runners are configured with it.
	URL            string
	OnlineFor      time.Duration
	SessionTimeout time.Duration
	PollWait       time.Duration
	AccessFor      time.Duration
	// JITLapse removes a runner made by JITConfig that got no job for so long after its creation or
	// last session start; 0 keeps it (actions/runner#4726 reports minutes on the real service).
	JITLapse time.Duration
	// BusyLag is how late Runners shows that a runner became busy or idle; the real service lags by
	// up to a minute. DeleteRunner always knows.
	BusyLag time.Duration
	Latency Latency
}

// Latency delays answers, each after the call was counted and before it is carried out. A client's call
// that takes longer than githubapi.CallTimeout is carried out then, and its answer is lost.
type Latency struct {
	API     time.Duration // client's calls
	Session time.Duration // runner's Register and Connect: the part of a warm start inside GitHub
}

// Hub is the simulated service. All methods are safe for concurrent use.
type Hub struct {
	opts       Options
	monitor    *monitor
	admission  *admission
	registry   *registry
	jobs       *jobs
	sessions   *sessions
	dispatcher *dispatcher
	workflows  *Workflows

	url    string
	tokens tokens
	app    app
	groups groups

	manifests manifests
	ends      map[string]githubapi.Deprecation // by version of the runner
}

// New returns a hub with nothing registered. It starts nothing.
func New(o Options) *Hub {
	o.URL = cmp.Or(o.URL, DefaultURL)
	o.OnlineFor = cmp.Or(o.OnlineFor, DefaultOnlineFor)
	o.SessionTimeout = cmp.Or(o.SessionTimeout, DefaultSessionTimeout)
	o.PollWait = cmp.Or(o.PollWait, DefaultPollWait)
	o.AccessFor = cmp.Or(o.AccessFor, DefaultAccessFor)
	m := &monitor{clock: o.Clock, changed: make(chan struct{})}
	h := &Hub{
		opts: o, monitor: m,
		admission: &admission{
			monitor: m, calls: map[Call]int{}, unchanged: map[Call]int{}, latency: o.Latency,
			services: map[Service]disruption{}, limits: map[string]*window{},
		},
		registry: &registry{opts: o, monitor: m, names: map[string]*runner{}, carriers: map[string][]*runner{}},
		jobs:     &jobs{monitor: m, byID: map[string]*job{}, queued: map[string][]*job{}},
		sessions: &sessions{open: map[string]*session{}},
		url:      o.URL,
		tokens:   tokens{},
		groups:   groups{defaultGroup},
		ends:     map[string]githubapi.Deprecation{},

		manifests: manifests{codes: map[string]manifest{}},
	}
	hosted := &hosted{monitor: m}
	h.dispatcher = &dispatcher{
		opts: o, monitor: m, jobs: h.jobs, registry: h.registry, sessions: h.sessions, hosted: hosted, evicted: map[string]eviction{},
	}
	h.workflows = &Workflows{
		hub: h, hosted: hosted, byID: map[int64]*run{}, view: view{instants: map[string]time.Time{}}, access: access{},
	}
	return h
}

// do counts a call, applies latency, outage and rate limit, and then runs f under the lock with
// one reading of the clock.
func (h *Hub) do(ctx context.Context, c Call, f func(now time.Time) error) error {
	slow, err := h.admission.admit(ctx, c)
	if err != nil {
		return fmt.Errorf("github sim: %s: %w", c, err)
	}
	var lost bool
	h.dispatcher.view(func(now time.Time) {
		err = f(now)
		if !c.reads() {
			h.monitor.broadcast()
		}
		lost = slow || h.admission.loses(c)
	})
	if err != nil {
		return fmt.Errorf("github sim: %s: %w", c, err)
	}
	if lost {
		return fmt.Errorf("github sim: %s: %w", c, errLost)
	}
	return nil
}

// Calls returns how often each call was made, refused ones included.
func (h *Hub) Calls() map[Call]int {
	var out map[Call]int
	h.monitor.with(func(time.Time) { out = maps.Clone(h.admission.calls) })
	return out
}

// Until waits until cond holds. It evaluates cond after every change and whenever time alone may
// have changed something. cond may call the hub. The error is ctx's.
func (h *Hub) Until(ctx context.Context, cond func() bool) error {
	for {
		var changed <-chan struct{}
		var now, next time.Time
		h.dispatcher.view(func(at time.Time) { now, changed, next = at, h.monitor.changed, h.monitor.next })
		if cond() {
			return nil
		}
		if err := h.monitor.pause(ctx, changed, next, now); err != nil {
			return err
		}
	}
}
