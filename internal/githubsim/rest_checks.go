package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

type wireOutput struct {
	Title   string `json:"title"`
	Summary string `json:"summary"`
}

type wireCheckRun struct {
	ID          int64      `json:"id"`
	HeadSHA     string     `json:"head_sha"`
	Name        string     `json:"name"`
	ExternalID  string     `json:"external_id"`
	Status      string     `json:"status"`
	Conclusion  string     `json:"conclusion"`
	StartedAt   time.Time  `json:"started_at"`
	CompletedAt time.Time  `json:"completed_at"`
	Output      wireOutput `json:"output"`
}

type wireCheckRuns struct {
	TotalCount int            `json:"total_count"`
	Runs       []wireCheckRun `json:"check_runs"`
}

func toWireCheck(c CheckRunRecord) wireCheckRun {
	return wireCheckRun{
		ID: c.ID, HeadSHA: c.HeadSHA, Name: c.Name, ExternalID: c.ExternalID, Status: githubapi.StatusCompleted,
		Conclusion: c.Conclusion, StartedAt: whole(c.CreatedAt), CompletedAt: whole(c.CreatedAt), Output: wireOutput{c.Title, c.Summary},
	}
}

// listCheckRuns answers with those of a commit, which the service would also find by a branch or a tag.
func (a runsAPI) listCheckRuns(w http.ResponseWriter, r *http.Request) {
	all, err := a.runs.checkRuns(r.Context(), repositoryIn(r), r.PathValue("ref"), r.URL.Query().Get("check_name"))
	if r.URL.Query().Get("filter") != "all" {
		all = latest(all)
	}
	out := wireCheckRuns{TotalCount: len(all), Runs: []wireCheckRun{}}
	for _, c := range paged(w, r, all) {
		out.Runs = append(out.Runs, toWireCheck(c))
	}
	a.server.answer(w, CallCheckRuns, http.StatusOK, out, err)
}

// latest returns the last check run of each name.
func latest(all []CheckRunRecord) []CheckRunRecord {
	var out []CheckRunRecord
	for i, c := range all {
		if !slices.ContainsFunc(all[i+1:], func(later CheckRunRecord) bool { return later.Name == c.Name }) {
			out = append(out, c)
		}
	}
	return out
}

// leaveCheckRun takes what is completed only: remuda leaves nothing else.
func (a runsAPI) leaveCheckRun(w http.ResponseWriter, r *http.Request, q wireCheckRun) {
	switch {
	case q.Name == "" || q.HeadSHA == "":
		writeError(w, fmt.Errorf("name and head_sha are required: %w", ErrInvalid))
	case q.Conclusion == "" || q.Status != "" && q.Status != githubapi.StatusCompleted:
		writeError(w, fmt.Errorf("status and conclusion: must be completed and how, got %q and %q: %w", q.Status, q.Conclusion, ErrInvalid))
	case q.Output != (wireOutput{}) && (q.Output.Title == "" || q.Output.Summary == ""):
		writeError(w, fmt.Errorf("output: title and summary are required: %w", ErrInvalid))
	default:
		c, err := a.runs.leave(r.Context(), CheckRunRecord{
			Repository: repositoryIn(r), HeadSHA: q.HeadSHA, Name: q.Name, ExternalID: q.ExternalID, Conclusion: q.Conclusion,
			Title: q.Output.Title, Summary: q.Output.Summary,
		}, a.server.installed(bearer(r)))
		a.server.answer(w, CallLeaveCheckRun, http.StatusCreated, toWireCheck(c), err)
	}
}
