package reconciler_test

import (
	"fmt"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// What clients, jobs and operators do in a world.

// spec is a request with the defaults of the tests, and what the test wants otherwise.
func spec(id string, count int, otherwise ...func(*store.RunRequest)) store.RunRequest {
	r := store.RunRequest{
		ID: store.RequestID(id), Attempt: 1, Count: count, UsageClasses: []string{store.Spot},
		AllowedInstanceTypes: []string{"*"}, ResourceClass: "small",
		MaxRuntime: store.SecondsOf(30 * time.Minute), Timeout: store.SecondsOf(10 * time.Minute),
	}
	for _, change := range otherwise {
		change(&r)
	}
	return r
}

func within(limit time.Duration) func(*store.RunRequest) {
	return func(r *store.RunRequest) { r.Timeout = store.SecondsOf(limit) }
}

func lasting(limit time.Duration) func(*store.RunRequest) {
	return func(r *store.RunRequest) { r.MaxRuntime = store.SecondsOf(limit) }
}

func asAttempt(n int) func(*store.RunRequest) {
	return func(r *store.RunRequest) { r.Attempt = n }
}

func ofClass(class string) func(*store.RunRequest) {
	return func(r *store.RunRequest) { r.ResourceClass = class }
}

func ofUsage(classes ...string) func(*store.RunRequest) {
	return func(r *store.RunRequest) { r.UsageClasses = classes }
}

func ofTypes(patterns ...string) func(*store.RunRequest) {
	return func(r *store.RunRequest) { r.AllowedInstanceTypes = patterns }
}

// submit writes a request and keeps its client alive until the world ends or done is called.
func (w *world) submit(r store.RunRequest) (done func()) {
	w.t.Helper()
	r.CreatedAt = store.At(w.Clock.Now())
	if _, err := w.Store.Submit(w.t.Context(), r); err != nil {
		w.t.Fatalf("submit %s: %v", r.ID, err)
	}
	return w.Client(r)
}

func (w *world) release(id string, attempt int, mode store.ReleaseMode) {
	w.t.Helper()
	if err := w.GiveBack(w.t.Context(), store.RequestID(id), attempt, mode); err != nil {
		w.t.Fatalf("release %s: %v", id, err)
	}
}

// serve submits a request and waits until its attempt is Ready.
func (w *world) serve(r store.RunRequest, limit time.Duration) store.RunStatus {
	w.t.Helper()
	w.submit(r)
	return w.awaitPhase(string(r.ID), r.Attempt, statemachine.Ready, limit)
}

// give releases an attempt and waits until it is Released.
func (w *world) give(id string, attempt int, mode store.ReleaseMode, limit time.Duration) {
	w.t.Helper()
	w.release(id, attempt, mode)
	w.awaitPhase(id, attempt, statemachine.PhaseReleased, limit)
}

// drain gives an operator's order.
func (w *world) drain(o store.DrainOrder) {
	w.t.Helper()
	if o.CreatedAt.IsZero() {
		o.CreatedAt = store.At(w.Clock.Now())
	}
	if err := w.Store.OrderDrain(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// dismiss drains one instance and waits until its record says that it ends.
func (w *world) dismiss(id store.InstanceID) {
	w.t.Helper()
	w.drain(store.DrainOrder{ID: string(id), InstanceID: id})
	w.await(time.Minute, "marked", func() bool { return w.instance(id).State == statemachine.Terminated })
}

// jobs queues n jobs of a run and returns their ids.
func (w *world) jobs(run string, n int, seconds float64) []string {
	w.t.Helper()
	var out []string
	for i := range n {
		id := fmt.Sprintf("%s-job-%d-%d", run, len(w.Hub.Jobs()), i)
		if err := w.Hub.Submit(githubsim.Job{ID: id, RunID: run, Label: run, Name: id, Seconds: seconds}); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, id)
	}
	return out
}

// awaitJobs waits until every job is completed and returns who ran it.
func (w *world) awaitJobs(ids []string, limit time.Duration) []githubsim.JobRecord {
	w.t.Helper()
	var out []githubsim.JobRecord
	w.await(limit, "jobs done", func() bool {
		out = nil
		for _, id := range ids {
			j, err := w.Hub.Job(id)
			if err != nil {
				w.t.Fatal(err)
			}
			if j.State != githubsim.Completed {
				return false
			}
			out = append(out, j)
		}
		return true
	})
	return out
}

// signal returns what the agent of an instance reported last.
func (w *world) signal(id store.InstanceID) store.SignalName {
	w.t.Helper()
	return w.vitals(id).Signal.Value.Signal
}

// warm brings n instances into the pool, by a run of its own.
func (w *world) warm(run string, n int, otherwise ...func(*store.RunRequest)) store.RunStatus {
	w.t.Helper()
	before := w.pooled()
	defer w.submit(spec(run, n, otherwise...))()
	st := w.awaitPhase(run, 1, statemachine.Ready, 5*time.Minute)
	w.give(run, 1, store.ReleaseDrain, time.Minute)
	w.await(time.Minute, "pooled", func() bool { return w.pooled() == before+n })
	return st
}
