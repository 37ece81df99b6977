package githubapi

import (
	"strings"
	"time"
)

// What GitHub says of a run and of a job (GitHub REST, "Workflow runs", status and conclusion). A job has the first three
// and waiting only.
const (
	StatusQueued     = "queued"
	StatusInProgress = "in_progress"
	StatusCompleted  = "completed"
	StatusWaiting    = "waiting" // for an approval, or for another rule of an environment
	StatusRequested  = "requested"
	StatusPending    = "pending" // a limit of concurrency holds it

	ConclusionSuccess   = "success"
	ConclusionFailure   = "failure"
	ConclusionCancelled = "cancelled"
	ConclusionSkipped   = "skipped"
	ConclusionTimedOut  = "timed_out"
)

// WorkflowRun is one run of a workflow.
type WorkflowRun struct {
	ID         int64
	Attempt    int // its latest, from 1; a re-run keeps the id and raises it
	Status     string
	Conclusion string // "" unless completed
	HeadSHA    string
}

// Completed reports whether nothing of the run's latest attempt runs or waits any more.
func (r WorkflowRun) Completed() bool { return r.Status == StatusCompleted }

// WorkflowJob is one job of one attempt of a run.
type WorkflowJob struct {
	ID          int64
	Name        string
	Status      string
	Conclusion  string    // "" unless completed
	Labels      []string  // of its runs-on
	RunnerName  string    // "" before it had one
	CreatedAt   time.Time // creation time, in the attempt that ran the job
	StartedAt   time.Time // zero before it had a runner
	CompletedAt time.Time // zero unless completed
}

// Asks reports whether the job's only label is this one: nothing but a runner of exactly that label was meant to take it.
func (j WorkflowJob) Asks(label string) bool {
	return len(j.Labels) == 1 && strings.EqualFold(j.Labels[0], label)
}

// CheckRun is a note on a commit, which GitHub shows beside the checks of its workflows.
type CheckRun struct {
	HeadSHA string
	Name    string // of the check
	// Key tells this note from every other of its name: it is left once, however often it is asked for.
	Key     string
	Title   string
	Summary string
}
