package githubapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/go-github/v84/github"
)

// LeaveCheckRun leaves a failed check run on a commit of a repository, owner/name, unless one of its name and key is there. All
// fields are required. GitHub takes it from an App only, and refuses a summary of more than 65,535 characters.
func (c *Client) LeaveCheckRun(ctx context.Context, repository string, run CheckRun) error {
	call := act("leave check run "+run.Key, "/check-runs", repository)
	call.permission = "Checks"
	for _, f := range []struct{ field, value string }{
		{"head sha", run.HeadSHA}, {"name", run.Name}, {"key", run.Key}, {"title", run.Title}, {"summary", run.Summary},
	} {
		if f.value == "" {
			return call.bad(f.field, "", "a text")
		}
	}
	there, err := c.hasCheckRun(ctx, call, run)
	if err != nil || there {
		return err
	}
	_, err = c.send(ctx, call, http.MethodPost, "check-runs", &github.CreateCheckRunOptions{
		Name: run.Name, HeadSHA: run.HeadSHA, ExternalID: &run.Key,
		Status: github.Ptr(StatusCompleted), Conclusion: github.Ptr(ConclusionFailure),
		Output: &github.CheckRunOutput{Title: &run.Title, Summary: &run.Summary},
	}, nil)
	return err
}

func (c *Client) hasCheckRun(ctx context.Context, call call, run CheckRun) (found bool, _ error) {
	type page struct {
		Runs []struct {
			Name string `json:"name"`
			Key  string `json:"external_id"`
		} `json:"check_runs"`
	}
	// Without the filter GitHub shows the latest of a name only (GitHub REST, "List check runs for a Git reference"), which
	// may be that of another request.
	query := url.Values{"check_name": {run.Name}, "filter": {"all"}}
	err := pages(ctx, c, call, "commits/"+url.PathEscape(run.HeadSHA)+"/check-runs", query, func(p page) (more bool, _ error) {
		for _, r := range p.Runs {
			found = found || r.Name == run.Name && r.Key == run.Key
		}
		return !found, nil
	})
	return found, err
}
