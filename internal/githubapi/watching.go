package githubapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// pagesOfRuns bounds a list of runs: GitHub shows the first 1,000 of one that is narrowed by status (GitHub REST, "List
// workflow runs for a repository").
const pagesOfRuns = 10

// What we read of a run and of a job. Pages of these are kept, so they hold nothing else.
type runFields struct {
	ID         int64  `json:"id"`
	Attempt    int    `json:"run_attempt"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	HeadSHA    string `json:"head_sha"`
}

type jobFields struct {
	ID          int64     `json:"id"`
	Name        string    `json:"name"`
	Status      string    `json:"status"`
	Conclusion  string    `json:"conclusion"`
	Labels      []string  `json:"labels"`
	RunnerName  string    `json:"runner_name"`
	CreatedAt   time.Time `json:"created_at"`
	StartedAt   time.Time `json:"started_at"`
	CompletedAt time.Time `json:"completed_at"`
	Steps       firstStep `json:"steps"`
}

// firstStep is when the first step of a job began; zero if none has.
type firstStep struct{ at time.Time }

// UnmarshalJSON keeps one instant of many steps.
func (s *firstStep) UnmarshalJSON(raw []byte) error {
	var steps []struct {
		StartedAt time.Time `json:"started_at"`
	}
	if err := json.Unmarshal(raw, &steps); err != nil {
		return err
	}
	*s = firstStep{}
	if len(steps) > 0 {
		s.at = steps[0].StartedAt
	}
	return nil
}

// started is when a runner took the job. What GitHub calls started_at may be when it was queued, even of a job that runs
// (strands-labs/robots#2509); its first step is newer then.
func (j jobFields) started() time.Time {
	switch {
	case j.RunnerName == "":
		return time.Time{}
	case j.Steps.at.After(j.StartedAt):
		return j.Steps.at
	}
	return j.StartedAt
}

type runPage struct {
	Runs []runFields `json:"workflow_runs"`
}

type jobPage struct {
	Jobs []jobFields `json:"jobs"`
}

// watch returns a call of watching.
func watch(what, route, repository string) call {
	return call{what: what + " of " + plain(repository), route: route, group: watching, reads: true, permission: "Actions", repository: repository}
}

// ActiveRuns lists the runs of a repository, owner/name, that are queued or in progress, each once; of either GitHub shows
// 1,000 at most. Runs that wait for an approval or for another run are in neither list, and one that changes meanwhile may be
// missing: ask for it alone. ErrThrottled also if there is no room in the share of watching, see Options.RunsShare.
func (c *Client) ActiveRuns(ctx context.Context, repository string) ([]WorkflowRun, error) {
	runs := []WorkflowRun{}
	at := map[int64]int{}
	var trail []string
	// In the order in which runs go, so that one that starts between the two lists is in one of them; the later is newer.
	for _, status := range []string{StatusQueued, StatusInProgress} {
		call := watch("list "+status+" runs", "/actions/runs", repository)
		call.trail = &trail
		n := 0
		err := pages(ctx, c, call, "actions/runs", url.Values{"status": {status}}, func(page runPage) (more bool, _ error) {
			for _, r := range page.Runs {
				if !r.whole() {
					return false, call.incomplete()
				}
				if i, ok := at[r.ID]; ok {
					runs[i] = WorkflowRun(r)
					continue
				}
				at[r.ID] = len(runs)
				runs = append(runs, WorkflowRun(r))
			}
			n++
			return n < pagesOfRuns, nil
		})
		if err != nil {
			c.kept.putOff(err, trail)
			return nil, err
		}
	}
	return runs, nil
}

// CompletedRuns lists the newest 100 runs of a repository, owner/name, that are completed: in one call, so that what became of many
// runs costs no more than what became of one. One that began before them is missing, and GitHub says of no list how late it may
// be: ask for it alone. ErrThrottled as from ActiveRuns.
func (c *Client) CompletedRuns(ctx context.Context, repository string) ([]WorkflowRun, error) {
	runs := []WorkflowRun{}
	call := watch("list completed runs", "/actions/runs", repository)
	err := pages(ctx, c, call, "actions/runs", url.Values{"status": {StatusCompleted}}, func(page runPage) (more bool, _ error) {
		for _, r := range page.Runs {
			if !r.whole() {
				return false, call.incomplete()
			}
			runs = append(runs, WorkflowRun(r))
		}
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	return runs, nil
}

// WorkflowRun returns one run of a repository, owner/name; false if there is none of this id (404). ErrThrottled as from
// ActiveRuns.
func (c *Client) WorkflowRun(ctx context.Context, repository string, id int64) (WorkflowRun, bool, error) {
	call := watch(fmt.Sprintf("get run %d", id), "/actions/runs/{run_id}", repository)
	call.also = []int{http.StatusNotFound}
	got, err := read[runFields](ctx, c, call, fmt.Sprintf("actions/runs/%d", id))
	switch {
	case err != nil || got.gone:
		return WorkflowRun{}, false, err
	case !got.value.whole() || got.value.ID != id:
		return WorkflowRun{}, false, call.incomplete()
	}
	return WorkflowRun(got.value), true, nil
}

// WorkflowJobs lists the jobs of one attempt of a run, from 1, each once. ErrThrottled as from ActiveRuns.
func (c *Client) WorkflowJobs(ctx context.Context, repository string, id int64, attempt int) ([]WorkflowJob, error) {
	jobs := []WorkflowJob{}
	at := map[int64]int{}
	var trail []string
	call := watch(fmt.Sprintf("list jobs of run %d attempt %d", id, attempt), "/actions/runs/{run_id}/attempts/{attempt_number}/jobs", repository)
	call.trail = &trail
	rest := fmt.Sprintf("actions/runs/%d/attempts/%d/jobs", id, attempt)
	err := pages(ctx, c, call, rest, url.Values{}, func(page jobPage) (more bool, _ error) {
		for _, j := range page.Jobs {
			if j.ID == 0 {
				return false, call.incomplete()
			}
			job := WorkflowJob{
				ID: j.ID, Name: j.Name, Status: j.Status, Conclusion: j.Conclusion, Labels: slices.Clone(j.Labels), RunnerName: j.RunnerName,
				CreatedAt: j.CreatedAt, StartedAt: j.started(), CompletedAt: j.CompletedAt,
			}
			if i, ok := at[j.ID]; ok {
				jobs[i] = job
				continue
			}
			at[j.ID] = len(jobs)
			jobs = append(jobs, job)
		}
		return true, nil
	})
	if err != nil {
		c.kept.putOff(err, trail)
		return nil, err
	}
	return jobs, nil
}

func (r runFields) whole() bool { return r.ID != 0 && r.Attempt > 0 }
