package store

import (
	"fmt"
	"math"
	"time"

	"github.com/remuda-run/remuda/statemachine"
)

// InstanceID is the fleet's name of an instance, such as i-0abc.
type InstanceID string

// Principal names the owner of an instance's partition: the instance id, or on AWS
// "<role unique id>:<instance id>", which is aws:userid of its role session.
type Principal string

// RequestID is the GitHub run id, or "<run id>-<suffix>". It is also the runner label.
type RequestID string

// The usage classes of an instance: how EC2 sells it.
const (
	Spot     = "spot"
	OnDemand = "on-demand"
)

// ReleaseMode says how a run's instances come back.
type ReleaseMode string

// ReleaseDrain waits for running jobs. ReleaseNow does not: the run was cancelled.
const (
	ReleaseDrain ReleaseMode = "drain"
	ReleaseNow   ReleaseMode = "now"
)

// RunRequest is what a client wants. The client writes it; the controller adds only ExpiresAt.
type RunRequest struct {
	ID                   RequestID   `json:"-"`
	Attempt              int         `json:"attempt"`              // the run's attempt, from 1
	Count                int         `json:"count"`                // instances wanted, from 1
	UsageClasses         []string    `json:"usageClass"`           // spot, on-demand; in order of preference
	AllowedInstanceTypes []string    `json:"allowedInstanceTypes"` // patterns, * matches any text
	ResourceClass        string      `json:"resourceClass"`
	MaxRuntime           Seconds     `json:"maxRuntime"`      // from Ready to the end of the run
	Timeout              Seconds     `json:"timeout"`         // from Pending to Ready or Failed
	ReleasedAttempt      int         `json:"releasedAttempt"` // highest attempt given back; only rises
	Release              ReleaseMode `json:"release"`         // how, "" while none is
	CreatedAt            Time        `json:"createdAt"`       // client's clock

	// The run at GitHub, and how the controller serves it. Unset they are no attributes of the item, so that a role
	// without permission for them may write it.
	Repository      string        `json:"repository,omitempty"`      // owner/name
	WorkflowRun     int64         `json:"workflowRun,omitempty"`     // GitHub's id of the run
	WorkflowAttempt int           `json:"workflowAttempt,omitempty"` // GitHub's number of the attempt
	NoWait          bool          `json:"noWait,omitempty"`          // nobody waits for an answer: no client can be lost
	OriginalCount   int           `json:"originalCount,omitempty"`   // the controller asks, at most for so many; 0: a client does
	ReleaseReason   ReleaseReason `json:"releaseReason,omitempty"`   // why the controller gave it back; "": a client did

	Version   int64     `json:"-"`
	ExpiresAt time.Time `json:"-"`
}

// ReleaseReason says why the controller gave a request back.
type ReleaseReason string

// The reasons.
const (
	RunOver  ReleaseReason = "run_over"  // its run is completed, or gone
	RunWaits ReleaseReason = "run_waits" // its run waits for an approval, and none of its jobs for a runner
	RunStuck ReleaseReason = "run_stuck" // no runner takes the queued jobs of its run
)

// Seconds is a duration stored as a number of seconds.
type Seconds float64

// SecondsOf converts d.
func SecondsOf(d time.Duration) Seconds { return Seconds(d.Seconds()) }

// Duration converts back. What no Duration can hold becomes the nearest that one can.
func (s Seconds) Duration() time.Duration {
	switch ns := float64(s) * float64(time.Second); {
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= math.MinInt64:
		return math.MinInt64
	default:
		return time.Duration(ns)
	}
}

// RunClient says when a waiting client was last alive, on its own clock.
type RunClient struct {
	ID        RequestID `json:"-"`
	Attempt   int       `json:"attempt"`
	SeenAt    Time      `json:"seenAt"`
	ExpiresAt time.Time `json:"-"`
}

// RunStatus is the controller's answer to a RunRequest.
type RunStatus struct {
	ID         RequestID          `json:"-"`
	Attempt    int                `json:"attempt"`
	Phase      statemachine.Phase `json:"phase"`
	Deadline   Time               `json:"deadline"` // for Ready; after it the attempt fails
	Reason     string             `json:"reason"`   // one word for programs, see reconciler.Reason*
	Message    string             `json:"message"`  // one sentence for people
	Instances  []Seat             `json:"instances"`
	Counts     Counts             `json:"counts"`
	PendingAt  Time               `json:"pendingAt"`
	ReadyAt    Time               `json:"readyAt"`
	EndsAt     Time               `json:"endsAt,omitzero"` // the deadline set when the request became Ready; jobs are then ended
	FailedAt   Time               `json:"failedAt"`
	ReleasedAt Time               `json:"releasedAt"`
	ChangedAt  Time               `json:"changedAt"`

	OriginalCount int   `json:"originalCount,omitempty"` // of the request that it answers
	Watch         Watch `json:"watch,omitzero"`

	ReasonSince Time    `json:"reasonSince,omitzero"` // since when it waits for what Reason says; zero unless it is Pending
	History     History `json:"history,omitempty"`    // of the attempt, from PendingAt

	Spent Spent `json:"spent,omitzero"` // what its machines cost, once it is over

	Version   int64     `json:"-"`
	ExpiresAt time.Time `json:"-"`
}

// Watch says whether the controller watches the request's run at GitHub, and what it did there.
type Watch struct {
	State        WatchState `json:"state,omitempty"`
	Cancel       Doing      `json:"cancel,omitempty"`       // of the run: nobody waits for this request, and it failed
	Rerun        Doing      `json:"rerun,omitempty"`        // of the jobs that were lost with their machines: once per run
	RerunAttempt int        `json:"rerunAttempt,omitempty"` // GitHub's number of the attempt whose jobs those are
	Detail       string     `json:"detail,omitempty"`       // what was done last, or why not; one sentence for people
	Waits        string     `json:"waits,omitempty"`        // queued jobs that no runner takes, and why, as text
	WaitsSince   Time       `json:"waitsSince,omitzero"`    // when Waits was reported
}

// WatchState says whether a run is watched.
type WatchState string

// The states; "" says that GitHub was not asked yet.
const (
	Watched      WatchState = "watched"
	WatchUnnamed WatchState = "unnamed" // the request names no run
	WatchOutside WatchState = "outside" // its repository is not within github.url
	WatchDenied  WatchState = "denied"  // GitHub does not show its runs
	WatchOff     WatchState = "off"     // runs.share is 0
)

// Doing is how far the controller is with something that it does once.
type Doing string

// The stages; "" says that there is nothing to do.
const (
	Intended Doing = "intended" // written before the call
	Done     Doing = "done"
	NotDone  Doing = "not done" // and why is said in Watch.Detail
)

// Seat is one instance a request was given.
type Seat struct {
	InstanceID   InstanceID `json:"instanceId"`
	InstanceType string     `json:"instanceType"`
	UsageClass   string     `json:"usageClass"`
	Warm         bool       `json:"warm"`    // reused, not launched for this request
	Seconds      float64    `json:"seconds"` // from Pending until it was handed over
}

// Counts show a waiting client how far its request is. Wanted is the request's count.
type Counts struct {
	Wanted    int `json:"wanted"`
	Claimed   int `json:"claimed"`   // warm, not handed over yet
	Created   int `json:"created"`   // cold, not handed over yet
	Ready     int `json:"ready"`     // reported ready or handed over
	Launching int `json:"launching"` // seats of launches without an outcome
	Launched  int `json:"launched"`  // instances ever launched for this attempt
}

// Instance is the controller's record of one instance. Only Store.Transition changes State,
// RunID, Threshold and Assignment.
type Instance struct {
	Principal       Principal          `json:"-"`
	ID              InstanceID         `json:"instanceId"`
	State           statemachine.State `json:"state"`
	RunID           RequestID          `json:"runId"`   // "" unless owned
	Attempt         int                `json:"attempt"` // of the owning run; 0 unless owned
	Threshold       Time               `json:"threshold"`
	Assignment      int64              `json:"assignment"` // grows by one whenever RunID changes
	Since           Time               `json:"since"`      // last change of State or Assignment
	PooledAt        Time               `json:"pooledAt"`   // zero unless claimable
	Release         ReleaseMode        `json:"release"`    // how the last run ended
	ResourceClass   string             `json:"resourceClass"`
	UsageClass      string             `json:"usageClass"`
	InstanceType    string             `json:"instanceType"`
	CPU             int                `json:"cpu"` // vCPUs it really has
	Mem             int                `json:"mem"` // MiB it really has
	Zone            string             `json:"zone"`
	LaunchToken     string             `json:"launchToken"`
	TemplateVersion string             `json:"templateVersion"`
	Registration    Registration       `json:"registration"`
	SealKey         string             `json:"sealKey"`               // the key that registrations are encrypted with; set with the first one, never changed
	Reason          string             `json:"reason"`                // why the instance was terminated
	Detail          string             `json:"detail"`                // the last lines of the failed step
	StateReason     string             `json:"stateReason,omitempty"` // why the fleet ended the instance, as it reports: code and message
	Limits          KeptLimits         `json:"limits,omitzero"`       // the limits of its launch and its last claim
	Price           float64            `json:"price,omitempty"`       // dollars per hour, list price at the launch; 0: not known
	CreatedAt       Time               `json:"createdAt"`
	Term            int64              `json:"term"` // of the lease under which the record was made
	ChangedAt       Time               `json:"changedAt"`
	History         History            `json:"history,omitempty"` // from CreatedAt
	Version         int64              `json:"-"`
	ExpiresAt       time.Time          `json:"-"` // set once the fleet confirmed it is gone
}

// RegistrationMode says how often a registration can be used.
type RegistrationMode string

// JIT serves one job, Token all jobs of the run.
const (
	JIT   RegistrationMode = "jit"
	Token RegistrationMode = "token"
)

// Registration is what an agent needs to register one runner. Secret is sealed to the machine's key where that
// has one (Sealed), and cleared once used.
type Registration struct {
	Serial     int64            `json:"serial"` // grows by one per registration of this instance, for ever
	Assignment int64            `json:"assignment"`
	Mode       RegistrationMode `json:"mode"`
	Name       string           `json:"name"`     // <instance id>-<term>.<serial>: never used before (ADR 0006)
	RunnerID   int64            `json:"runnerId"` // GitHub's id; 0 until known (Token mode)
	URL        string           `json:"url"`      // repository or organisation
	Secret     string           `json:"secret"`   // encoded JIT configuration, or registration token
	MintedAt   Time             `json:"mintedAt"`
	Ahead      bool             `json:"ahead,omitempty"` // made for an idle machine, under a label that no job has
}

// Heartbeat is written by the agent every Limits.Beat, or IdleBeat if the last one said so.
type Heartbeat struct {
	Principal Principal `json:"-"`
	Value     string    `json:"value"`     // always Ping
	UpdatedAt Time      `json:"updatedAt"` // agent's clock
	Beat      Beat      `json:"beat"`
	ExpiresAt time.Time `json:"-"`
}

// Ping is the value of every heartbeat.
const Ping = "PING"

// Beat is what the agent says about itself with each heartbeat.
type Beat struct {
	Assignment   int64  `json:"assignment"` // the one it works on
	Busy         bool   `json:"busy"`       // a job runs
	Runner       string `json:"runner"`     // listener state, see agent
	RunnerID     int64  `json:"runnerId"`
	AgentVersion string `json:"agentVersion"`
	Interrupted  bool   `json:"interrupted"`         // two-minute notice received
	Idle         bool   `json:"idle,omitzero"`       // it waits for its next run: unless something changes, the next comes after Limits.IdleBeat
	Key          string `json:"key"`                 // public part of the machine's key; "" of an agent that has none
	JobBegan     Time   `json:"jobBegan,omitzero"`   // when the last job did, by the agent's clock; zero: none in this process's life
	JobEnded     Time   `json:"jobEnded,omitzero"`   // the same of its end
	Listening    int64  `json:"listening,omitempty"` // serial of the registration made ahead under which its listener is online; 0: none
}

// SignalName is the name of a worker signal.
type SignalName string

// The signals of an agent.
const (
	ScriptOK     SignalName = "UD_OK"
	ScriptFailed SignalName = "UD_FAILED"
	RegOK        SignalName = "UD_REG_OK"
	RegFailed    SignalName = "UD_REG_FAILED"
	RegNext      SignalName = "UD_REG_NEXT"
	RemoveOK     SignalName = "UD_REMOVE_REG_OK"
	RemoveFailed SignalName = "UD_REMOVE_REG_FAILED"
)

// Causes of RegFailed. Throttled and unavailable are GitHub's fault and reject no instance. Refused, deprecated and
// silent may be GitHub's or the machine's: other machines show which (ADR 0015). Machine is certainly its own. Host says
// that no machine like this one can do what its class asks for, so that another launch is of no use.
const (
	CauseThrottled   = "throttled"
	CauseUnavailable = "unavailable"
	CauseRefused     = "refused"
	CauseDeprecated  = "deprecated"
	CauseSilent      = "silent" // the listener runs, is not online, and does not say why
	CauseMachine     = "machine"
	CauseHost        = "host"
)

// Signal is the agent's last report. It counts only if RunID and Assignment match the instance.
type Signal struct {
	Principal Principal   `json:"-"`
	Value     SignalValue `json:"value"`
	UpdatedAt Time        `json:"updatedAt"` // agent's clock
	ExpiresAt time.Time   `json:"-"`
}

// SignalValue is what was reported, and for which assignment.
type SignalValue struct {
	Signal     SignalName `json:"signal"`
	RunID      RequestID  `json:"runId"`
	Assignment int64      `json:"assignment"`
	Serial     int64      `json:"serial"` // of the registration, 0 if none
	Cause      string     `json:"cause"`
	Detail     string     `json:"detail"` // at most MaxDetail bytes, the end of the output

	ScriptSeconds Seconds `json:"scriptSeconds,omitempty"` // the pre-runner script took; of the first assignment's reports only
}

// MaxDetail bounds SignalValue.Detail and Instance.Detail, in bytes.
const MaxDetail = 2048

// SchemaVersion is that of the records that this program writes. It grows with a change that an earlier version cannot work
// with, such as another meaning of what it reads, and with nothing else: new attributes and kinds are ignored by it.
const SchemaVersion = 1

// Lease names the one active controller, and the schema of what controllers write.
type Lease struct {
	Holder  string `json:"holder"` // "" when given up
	Term    int64  `json:"term"`
	Renewed Time   `json:"renewed"`          // holder's clock; for people
	Schema  int    `json:"schema,omitempty"` // the highest of those who led; 0: they told none, which is 1
	Health  Health `json:"health,omitzero"`
	Version int64  `json:"-"`
}

// Known reports as ErrSchema that a controller has led whose records this program may not understand.
func (l Lease) Known() error {
	if l.Schema <= SchemaVersion {
		return nil
	}
	return fmt.Errorf("the records have schema %d, last written by version %s, and this program knows %d: run that version or a later one: %w",
		l.Schema, shown(l.Health.ControllerVersion), SchemaVersion, ErrSchema)
}

// Health is what a controller knows of itself, told with each renewal of its lease and never written for its own
// sake. All of it is for people: no controller acts on another's. Instants are the holder's clock, as Lease.Renewed.
type Health struct {
	ControllerVersion   string       `json:"controllerVersion,omitempty"`
	ScannedAt           Time         `json:"scannedAt,omitzero"`           // end of its last complete reading of the records; zero: none yet
	SweptAt             Time         `json:"sweptAt,omitzero"`             // end of its last complete comparison with the fleet; zero: none yet
	BreakerOpenAt       Time         `json:"breakerOpenAt,omitzero"`       // since when the circuit breaker is open; zero: it is closed
	ListingIncompleteAt Time         `json:"listingIncompleteAt,omitzero"` // since when the fleet's listing is not believed; zero: it is
	GitHub              GitHubBudget `json:"github,omitzero"`
	GitHubOutage        Outage       `json:"githubOutage,omitzero"` // none: it serves
	FleetOutage         Outage       `json:"fleetOutage,omitzero"`
	Budget              Budget       `json:"budget,omitzero"`          // none: there is none
	ConfigRefused       string       `json:"configRefused,omitempty"`  // what is wrong with its changed configuration, of which nothing is in force; "": nothing
	ConfigRefusedAt     Time         `json:"configRefusedAt,omitzero"` // since when something is
}

// Outage is a service that does not serve.
type Outage struct {
	Reason string `json:"reason"` // one word for programs, see reconciler.Reason*
	Since  Time   `json:"since"`
	Detail string `json:"detail,omitempty"` // an error, cut
}

// GitHubBudget is what GitHub last said of the calls that it allows in an hour.
type GitHubBudget struct {
	Remaining int  `json:"remaining"`
	Limit     int  `json:"limit"` // 0: it has not said
	ResetAt   Time `json:"resetAt,omitzero"`
}

// Led reports whether a controller leads at now, as far as the lease shows: it was renewed, or given up, no longer than
// within ago. Who waits to lead asks its own clock instead, which compares no two.
func (l Lease) Led(now time.Time, within time.Duration) bool {
	return !now.After(l.Renewed.Add(within))
}

// DrainOrder asks the controller to dismiss every matching instance whose record is older than the order.
// Empty fields match everything. The operator's client writes it; the controller adds by its own clock and
// term what "older" means, so that no two clocks are compared.
type DrainOrder struct {
	ID            string     `json:"-"`
	InstanceID    InstanceID `json:"instanceId"`
	ResourceClass string     `json:"resourceClass"`
	Now           bool       `json:"now,omitempty"` // without waiting for jobs
	CreatedAt     Time       `json:"createdAt"`     // operator's clock; for people
	EffectiveAt   Time       `json:"effectiveAt"`   // controller's clock when it took the order up; zero: not yet
	Term          int64      `json:"term"`          // of that controller's lease
	Version       int64      `json:"-"`
	ExpiresAt     time.Time  `json:"-"`
}
