package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/lazyregexp"
	"github.com/remuda-run/remuda/statemachine"
)

// requestIDForm is what GitHub accepts as a label and remuda as a key: labels ignore case and
// split at commas (docs.github.com, "Using labels with self-hosted runners").
var requestIDForm = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,99}$`)

// Valid reports whether id may be used as a key and as a runner label. Ids of floors may not.
func (id RequestID) Valid() error {
	if !requestIDForm().MatchString(string(id)) {
		return fmt.Errorf("request id: must be 1 to 100 of a-z, 0-9 and -, not starting with -, got %.200q", string(id))
	}
	if _, floor := id.Floor(); floor {
		return errFloor
	}
	return nil
}

// nameForm bounds what else becomes a part of a key. A principal on AWS is a role's id and an instance's, 21
// and 19 characters (IAM, "aws:userid"); 200 leave room for other fleets.
var nameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9:_.@+=,-]{0,199}$`)

func validName(what, name string) error {
	if !nameForm().MatchString(name) {
		return fmt.Errorf("%s: must be 1 to 200 of letters, digits and :_.@+=,- not starting with one of these, got %.200q", what, name)
	}
	return nil
}

// principalIn returns the owner of a key in an instance's partition.
func principalIn(k Key) Principal {
	return Principal(strings.TrimPrefix(k.Partition, instancePrefix))
}

// Valid reports whether p may be used as a key.
func (p Principal) Valid() error { return validName("principal", string(p)) }

func (r *RunRequest) key() Key                   { return RequestKey(r.ID, KindRunRequest) }
func (r *RunRequest) meta() (*int64, *time.Time) { return &r.Version, &r.ExpiresAt }
func (r *RunRequest) setKey(k Key)               { r.ID = RequestID(strings.TrimPrefix(k.Partition, runPrefix)) }
func (r *RunRequest) validate() error {
	if r.Attempt < 1 {
		return fmt.Errorf("attempt: must be at least 1, got %d", r.Attempt)
	}
	return r.ID.Valid()
}

func (r *RunClient) key() Key                   { return RequestKey(r.ID, KindRunClient) }
func (r *RunClient) meta() (*int64, *time.Time) { return nil, &r.ExpiresAt }
func (r *RunClient) setKey(k Key)               { r.ID = RequestID(strings.TrimPrefix(k.Partition, runPrefix)) }
func (r *RunClient) validate() error            { return r.ID.Valid() }

func (r *RunStatus) key() Key                   { return RequestKey(r.ID, KindRunStatus) }
func (r *RunStatus) meta() (*int64, *time.Time) { return &r.Version, &r.ExpiresAt }
func (r *RunStatus) setKey(k Key)               { r.ID = RequestID(strings.TrimPrefix(k.Partition, runPrefix)) }
func (r *RunStatus) validate() error {
	if !slices.Contains(statemachine.Phases(), r.Phase) {
		return fmt.Errorf("phase: must be one of %v, got %q", statemachine.Phases(), r.Phase)
	}
	if err := r.History.validate(); err != nil {
		return err
	}
	return r.ID.Valid()
}

func (r *Instance) key() Key                   { return InstanceKey(r.Principal, KindInstance) }
func (r *Instance) meta() (*int64, *time.Time) { return &r.Version, &r.ExpiresAt }
func (r *Instance) setKey(k Key)               { r.Principal = principalIn(k) }

// validate rejects every shape that the table cannot produce, by any writer.
func (r *Instance) validate() error {
	owned := r.State.Owned()
	switch {
	case !r.State.Valid():
		return fmt.Errorf("state: must be one of %v, got %q", statemachine.States(), r.State)
	case r.ID == "" || r.Principal == "":
		return fmt.Errorf("instanceId, principal: must not be empty, got %q, %q", r.ID, r.Principal)
	case owned && r.RunID == "":
		return fmt.Errorf("runId: must be set in state %s", r.State)
	case !owned && r.RunID != "":
		return fmt.Errorf("runId: must be empty in state %s, got %q", r.State, r.RunID)
	case r.State == statemachine.Terminated && !r.Threshold.IsZero():
		return fmt.Errorf("threshold: must be empty in state %s, got %s", r.State, r.Threshold.Time.Format(time.RFC3339))
	case r.State != statemachine.Terminated && r.Threshold.IsZero():
		return fmt.Errorf("threshold: must be set in state %s", r.State)
	case r.State != statemachine.Idle && !r.PooledAt.IsZero():
		return fmt.Errorf("pooledAt: must be empty in state %s", r.State)
	case len(r.Detail) > MaxDetail:
		return fmt.Errorf("detail: must be at most %d bytes, got %d", MaxDetail, len(r.Detail))
	}
	return r.History.validate()
}

func (r *Heartbeat) key() Key                   { return InstanceKey(r.Principal, KindHeartbeat) }
func (r *Heartbeat) meta() (*int64, *time.Time) { return nil, &r.ExpiresAt }
func (r *Heartbeat) setKey(k Key)               { r.Principal = principalIn(k) }
func (r *Heartbeat) validate() error {
	if r.Value != Ping {
		return fmt.Errorf("value: must be %q, got %s", Ping, shown(r.Value))
	}
	if r.Beat.Key != "" {
		if _, err := publicKey(r.Beat.Key); err != nil {
			return err
		}
	}
	return short("beat.runner", r.Beat.Runner, "beat.agentVersion", r.Beat.AgentVersion)
}

func (r *Signal) key() Key                   { return InstanceKey(r.Principal, KindSignal) }
func (r *Signal) meta() (*int64, *time.Time) { return nil, &r.ExpiresAt }
func (r *Signal) setKey(k Key)               { r.Principal = principalIn(k) }
func (r *Signal) validate() error {
	switch r.Value.Signal {
	case ScriptOK, ScriptFailed, RegOK, RegFailed, RegNext, RemoveOK, RemoveFailed:
	default:
		return fmt.Errorf("signal: unknown name %s", shown(string(r.Value.Signal)))
	}
	if len(r.Value.Detail) > MaxDetail {
		return fmt.Errorf("detail: must be at most %d bytes, got %d", MaxDetail, len(r.Value.Detail))
	}
	return short("value.runId", string(r.Value.RunID), "value.cause", r.Value.Cause)
}

func (r *Launch) key() Key                   { return LaunchKey(r.Token) }
func (r *Launch) meta() (*int64, *time.Time) { return &r.Version, &r.ExpiresAt }
func (r *Launch) setKey(k Key)               { r.Token = strings.TrimPrefix(k.Partition, launchPrefix) }

// validate holds the token to what EC2 takes as ClientToken.
func (r *Launch) validate() error {
	if r.Token == "" || len(r.Token) > 64 {
		return fmt.Errorf("token: must be 1 to 64 characters, got %d", len(r.Token))
	}
	return nil
}

func (r *Lease) key() Key { return LeaseKey }
func (r *Lease) meta() (*int64, *time.Time) {
	return &r.Version, new(time.Time)
}
func (r *Lease) setKey(Key)      {}
func (r *Lease) validate() error { return nil }

func (r *DrainOrder) key() Key                   { return DrainKey(r.ID) }
func (r *DrainOrder) meta() (*int64, *time.Time) { return &r.Version, &r.ExpiresAt }
func (r *DrainOrder) setKey(k Key)               { r.ID = strings.TrimPrefix(k.Partition, drainPrefix) }
func (r *DrainOrder) validate() error {
	if err := validName("drain order", r.ID); err != nil {
		return err
	}
	return short("instanceId", string(r.InstanceID), "resourceClass", r.ResourceClass)
}
