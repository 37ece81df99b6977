package githubsim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// First ids of runs and jobs, beyond 32 bits as GitHub's are.
const (
	firstRun = 10_000_000_001
	firstJob = 50_000_000_001
)

// Workflows are the workflow runs of a hub. The methods of a *githubapi.Client that are about runs are in
// workflow_api.go; the others are the operator's, and no calls.
type Workflows struct {
	hub    *Hub
	hosted *hosted
	order  []*run
	byID   map[int64]*run
	numbers
	view   view
	access access
	checks []CheckRunRecord
}

// numbers are the last ids given.
type numbers struct{ run, job, check int64 }

// Workflows returns the hub's runs.
func (h *Hub) Workflows() *Workflows { return h.workflows }

// change runs f under the lock, for what others may wait for.
func (w *Workflows) change(f func(now time.Time) error) error {
	var err error
	w.hub.dispatcher.view(func(now time.Time) {
		err = f(now)
		w.hub.monitor.broadcast()
	})
	return err
}

// Start starts a run. Its self-hosted jobs are queued as those of Hub.Submit are, under ids that are their numbers.
func (w *Workflows) Start(s RunSpec) (RunRecord, error) {
	var out RunRecord
	if err := s.Valid(); err != nil {
		return out, fmt.Errorf("start run: %w", err)
	}
	err := w.change(func(now time.Time) error {
		if w.byID[s.ID] != nil {
			return fmt.Errorf("start run: id: %d is taken: %w", s.ID, ErrInvalid)
		}
		for s.ID == 0 || w.byID[s.ID] != nil {
			w.run++
			s.ID = firstRun - 1 + w.run
		}
		if s.Repository == "" {
			s.Repository = repositoryOf(w.hub.url)
		}
		r := &run{RunSpec: s.filled(), createdAt: now.UTC()}
		a := &attempt{number: 1, startedAt: now.UTC()}
		for i := range r.Jobs {
			a.tasks = append(a.tasks, newTask(&r.Jobs[i], ""))
		}
		r.attempts = []*attempt{a}
		w.order = append(w.order, r)
		w.byID[r.ID] = r
		w.advance(r, now)
		out = r.record(a, now)
		return nil
	})
	return out, err
}

// number gives a job its id.
func (w *Workflows) number(t *task) {
	for t.id == 0 || w.hub.jobs.byID[strconv.FormatInt(t.id, 10)] != nil {
		w.job++
		t.id = firstJob - 1 + w.job
	}
}

// Run returns a run as it is, or ErrNoRun.
func (w *Workflows) Run(id int64) (RunRecord, error) {
	var out RunRecord
	err := w.on(id, func(r *run, now time.Time) error {
		out = r.record(r.latest(), now)
		return nil
	})
	return out, err
}

// Attempts returns every attempt of a run as it is, the first one first, or ErrNoRun.
func (w *Workflows) Attempts(id int64) ([]RunRecord, error) {
	var out []RunRecord
	err := w.on(id, func(r *run, now time.Time) error {
		for _, a := range r.attempts {
			out = append(out, r.record(a, now))
		}
		return nil
	})
	return out, err
}

// on does something to one run.
func (w *Workflows) on(id int64, f func(r *run, now time.Time) error) error {
	var err error
	w.hub.dispatcher.view(func(now time.Time) {
		r := w.byID[id]
		if r == nil {
			err = fmt.Errorf("run %d: %w", id, ErrNoRun)
			return
		}
		if err = f(r, now); err != nil {
			err = fmt.Errorf("run %d: %w", id, err)
		}
	})
	return err
}

// act is on for what others may wait for.
func (w *Workflows) act(id int64, f func(r *run, now time.Time) error) error {
	return w.on(id, func(r *run, now time.Time) error {
		defer w.hub.monitor.broadcast()
		return f(r, now)
	})
}

// List returns every run as it is, in the order of their start.
func (w *Workflows) List() []RunRecord {
	out := []RunRecord{}
	w.hub.dispatcher.view(func(now time.Time) {
		for _, r := range w.order {
			out = append(out, r.record(r.latest(), now))
		}
	})
	return out
}

// Wait returns a run once it is completed.
func (w *Workflows) Wait(ctx context.Context, id int64) (RunRecord, error) {
	var out RunRecord
	var missing error
	err := w.hub.Until(ctx, func() bool {
		out, missing = w.Run(id)
		return missing != nil || out.completed()
	})
	if err != nil {
		return out, fmt.Errorf("wait for run %d: %w", id, err)
	}
	return out, missing
}

// Approve lets the jobs of a run that wait for an approval go on; ErrInvalid if none does.
func (w *Workflows) Approve(id int64) error {
	return w.act(id, func(r *run, now time.Time) error {
		var any bool
		for _, t := range slices.Clone(r.latest().tasks) {
			if t.State == Waiting {
				w.begin(r, t, now)
				any = true
			}
		}
		if !any {
			return fmt.Errorf("approve: no job of it waits for that: %w", ErrInvalid)
		}
		return nil
	})
}

// Again says which jobs of a run are run again, with those that need them. The zero value is all.
type Again struct {
	Failed bool  `json:"failed,omitempty"` // those that failed or were cancelled
	Job    int64 `json:"job,omitempty"`    // the one of this id
}

// Rerun runs a run again, as somebody at its page does. The error is that of the call with the same effect.
func (w *Workflows) Rerun(id int64, which Again) error {
	again := every
	switch {
	case which.Failed && which.Job != 0:
		return fmt.Errorf("rerun run %d: failed, job: must be one of both: %w", id, ErrInvalid)
	case which.Failed:
		again = (*task).failed
	case which.Job != 0:
		again = func(t *task) bool { return t.id == which.Job }
	}
	return w.act(id, func(r *run, now time.Time) error { return w.rerun(r, again, now) })
}

// Cancel cancels a run, as somebody at its page does. The error is that of the call with the same effect.
func (w *Workflows) Cancel(id int64) error {
	return w.act(id, w.cancel)
}

// Finish ends a job of GitHub's own runners; ErrInvalid if it is none, or does not run.
func (w *Workflows) Finish(job int64, c Conclusion) error {
	if !c.reported() {
		return fmt.Errorf("finish job %d: conclusion: must be %s, %s or %s, got %q: %w", job, Success, Failure, Cancelled, c, ErrInvalid)
	}
	return w.change(func(now time.Time) error {
		_, t := w.find(job)
		switch {
		case t == nil:
			return fmt.Errorf("finish job %d: %w", job, ErrNoJob)
		case !t.spec.Hosted || t.State != Running:
			return fmt.Errorf("finish job %d: must be a hosted one that runs: %w", job, ErrInvalid)
		}
		w.hosted.end(t, c, "", now)
		return nil
	})
}

// find returns the job of an id and its run, or nil.
func (w *Workflows) find(job int64) (*run, *task) {
	for _, r := range w.order {
		for _, a := range r.attempts {
			for _, t := range a.tasks {
				if t.id == job {
					return r, t
				}
			}
		}
	}
	return nil, nil
}

// SetView replaces how far what the API shows is from what is so.
func (w *Workflows) SetView(v View) error {
	if err := v.Valid(); err != nil {
		return fmt.Errorf("view: %w", err)
	}
	w.hub.monitor.change(func(time.Time) { w.view = view{View: v, instants: map[string]time.Time{}} })
	return nil
}

// SetPermissions replaces those in one repository.
func (w *Workflows) SetPermissions(repository string, p Permissions) error {
	if err := p.Valid(); err != nil {
		return fmt.Errorf("permissions in %s: %w", repository, err)
	}
	w.hub.monitor.change(func(time.Time) { w.access[strings.ToLower(repository)] = p })
	return nil
}
