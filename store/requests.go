package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/remuda-run/remuda/statemachine"
)

// conflicting returns the stored item a write collided with.
func conflicting(err error) (*Item, bool) {
	var conflict *ConflictError
	if errors.As(err, &conflict) && conflict.Current != nil {
		return conflict.Current, true
	}
	return nil, false
}

// SameSpec reports whether both ask for the same.
func (r RunRequest) SameSpec(o RunRequest) bool {
	return r.Count == o.Count && slices.Equal(r.UsageClasses, o.UsageClasses) &&
		slices.Equal(r.AllowedInstanceTypes, o.AllowedInstanceTypes) && r.ResourceClass == o.ResourceClass &&
		r.MaxRuntime == o.MaxRuntime && r.Timeout == o.Timeout
}

// Released reports whether the request's current attempt was given back.
func (r RunRequest) Released() bool { return r.ReleasedAttempt >= r.Attempt }

// Request reads a request. ErrNotFound means that there is none.
func (s *Store) Request(ctx context.Context, c Consistency, id RequestID) (RunRequest, error) {
	var r RunRequest
	err := s.get(ctx, c, RequestKey(id, KindRunRequest), &r)
	return r, err
}

// Seen says that a client still waits for attempt.
func (s *Store) Seen(ctx context.Context, id RequestID, attempt int, now time.Time) error {
	return s.put(ctx, &RunClient{
		ID: id, Attempt: attempt, SeenAt: At(now), ExpiresAt: now.Add(signalLife).Truncate(time.Second),
	}, Unconditional)
}

// notify hints to the controller that a key deserves a look; a lost hint costs latency only, so its failure is no error.
func (s *Store) notify(ctx context.Context, k Key) { _ = s.table.Notify(ctx, k) }

// Notify asks the controller to look at a request again.
func (s *Store) Notify(ctx context.Context, id RequestID) error {
	return s.table.Notify(ctx, RequestKey(id, KindRunRequest))
}

// RunRecords are the three records of one request. Nil: absent.
type RunRecords struct {
	Request *RunRequest
	Client  *RunClient
	Status  *RunStatus
	Bad     *BadRequest // there is a request, and it cannot be read
}

// Settled reports whether a controller has nothing left to do for the request, as far as its records show.
func (r RunRecords) Settled() bool {
	waits := r.Request != nil && (r.Status == nil || r.Status.Attempt < r.Request.Attempt)
	return !waits && (r.Status == nil || !r.Status.ExpiresAt.IsZero())
}

// BadRequest is a request that cannot be read.
type BadRequest struct {
	Attempt int // as far as that can be read; else 0
	Err     error
}

// Run reads the three records of a request at once. A sign of life that cannot be read is none.
func (s *Store) Run(ctx context.Context, c Consistency, id RequestID) (RunRecords, error) {
	var out RunRecords
	items, err := s.table.Get(ctx, c,
		RequestKey(id, KindRunRequest), RequestKey(id, KindRunClient), RequestKey(id, KindRunStatus))
	if err != nil {
		return out, fmt.Errorf("read request %s: %w", id, err)
	}
	for _, item := range items {
		switch item.Key.Sort {
		case KindRunRequest:
			r := new(RunRequest)
			if bad := decode(item, r); bad != nil {
				out.Bad = &BadRequest{Attempt: max(0, r.Attempt), Err: bad}
				continue
			}
			out.Request = r
		case KindRunClient:
			if c := new(RunClient); decode(item, c) == nil {
				out.Client = c
			}
		case KindRunStatus:
			out.Status = new(RunStatus)
			err = decode(item, out.Status)
		}
		if err != nil {
			return RunRecords{}, err
		}
	}
	return out, nil
}

// Clients reads what clients wrote of requests, consistently and in as few calls as the table allows: the requests and
// the signs of life. A request without either is left out; bad records are passed to bad and left out.
func (s *Store) Clients(ctx context.Context, bad func(Key, error), ids ...RequestID) (map[RequestID]RunRecords, error) {
	keys := make([]Key, 0, 2*len(ids))
	for _, id := range ids {
		keys = append(keys, RequestKey(id, KindRunRequest), RequestKey(id, KindRunClient))
	}
	found, err := s.find(ctx, fmt.Sprintf("what clients wrote of %d requests", len(ids)), bad, keys)
	return found.Runs, err
}

// Status reads the controller's answer. ErrNotFound means that there is none yet.
func (s *Store) Status(ctx context.Context, c Consistency, id RequestID) (RunStatus, error) {
	var st RunStatus
	err := s.get(ctx, c, RequestKey(id, KindRunStatus), &st)
	return st, err
}

// PutStatus moves the request by event and stores st over the version it carries. Accept starts
// st.Attempt afresh, from whatever phase an older attempt had.
func (s *Store) PutStatus(ctx context.Context, st RunStatus, event statemachine.RequestEvent, now time.Time) (RunStatus, error) {
	from := st.Phase
	if event == statemachine.Accept {
		from = statemachine.Unseen
	}
	next, err := statemachine.NextPhase(from, event)
	if err != nil {
		return st, fmt.Errorf("status of %s: %w", st.ID, err)
	}
	out := st
	out.Phase, out.ChangedAt = next, At(now)
	out.Message = Head(st.Message, MaxMessage)
	if next != from {
		switch next {
		case statemachine.Pending:
			out.PendingAt, out.ReadyAt, out.EndsAt, out.FailedAt, out.ReleasedAt = At(now), Time{}, Time{}, Time{}, Time{}
		case statemachine.Ready:
			out.ReadyAt = At(now)
		case statemachine.Failed:
			out.FailedAt = At(now)
		case statemachine.PhaseReleased:
			out.ReleasedAt = At(now)
		case statemachine.Unseen:
		}
	}
	if event == statemachine.Accept {
		out.History = "" // an older attempt's
	}
	if code, tells := codeOf(event); tells {
		out.History = out.History.With(out.PendingAt, Entry{now, code, out.outcome(event)})
	}
	if next != statemachine.Pending {
		out.ReasonSince = Time{}
	}
	return stored(ctx, s, fmt.Sprintf("status %s", event), st, out)
}

// ExpireRequest lets the record of a request that holds nothing expire, unless it has changed.
func (s *Store) ExpireRequest(ctx context.Context, r RunRequest, at time.Time) (RunRequest, error) {
	out := r
	out.ExpiresAt = at.Truncate(time.Second)
	return stored(ctx, s, "expire", r, out)
}

// ExpireStatus lets the status of a request that holds nothing expire.
func (s *Store) ExpireStatus(ctx context.Context, st RunStatus, at, now time.Time) (RunStatus, error) {
	out := st
	out.ExpiresAt, out.ChangedAt = at.Truncate(time.Second), At(now)
	return stored(ctx, s, "expire status", st, out)
}

// UnmarshalJSON reads a request. It accepts any time in RFC 3339 format as createdAt. Workflows write these attributes, so only this
// function parses them. It clears invalid attributes that describe the run, so that they do not block the request.
func (r *RunRequest) UnmarshalJSON(b []byte) error {
	type fields RunRequest
	in := struct {
		*fields
		CreatedAt       json.RawMessage `json:"createdAt"`
		Repository      json.RawMessage `json:"repository"`
		WorkflowRun     json.RawMessage `json:"workflowRun"`
		WorkflowAttempt json.RawMessage `json:"workflowAttempt"`
		NoWait          json.RawMessage `json:"noWait"`
		OriginalCount   json.RawMessage `json:"originalCount"`
		ReleaseReason   json.RawMessage `json:"releaseReason"`
	}{fields: (*fields)(r)}
	err := json.Unmarshal(b, &in)
	r.CreatedAt = Time{}
	if at, err := time.Parse(time.RFC3339, readable[string](in.CreatedAt)); err == nil && at.Year() >= 0 && at.Year() <= 9999 {
		r.CreatedAt = At(at)
	}
	r.Repository, r.NoWait = readable[string](in.Repository), readable[bool](in.NoWait)
	r.WorkflowRun, r.WorkflowAttempt = max(0, readable[int64](in.WorkflowRun)), max(0, readable[int](in.WorkflowAttempt))
	r.OriginalCount, r.ReleaseReason = max(0, readable[int](in.OriginalCount)), readable[ReleaseReason](in.ReleaseReason)
	if !ValidRepository(r.Repository) {
		r.Repository = ""
	}
	if !reasonForm().MatchString(string(r.ReleaseReason)) {
		r.ReleaseReason = ""
	}
	if err == nil {
		err = r.bounded()
	}
	if err != nil {
		*r = RunRequest{Attempt: r.Attempt} // the answer needs the attempt
	}
	return err
}

// bounded returns the fields that make a request too large for memory. It also replaces unknown release modes.
func (r *RunRequest) bounded() error {
	longer := func(most int) func(string) bool { return func(text string) bool { return len(text) > most } }
	if len(r.AllowedInstanceTypes) > MaxPatterns || slices.ContainsFunc(r.AllowedInstanceTypes, longer(maxPattern)) ||
		len(r.UsageClasses) > 2 || slices.ContainsFunc(r.UsageClasses, longer(maxName)) {
		return r.Check()
	}
	if err := short("resourceClass", r.ResourceClass, "release", string(r.Release)); err != nil {
		return err
	}
	if r.Release != "" && r.Release != ReleaseNow {
		r.Release = ReleaseDrain // the only mode that this version knows, and it ends no job
	}
	return nil
}

// readable returns the value of a JSON text, and the zero value of one that has another type, or is absent.
func readable[T any](text json.RawMessage) T {
	var v, unset T
	if json.Unmarshal(text, &v) != nil {
		return unset
	}
	return v
}

// NoteWatch writes down what the controller knows of a request's run at GitHub, and did to it, in whatever phase it is.
func (s *Store) NoteWatch(ctx context.Context, st RunStatus, w Watch, now time.Time) (RunStatus, error) {
	out := st
	out.Watch, out.ChangedAt = w, At(now)
	out.Watch.Detail, out.Watch.Waits = Head(w.Detail, MaxMessage), Head(w.Waits, MaxMessage)
	return stored(ctx, s, "note what became of the run", st, out)
}
