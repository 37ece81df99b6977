package githubsim

import (
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// RunRecord is what the service knows of a workflow run and of one of its attempts.
type RunRecord struct {
	ID         int64     `json:"id"`
	Repository string    `json:"repository"`
	Name       string    `json:"name"`
	HeadSHA    string    `json:"headSha"`
	Attempt    int       `json:"attempt"`
	Status     string    `json:"status"`               // as githubapi.WorkflowRun has it
	Conclusion string    `json:"conclusion,omitempty"` // "" unless completed
	CreatedAt  time.Time `json:"createdAt"`            // of the run
	StartedAt  time.Time `json:"startedAt"`            // of the attempt
	Jobs       []RunJob  `json:"jobs"`                 // those that GitHub's list has, in the order of the workflow
}

// RunJob is one job of an attempt.
type RunJob struct {
	ID         int64     `json:"id"`
	Key        string    `json:"key"`
	Name       string    `json:"name"`
	Label      string    `json:"label"`
	Status     string    `json:"status"`
	Conclusion string    `json:"conclusion,omitempty"`
	Detail     string    `json:"detail,omitempty"` // why, if the runner did not say it
	Runner     string    `json:"runner,omitempty"`
	RunnerID   int64     `json:"runnerId,omitempty"`
	InstanceID string    `json:"instanceId,omitempty"` // InstanceOf(Runner)
	CreatedAt  time.Time `json:"createdAt"`            // in the attempt that ran it
	StartedAt  time.Time `json:"startedAt,omitzero"`
	FinishedAt time.Time `json:"finishedAt,omitzero"`
}

// record is what GitHub said of an attempt at an instant.
func (r *run) record(a *attempt, at time.Time) RunRecord {
	out := RunRecord{
		ID: r.ID, Repository: r.Repository, Name: r.Name, HeadSHA: r.HeadSHA, Attempt: a.number,
		CreatedAt: r.createdAt, StartedAt: a.startedAt, Jobs: []RunJob{},
	}
	out.Status, out.Conclusion = a.status(at)
	for _, t := range a.tasks {
		if status, conclusion := t.status(at); status != "" {
			out.Jobs = append(out.Jobs, t.record(status, conclusion))
		}
	}
	return out
}

func (t *task) record(status, conclusion string) RunJob {
	out := RunJob{
		ID: t.id, Key: t.spec.Key, Name: t.name(), Label: t.spec.Label, Status: status, Conclusion: conclusion, CreatedAt: t.madeAt,
	}
	if status == githubapi.StatusInProgress || status == githubapi.StatusCompleted {
		out.Runner, out.RunnerID, out.InstanceID, out.StartedAt = t.Runner, t.RunnerID, t.InstanceID, t.StartedAt
	}
	if status == githubapi.StatusCompleted {
		out.Detail, out.FinishedAt = t.Detail, t.FinishedAt
	}
	return out
}

// jobOf is what a runner is given of a task.
func jobOf(r *run, t *task) Job {
	return Job{
		ID: strconv.FormatInt(t.id, 10), RunID: strconv.FormatInt(r.ID, 10), RunAttempt: r.latest().number,
		Repository: r.Repository, Label: t.spec.Label, Name: t.name(), Seconds: t.spec.Seconds,
		Script: strings.ReplaceAll(t.spec.Script, "${{ matrix.leg }}", t.leg),
	}
}
