package store

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/remuda-run/remuda/statemachine"
)

// requestIDForm is what GitHub accepts as a label and remuda as a key: labels ignore case and
// split at commas (docs.github.com, "Using labels with self-hosted runners").
var requestIDForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,99}$`)

// Valid reports whether id may be used as a key and as a runner label.
func (id RequestID) Valid() error {
	if !requestIDForm.MatchString(string(id)) {
		return fmt.Errorf("request id: must be 1 to 100 of a-z, 0-9 and -, not starting with -, got %q", string(id))
	}
	return nil
}

func (r *RunRequest) key() Key                   { return RequestKey(r.ID, KindRunRequest) }
func (r *RunRequest) meta() (*int64, *time.Time) { return &r.Version, &r.ExpiresAt }
func (r *RunRequest) setKey(k Key)               { r.ID, _ = k.RequestID() }
func (r *RunRequest) validate() error {
	if r.Attempt < 1 {
		return fmt.Errorf("attempt: must be at least 1, got %d", r.Attempt)
	}
	return r.ID.Valid()
}

func (r *RunClient) key() Key                   { return RequestKey(r.ID, KindRunClient) }
func (r *RunClient) meta() (*int64, *time.Time) { return nil, &r.ExpiresAt }
func (r *RunClient) setKey(k Key)               { r.ID, _ = k.RequestID() }
func (r *RunClient) validate() error            { return r.ID.Valid() }

func (r *RunStatus) key() Key                   { return RequestKey(r.ID, KindRunStatus) }
func (r *RunStatus) meta() (*int64, *time.Time) { return &r.Version, &r.ExpiresAt }
func (r *RunStatus) setKey(k Key)               { r.ID, _ = k.RequestID() }
func (r *RunStatus) validate() error {
	switch r.Phase {
	case statemachine.Pending, statemachine.Ready, statemachine.Failed, statemachine.ReleasedPhase:
		return r.ID.Valid()
	case statemachine.Unseen:
	}
	return fmt.Errorf("phase: must be one of %v, got %q", statemachine.Phases(), r.Phase)
}

func (r *Instance) key() Key                   { return InstanceKey(r.Principal, KindInstance) }
func (r *Instance) meta() (*int64, *time.Time) { return &r.Version, &r.ExpiresAt }
func (r *Instance) setKey(k Key)               { r.Principal, _ = k.Principal() }

// validate rejects every shape that the table cannot produce, whoever wrote it.
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
		return fmt.Errorf("threshold: must be empty in state %s, got %s", r.State, r.Threshold.Format(time.RFC3339))
	case r.State != statemachine.Terminated && r.Threshold.IsZero():
		return fmt.Errorf("threshold: must be set in state %s", r.State)
	case r.State != statemachine.Idle && !r.PooledAt.IsZero():
		return fmt.Errorf("pooledAt: must be empty in state %s", r.State)
	case len(r.Detail) > MaxDetail:
		return fmt.Errorf("detail: must be at most %d bytes, got %d", MaxDetail, len(r.Detail))
	}
	return nil
}

func (r *Heartbeat) key() Key                   { return InstanceKey(r.Principal, KindHeartbeat) }
func (r *Heartbeat) meta() (*int64, *time.Time) { return nil, &r.ExpiresAt }
func (r *Heartbeat) setKey(k Key)               { r.Principal, _ = k.Principal() }
func (r *Heartbeat) validate() error {
	if r.Value != Ping {
		return fmt.Errorf("value: must be %q, got %q", Ping, r.Value)
	}
	return nil
}

func (r *Signal) key() Key                   { return InstanceKey(r.Principal, KindSignal) }
func (r *Signal) meta() (*int64, *time.Time) { return nil, &r.ExpiresAt }
func (r *Signal) setKey(k Key)               { r.Principal, _ = k.Principal() }
func (r *Signal) validate() error {
	switch r.Value.Signal {
	case ScriptOK, ScriptFailed, RegOK, RegFailed, RegNext, RemoveOK, RemoveFailed:
	default:
		return fmt.Errorf("signal: unknown name %q", r.Value.Signal)
	}
	if len(r.Value.Detail) > MaxDetail {
		return fmt.Errorf("detail: must be at most %d bytes, got %d", MaxDetail, len(r.Value.Detail))
	}
	return nil
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
func (r *DrainOrder) meta() (*int64, *time.Time) { return nil, &r.ExpiresAt }
func (r *DrainOrder) setKey(k Key)               { r.ID = strings.TrimPrefix(k.Partition, drainPrefix) }
func (r *DrainOrder) validate() error {
	if r.ID == "" {
		return fmt.Errorf("id: must not be empty")
	}
	return nil
}
