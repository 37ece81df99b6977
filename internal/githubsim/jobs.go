package githubsim

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// queuedFor is how long a job waits for a runner before the service cancels it (GitHub Docs,
// "Usage limits for self-hosted runners": 24 hours).
const queuedFor = 24 * time.Hour

// Job is one workflow job.
type Job struct {
	ID         string  `json:"id"`
	RunID      string  `json:"runId"`
	Repository string  `json:"repository"` // owner/name
	Label      string  `json:"label"`      // runs-on; compared ignoring case
	Name       string  `json:"name"`
	Seconds    float64 `json:"seconds,omitempty"` // without a script: how long it runs
	Script     string  `json:"script,omitempty"`  // run with /bin/sh

	// Scripts of steps around that one, which run whatever became of those before them.
	Pre    string `json:"pre,omitempty"`    // an action's pre:
	Always string `json:"always,omitempty"` // a step with if: always()
	Post   string `json:"post,omitempty"`   // an action's post:
}

// JobState is the state of a job.
type JobState string

// The states of a job.
const (
	Queued    JobState = "queued"
	Running   JobState = "running"
	Completed JobState = "completed"
)

// Conclusion is how a completed job ended.
type Conclusion string

// The conclusions.
const (
	Success   Conclusion = "success"
	Failure   Conclusion = "failure"
	Cancelled Conclusion = "cancelled"
)

// JobRecord is what the service knows of a job.
type JobRecord struct {
	Job
	State      JobState   `json:"state"`
	Conclusion Conclusion `json:"conclusion,omitempty"`
	Detail     string     `json:"detail,omitempty"`     // why, if the runner did not say it
	Annotation string     `json:"annotation,omitempty"` // what the runner says of it, on the job's page
	Runner     string     `json:"runner,omitempty"`
	RunnerID   int64      `json:"runnerId,omitempty"`
	InstanceID string     `json:"instanceId,omitempty"` // InstanceOf(Runner)
	QueuedAt   time.Time  `json:"queuedAt"`
	StartedAt  time.Time  `json:"startedAt,omitzero"`
	FinishedAt time.Time  `json:"finishedAt,omitzero"`
}

type job struct {
	JobRecord
	cancel bool // asked for while running
}

// Submit queues a job. Its id must be new, its label not empty. An empty repository becomes that of
// the hub's URL.
func (h *Hub) Submit(j Job) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	h.sweep(now)
	if j.ID == "" || j.Label == "" || j.Seconds < 0 {
		return fmt.Errorf("submit job %s: id and label are required, seconds not negative: %w", j.ID, ErrInvalid)
	}
	if h.jobs[j.ID] != nil {
		return fmt.Errorf("submit job %s: id is taken: %w", j.ID, ErrInvalid)
	}
	if j.Repository == "" {
		j.Repository = repositoryOf(h.url)
	}
	rec := &job{JobRecord: JobRecord{Job: j, State: Queued, QueuedAt: now.UTC()}}
	h.jobs[j.ID] = rec
	h.order = append(h.order, rec)
	h.enqueue(rec, now)
	h.broadcast()
	return nil
}

// repositoryOf returns owner/repo of a repository's URL, and owner/repo with the repository "repo" of
// an organisation's.
func repositoryOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	owner, repo, ok := strings.Cut(strings.Trim(u.Path, "/"), "/")
	if !ok {
		repo = "repo"
	}
	return owner + "/" + repo
}

// Cancel cancels a job: at once if it is queued, through its runner if it runs. A completed job
// stays as it is.
func (h *Hub) Cancel(id string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.clock.Now()
	h.sweep(now)
	j := h.jobs[id]
	if j == nil {
		return fmt.Errorf("cancel job %s: %w", id, ErrNoJob)
	}
	switch j.State {
	case Queued:
		h.dequeue(j)
		h.finish(j, Cancelled, "cancelled while queued", now)
	case Running:
		if !j.cancel {
			j.cancel = true
			h.runners.get(j.RunnerID).session.push(MessageCancel, j.Job) // a running job has both
		}
	case Completed:
	}
	h.broadcast()
	return nil
}

// Job returns one job, or ErrNoJob.
func (h *Hub) Job(id string) (JobRecord, error) {
	var j *job
	var rec JobRecord
	h.view(func(time.Time) {
		if j = h.jobs[id]; j != nil {
			rec = j.JobRecord
		}
	})
	if j == nil {
		return rec, fmt.Errorf("job %s: %w", id, ErrNoJob)
	}
	return rec, nil
}

// Jobs returns every job in the order of submission.
func (h *Hub) Jobs() []JobRecord {
	out := []JobRecord{}
	h.view(func(time.Time) {
		for _, j := range h.order {
			out = append(out, j.JobRecord)
		}
	})
	return out
}

// Wait returns the job once it is completed.
func (h *Hub) Wait(ctx context.Context, id string) (JobRecord, error) {
	var rec JobRecord
	var missing error
	err := h.Until(ctx, func() bool {
		rec, missing = h.Job(id)
		return missing != nil || rec.State == Completed
	})
	if err != nil {
		return rec, fmt.Errorf("wait for job %s: %w", id, err)
	}
	return rec, missing
}

// enqueue queues a job and hands it over at once if a runner waits for one.
func (h *Hub) enqueue(j *job, now time.Time) {
	key := strings.ToLower(j.Label)
	h.queue[key] = append(h.queue[key], j)
	slices.SortStableFunc(h.queue[key], func(a, b *job) int { return a.QueuedAt.Compare(b.QueuedAt) })
	h.dueBy(j.QueuedAt.Add(queuedFor))
	if i := slices.IndexFunc(h.carriers[key], (*runner).waits); i >= 0 {
		h.match(h.carriers[key][i], now)
	}
}

func (h *Hub) dequeue(j *job) {
	key := strings.ToLower(j.Label)
	h.queue[key] = slices.DeleteFunc(h.queue[key], func(o *job) bool { return o == j })
	if len(h.queue[key]) == 0 {
		delete(h.queue, key)
	}
}

// match hands the oldest queued job with one of r's labels to r, if r waits for one.
func (h *Hub) match(r *runner, now time.Time) {
	if !r.waits() {
		return
	}
	var best *job
	for _, key := range r.keys() {
		if q := h.queue[key]; len(q) > 0 && (best == nil || q[0].QueuedAt.Before(best.QueuedAt)) {
			best = q[0]
		}
	}
	if best == nil {
		return
	}
	h.dequeue(best)
	best.State, best.StartedAt = Running, now.UTC()
	best.Runner, best.RunnerID, best.InstanceID = r.Name, r.ID, InstanceOf(r.Name)
	r.job, r.busyAt = best, now
	r.Jobs = append(r.Jobs, best.ID)
	r.session.push(MessageJob, best.Job)
}

// finish completes a job and frees its runner; an ephemeral one is removed.
func (h *Hub) finish(j *job, c Conclusion, detail string, now time.Time) {
	j.State, j.Conclusion, j.Detail, j.FinishedAt = Completed, c, detail, now.UTC()
	r := h.runners.get(j.RunnerID)
	if r == nil || r.job != j {
		return
	}
	r.job, r.busyAt, r.idleFrom = nil, now, now
	if r.session != nil {
		r.session.drop(j.ID)
	}
	if r.Ephemeral {
		h.remove(r, RemovedUsed, now)
		return
	}
	h.match(r, now)
}

// requeue takes back a job that its runner never acknowledged.
func (h *Hub) requeue(j *job, now time.Time) {
	if r := h.runners.get(j.RunnerID); r != nil && r.job == j {
		r.job, r.busyAt, r.idleFrom = nil, now, now
		r.Jobs = slices.DeleteFunc(r.Jobs, func(id string) bool { return id == j.ID })
	}
	j.State, j.StartedAt = Queued, time.Time{}
	j.Runner, j.RunnerID, j.InstanceID = "", 0, ""
	h.enqueue(j, now)
}
