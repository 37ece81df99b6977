package githubsim

import (
	"context"
	"fmt"
	"maps"
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
	RunAttempt int     `json:"runAttempt,omitempty"` // 0 stands for 1
	Repository string  `json:"repository"`           // owner/name
	Label      string  `json:"label"`                // runs-on; commas separate several labels; case is ignored
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

	Pending JobState = "pending" // it needs jobs of its run that are not over: GitHub does not list it yet
	Waiting JobState = "waiting" // for an approval
)

// Conclusion is how a completed job ended.
type Conclusion string

// The conclusions.
const (
	Success   Conclusion = "success"
	Failure   Conclusion = "failure"
	Cancelled Conclusion = "cancelled"
	Skipped   Conclusion = "skipped" // of a run's job only: what it needs did not succeed
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
	cancel bool                // asked for while running
	ended  func(now time.Time) // is told when it ends; may be nil
}

// end completes a job.
func (j *job) end(c Conclusion, detail string, now time.Time) {
	j.State, j.Conclusion, j.Detail, j.FinishedAt = Completed, c, detail, now.UTC()
	if j.ended != nil {
		j.ended(now)
	}
}

// jobs is every job, and the queue of those that no runner has.
type jobs struct {
	monitor *monitor
	byID    map[string]*job
	order   []*job            // of submission
	queued  map[string][]*job // by folded label, oldest first
}

func (q *jobs) enqueue(j *job) {
	key := strings.ToLower(j.Label)
	q.queued[key] = append(q.queued[key], j)
	slices.SortStableFunc(q.queued[key], func(a, b *job) int { return a.QueuedAt.Compare(b.QueuedAt) })
	q.monitor.dueBy(j.QueuedAt.Add(queuedFor))
}

func (q *jobs) dequeue(j *job) {
	key := strings.ToLower(j.Label)
	q.queued[key] = slices.DeleteFunc(q.queued[key], func(o *job) bool { return o == j })
	if len(q.queued[key]) == 0 {
		delete(q.queued, key)
	}
}

// oldest returns the job that is queued for the longest time and whose labels are all in labels, or nil.
func (q *jobs) oldest(labels []string) *job {
	var best *job
	consider := func(key string) {
		if of := q.queued[key]; len(of) > 0 && (best == nil || of[0].QueuedAt.Before(best.QueuedAt)) {
			best = of[0]
		}
	}
	for _, key := range labels {
		consider(key)
	}
	for _, key := range slices.Sorted(maps.Keys(q.queued)) {
		if strings.Contains(key, ",") && hasAll(labels, key) {
			consider(key)
		}
	}
	return best
}

// labelsOf splits the text with the labels of a job.
func labelsOf(label string) []string {
	all := strings.Split(label, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// hasAll reports whether a runner with these folded labels may take a job with that label text.
func hasAll(labels []string, label string) bool {
	return !slices.ContainsFunc(labelsOf(strings.ToLower(label)), func(l string) bool { return !slices.Contains(labels, l) })
}

// expire cancels the jobs that waited too long.
func (q *jobs) expire(now time.Time) {
	for _, of := range q.queued {
		for _, j := range slices.Clone(of) {
			at := j.QueuedAt.Add(queuedFor)
			if now.Before(at) {
				q.monitor.dueBy(at)
				break // oldest first
			}
			q.dequeue(j)
			j.end(Cancelled, "no runner took it within 24 hours", at)
		}
	}
}

// Submit queues a job that belongs to no run that the API shows, whatever its RunID says: see Workflows.Start for runs. Its id must be new, its label not empty. An empty repository becomes that of
// the hub's URL.
func (h *Hub) Submit(j Job) error {
	h.monitor.mu.Lock()
	defer h.monitor.mu.Unlock()
	now := h.opts.Clock.Now()
	h.dispatcher.sweep(now)
	if j.ID == "" || j.Label == "" || j.Seconds < 0 {
		return fmt.Errorf("submit job %s: id and label are required, seconds not negative: %w", j.ID, ErrInvalid)
	}
	if h.jobs.byID[j.ID] != nil {
		return fmt.Errorf("submit job %s: id is taken: %w", j.ID, ErrInvalid)
	}
	if j.Repository == "" {
		j.Repository = repositoryOf(h.url)
	}
	h.dispatcher.submit(&job{JobRecord: JobRecord{Job: j}}, now)
	h.monitor.broadcast()
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
	h.monitor.mu.Lock()
	defer h.monitor.mu.Unlock()
	now := h.opts.Clock.Now()
	h.dispatcher.sweep(now)
	j := h.jobs.byID[id]
	if j == nil {
		return fmt.Errorf("cancel job %s: %w", id, ErrNoJob)
	}
	h.dispatcher.cancel(j, now)
	h.monitor.broadcast()
	return nil
}

// Job returns one job, or ErrNoJob.
func (h *Hub) Job(id string) (JobRecord, error) {
	var j *job
	var rec JobRecord
	h.dispatcher.view(func(time.Time) {
		if j = h.jobs.byID[id]; j != nil {
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
	h.dispatcher.view(func(time.Time) {
		for _, j := range h.jobs.order {
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
