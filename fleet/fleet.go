// Package fleet launches and terminates machines.
//
// Fleet is the contract of a back end, written for the weakest (EC2): a machine just launched may
// not be listed yet, a launch may come back partly filled, and any call may fail with its effect
// done. Launch is idempotent by its plan's token: repeating the identical call after an unknown
// outcome is always right. See docs/architecture.md#fleet.
package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error kinds. Callers test them with errors.Is.
var (
	// ErrNoCapacity: nothing could be launched now; Outcome.Refused says where.
	ErrNoCapacity = errors.New("fleet: no capacity")
	// ErrUnsatisfiable: no instance type of this fleet can ever match the spec.
	ErrUnsatisfiable = errors.New("fleet: no instance type matches")
	// ErrRefused: the fleet refuses these parameters or our permission; a retry cannot cure it.
	ErrRefused = errors.New("fleet: refused")
	// ErrThrottled: the fleet wants fewer calls.
	ErrThrottled = errors.New("fleet: throttled")
)

// Spec is what a launch is for.
type Spec struct {
	Token         string // unique for ever; 1 to 64 ASCII characters
	Count         int    // machines wanted, from 1
	ResourceClass string
	UsageClass    string   // spot or on-demand
	CPU           int      // vCPUs, exactly
	Mem           int      // MiB, at least
	AllowedTypes  []string // patterns of package internal/glob
	Excluded      []Slot   // where a launch was refused lately
}

// Slot is a place where machines come from. An empty field stands for any.
type Slot struct {
	UsageClass   string `json:"usageClass"`
	InstanceType string `json:"instanceType"` // in a refusal also the back end's own name of several
	Zone         string `json:"zone"`

	// ResourceClass is set by a back end that was refused what a class demands without a word of which
	// types: another class demands others, which may be there.
	ResourceClass string `json:"resourceClass,omitempty"`
}

// Plan is the complete, frozen input of one launch call. It is stored before the call is made.
type Plan struct {
	Token           string          `json:"token"`
	Count           int             `json:"count"`
	TemplateVersion string          `json:"templateVersion"`
	Params          json.RawMessage `json:"params"` // the back end's own
}

// State is what the fleet says of a machine.
type State string

// The states. Ending and Ended machines never come back.
const (
	Starting State = "starting"
	Up       State = "up"
	Ending   State = "ending"
	Ended    State = "ended"
)

// Machine is one instance as the fleet knows it.
type Machine struct {
	ID              string
	Principal       string // names the machine's own partition in the store
	State           State
	InstanceType    string
	UsageClass      string
	ResourceClass   string
	CPU             int // vCPUs it really has
	Mem             int // MiB it really has
	Zone            string
	LaunchToken     string
	TemplateVersion string
	LaunchedAt      time.Time
	StateReason     StateReason // why the machine ended or stopped; empty while it lives, or if the fleet gives no reason
}

// StateReason is why a machine ended, as the fleet reports it.
type StateReason struct {
	Code    string // such as Client.VolumeLimitExceeded
	Message string
	Refused bool   // further machines of the same launch will end for this reason, until an operator acts
	Remedy  string // what the operator can do
}

// Advice returns code, message and remedy.
func (r StateReason) Advice() string {
	if r.Remedy == "" {
		return r.String()
	}
	return r.String() + ": " + r.Remedy
}

// String returns code and message. EC2's messages often begin with the code.
func (r StateReason) String() string {
	if r.Message == "" || strings.HasPrefix(r.Message, r.Code) {
		return cmp.Or(r.Message, r.Code)
	}
	return r.Code + ": " + r.Message
}

// Outcome is the answer to a launch. Machines and refusals may come together.
type Outcome struct {
	Machines []Machine
	Refused  []Refusal
}

// Refusal says where and why the fleet gave less than asked for.
type Refusal struct {
	Slot    Slot
	Code    string // the fleet's own, such as InsufficientInstanceCapacity
	Message string
}

// TerminateError says that one machine could not be terminated.
type TerminateError struct {
	ID    string
	Cause error
}

func (e *TerminateError) Error() string { return fmt.Sprintf("terminate %s: %v", e.ID, e.Cause) }

// Unwrap returns the cause.
func (e *TerminateError) Unwrap() error { return e.Cause }

// TerminateErrors is what Terminate returns where one cause stood in the way of all: a joined *TerminateError for
// each of ids.
func TerminateErrors(ids []string, cause error) error {
	errs := make([]error, 0, len(ids))
	for _, id := range ids {
		errs = append(errs, &TerminateError{ID: id, Cause: cause})
	}
	return errors.Join(errs...)
}

// Fleet is one back end. All methods are safe for concurrent use. Every machine it returns carries
// this installation's mark; others are never listed and never terminated.
type Fleet interface {
	// Plan turns a spec into the input of a launch call. It has no side effect. It returns
	// ErrUnsatisfiable, or ErrNoCapacity if only exclusions stand in the way.
	Plan(ctx context.Context, s Spec) (Plan, error)
	// Launch makes the call. Fewer machines than asked for, even none, is no error if Outcome.Refused
	// says why. Repeated with the same plan it returns the same machines and launches none twice.
	// ErrRefused is definite; after any other error the outcome is unknown.
	Launch(ctx context.Context, p Plan) (Outcome, error)
	// Terminate ends machines and returns one joined *TerminateError for each that may still live.
	// Unknown ids are no error.
	Terminate(ctx context.Context, ids ...string) error
	// List returns every machine that is not Ended, and of the ended ones those still known; with a
	// token, only the machines of that launch. New machines may be missing for some minutes.
	List(ctx context.Context, token string) ([]Machine, error)
	// Templates returns the version that a machine of each class launched now would get, by class. Beside an error it
	// holds those that it could read.
	Templates(ctx context.Context, classes ...string) (map[string]string, error)
	// Close releases what Open took. Machines live on.
	Close() error
}

// Notifier is a Fleet that says at once when machines ended that nobody terminated. Of other fleets it is seen at the next look.
type Notifier interface {
	// Ended receives once for all that ended since the last receive. One receiver gets it.
	Ended() <-chan struct{}
}
