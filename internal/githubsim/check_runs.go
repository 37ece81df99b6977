package githubsim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// CheckRunRecord is a note on a commit that the client has left.
type CheckRunRecord struct {
	ID         int64     `json:"id"`
	Repository string    `json:"repository"`
	HeadSHA    string    `json:"headSha"`
	Name       string    `json:"name"`
	ExternalID string    `json:"externalId"`
	Conclusion string    `json:"conclusion"`
	Title      string    `json:"title"`
	Summary    string    `json:"summary"`
	CreatedAt  time.Time `json:"createdAt"`
}

// CheckRuns returns every check run that was left, the first one first.
func (w *Workflows) CheckRuns() []CheckRunRecord {
	out := []CheckRunRecord{}
	w.hub.dispatcher.view(func(time.Time) { out = append(out, w.checks...) })
	return out
}

// checkRuns returns those of a commit that have the given name, or any if that is "".
func (w *Workflows) checkRuns(ctx context.Context, repository, sha, name string) ([]CheckRunRecord, error) {
	out := []CheckRunRecord{}
	err := w.ask(ctx, CallCheckRuns, repository, func(time.Time) error {
		for _, c := range w.checks {
			if strings.EqualFold(c.Repository, repository) && c.HeadSHA == sha && (name == "" || c.Name == name) {
				out = append(out, c)
			}
		}
		return nil
	})
	return out, err
}

// leave leaves a check run, which only an App can. The commit must be one that a run of the repository is of.
func (w *Workflows) leave(ctx context.Context, c CheckRunRecord, app bool) (CheckRunRecord, error) {
	err := w.ask(ctx, CallLeaveCheckRun, c.Repository, func(now time.Time) error {
		if !app {
			return errOnlyApps
		}
		if !slices.ContainsFunc(w.order, func(r *run) bool {
			return r.HeadSHA == c.HeadSHA && strings.EqualFold(r.Repository, c.Repository)
		}) {
			return &refused{http.StatusUnprocessableEntity, fmt.Sprintf("No commit found for SHA: %s", c.HeadSHA)}
		}
		w.check++
		c.ID, c.CreatedAt = w.check, now.UTC()
		w.checks = append(w.checks, c)
		return nil
	})
	return c, err
}

// LeaveCheckRun is (*githubapi.Client).LeaveCheckRun of an App's client: it looks for one with its key, and leaves it if
// there is none.
func (w *Workflows) LeaveCheckRun(ctx context.Context, repository string, c githubapi.CheckRun) error {
	have, err := w.checkRuns(ctx, repository, c.HeadSHA, c.Name)
	if err != nil || slices.ContainsFunc(have, func(r CheckRunRecord) bool { return r.ExternalID == c.Key }) {
		return err
	}
	_, err = w.leave(ctx, CheckRunRecord{
		Repository: repository, HeadSHA: c.HeadSHA, Name: c.Name, ExternalID: c.Key, Conclusion: githubapi.ConclusionFailure,
		Title: c.Title, Summary: c.Summary,
	}, true)
	return err
}
