package githubapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// act returns a call that changes what becomes of a run. Nobody repeats it unasked: after ErrUnavailable it may have been done.
func act(what, route, repository string) call {
	return call{what: what + " of " + plain(repository), route: route, group: acting, permission: "Actions", repository: repository}
}

// CancelRun asks GitHub to cancel a run of a repository, owner/name; its jobs end some seconds later. One that is completed is
// no error. ErrUnavailable also while GitHub cannot cancel it yet.
func (c *Client) CancelRun(ctx context.Context, repository string, id int64) error {
	call := act(fmt.Sprintf("cancel run %d", id), "/actions/runs/{run_id}/cancel", repository)
	// GitHub answers 409 to two states: "Cannot cancel a workflow run that is completed", and "… a workflow re-run that has
	// not yet queued", which passes (calcom/cal.diy#29584).
	call.also, call.conflict = []int{http.StatusAccepted}, ErrUnavailable
	_, err := c.send(ctx, call, http.MethodPost, fmt.Sprintf("actions/runs/%d/cancel", id), nil, nil)
	var refused *callError
	if errors.As(err, &refused) && refused.status == http.StatusConflict && strings.Contains(refused.detail, "completed") {
		return nil
	}
	return err
}

// RerunFailedJobs runs the failed jobs of a completed run again, with those that depend on them, as its next attempt. ErrRefused
// with GitHub's words if that cannot be done, such as while the run runs. After ErrUnavailable the run's attempt says what
// became of it.
func (c *Client) RerunFailedJobs(ctx context.Context, repository string, id int64) error {
	call := act(fmt.Sprintf("re-run failed jobs of run %d", id), "/actions/runs/{run_id}/rerun-failed-jobs", repository)
	_, err := c.send(ctx, call, http.MethodPost, fmt.Sprintf("actions/runs/%d/rerun-failed-jobs", id), nil, nil)
	return err
}

// RerunJob runs one job of a completed run again, with those that depend on it, as the run's next attempt. ErrRefused with
// GitHub's words if that cannot be done, such as of a reusable workflow. After ErrUnavailable as RerunFailedJobs.
func (c *Client) RerunJob(ctx context.Context, repository string, job int64) error {
	call := act(fmt.Sprintf("re-run job %d", job), "/actions/jobs/{job_id}/rerun", repository)
	_, err := c.send(ctx, call, http.MethodPost, fmt.Sprintf("actions/jobs/%d/rerun", job), nil, nil)
	return err
}
