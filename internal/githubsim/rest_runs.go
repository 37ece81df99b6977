package githubsim

import (
	"net/http"
	"strconv"
	"time"
)

// The REST API of runs (GitHub REST, "Workflow runs", "Workflow jobs", "Check runs"), as far as remuda uses it.

type runsAPI struct {
	server *server
	runs   *Workflows
}

// routes adds its calls.
func (a runsAPI) routes(to router) {
	const repo = " /repos/{owner}/{repo}"
	const runs = repo + "/actions/runs"
	to.HandleFunc("GET"+runs, a.listRuns)
	to.HandleFunc("GET"+runs+"/{id}", numbered(a.getRun))
	to.HandleFunc("GET"+runs+"/{id}/jobs", numbered(a.listRunJobs))
	to.HandleFunc("GET"+runs+"/{id}/attempts/{attempt}/jobs", numbered(a.listAttemptJobs))
	to.HandleFunc("POST"+runs+"/{id}/cancel", numbered(a.cancelRun))
	to.HandleFunc("POST"+runs+"/{id}/rerun", numbered(a.rerun))
	to.HandleFunc("POST"+runs+"/{id}/rerun-failed-jobs", numbered(a.rerunFailed))
	to.HandleFunc("POST"+repo+"/actions/jobs/{id}/rerun", numbered(a.rerunJob))
	to.HandleFunc("GET"+repo+"/commits/{ref}/check-runs", a.listCheckRuns)
	to.HandleFunc("POST"+repo+"/check-runs", taking(a.leaveCheckRun))
}

type wireRun struct {
	ID         int64     `json:"id"`
	Name       string    `json:"name"`
	Title      string    `json:"display_title"`
	Event      string    `json:"event"`
	HeadSHA    string    `json:"head_sha"`
	Attempt    int       `json:"run_attempt"`
	Status     string    `json:"status"`
	Conclusion *string   `json:"conclusion"`
	CreatedAt  time.Time `json:"created_at"`
	StartedAt  time.Time `json:"run_started_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

type wireRuns struct {
	TotalCount int       `json:"total_count"`
	Runs       []wireRun `json:"workflow_runs"`
}

type wireRunJob struct {
	ID           int64      `json:"id"`
	RunID        int64      `json:"run_id"`
	RunAttempt   int        `json:"run_attempt"`
	HeadSHA      string     `json:"head_sha"`
	WorkflowName string     `json:"workflow_name"`
	Name         string     `json:"name"`
	Status       string     `json:"status"`
	Conclusion   *string    `json:"conclusion"`
	Labels       []string   `json:"labels"`
	RunnerID     *int64     `json:"runner_id"`
	RunnerName   *string    `json:"runner_name"`
	CreatedAt    time.Time  `json:"created_at"`
	StartedAt    time.Time  `json:"started_at"`
	CompletedAt  *time.Time `json:"completed_at"`
	Steps        []wireStep `json:"steps"`
}

type wireStep struct {
	Name       string    `json:"name"`
	Number     int       `json:"number"`
	Status     string    `json:"status"`
	Conclusion *string   `json:"conclusion"`
	StartedAt  time.Time `json:"started_at"`
}

type wireRunJobs struct {
	TotalCount int          `json:"total_count"`
	Jobs       []wireRunJob `json:"jobs"`
}

// orNull is null for what is not known.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// whole is an instant as GitHub tells it, to the second.
func whole(at time.Time) time.Time { return at.Truncate(time.Second) }

func toWireRun(r RunRecord) wireRun {
	out := wireRun{
		ID: r.ID, Name: r.Name, Title: r.Name, Event: "push", HeadSHA: r.HeadSHA, Attempt: r.Attempt, Status: r.Status,
		Conclusion: orNull(r.Conclusion), CreatedAt: whole(r.CreatedAt), StartedAt: whole(r.StartedAt), UpdatedAt: whole(r.StartedAt),
	}
	for _, j := range r.Jobs {
		for _, at := range []time.Time{j.CreatedAt, j.StartedAt, j.FinishedAt} {
			if at.After(out.UpdatedAt) {
				out.UpdatedAt = whole(at)
			}
		}
	}
	return out
}

func toWireJobs(r RunRecord) []wireRunJob {
	out := []wireRunJob{}
	for _, j := range r.Jobs {
		one := wireRunJob{
			ID: j.ID, RunID: r.ID, RunAttempt: r.Attempt, HeadSHA: r.HeadSHA, WorkflowName: r.Name, Name: j.Name,
			Status: j.Status, Conclusion: orNull(j.Conclusion), Labels: labelsOf(j.Label),
			RunnerID: orNull(j.RunnerID), RunnerName: orNull(j.Runner),
			// What GitHub calls the start may be when the job was queued, even of one that runs
			// (strands-labs/robots#2509): its first step says more.
			CreatedAt: whole(j.CreatedAt), StartedAt: whole(j.CreatedAt), CompletedAt: orNull(whole(j.FinishedAt)), Steps: []wireStep{},
		}
		if !j.StartedAt.IsZero() {
			one.Steps = append(one.Steps, wireStep{
				Name: "Set up job", Number: 1, Status: j.Status, Conclusion: one.Conclusion, StartedAt: whole(j.StartedAt),
			})
		}
		out = append(out, one)
	}
	return out
}

// repositoryIn returns owner/name of a request's path.
func repositoryIn(r *http.Request) string { return r.PathValue("owner") + "/" + r.PathValue("repo") }

func (a runsAPI) listRuns(w http.ResponseWriter, r *http.Request) {
	all, err := a.runs.list(r.Context(), repositoryIn(r), r.URL.Query().Get("status"))
	out := wireRuns{TotalCount: len(all), Runs: []wireRun{}}
	for _, one := range paged(w, r, all) {
		out.Runs = append(out.Runs, toWireRun(one))
	}
	a.server.answer(w, CallRuns, http.StatusOK, out, err)
}

func (a runsAPI) getRun(w http.ResponseWriter, r *http.Request, id int64) {
	one, err := a.runs.get(r.Context(), repositoryIn(r), id)
	a.server.answer(w, CallRun, http.StatusOK, toWireRun(one), err)
}

func (a runsAPI) listRunJobs(w http.ResponseWriter, r *http.Request, id int64) {
	number := lastAttempt
	if r.URL.Query().Get("filter") == "all" {
		number = allAttempts
	}
	a.listJobs(w, r, id, number)
}

func (a runsAPI) listAttemptJobs(w http.ResponseWriter, r *http.Request, id int64) {
	number, err := strconv.Atoi(r.PathValue("attempt"))
	if err != nil || number < 1 {
		notFound(w, r)
		return
	}
	a.listJobs(w, r, id, number)
}

func (a runsAPI) listJobs(w http.ResponseWriter, r *http.Request, id int64, number int) {
	attempts, err := a.runs.attempts(r.Context(), repositoryIn(r), id, number)
	all := []wireRunJob{}
	for _, one := range attempts {
		all = append(all, toWireJobs(one)...)
	}
	out := wireRunJobs{TotalCount: len(all), Jobs: paged(w, r, all)}
	a.server.answer(w, CallRunJobs, http.StatusOK, out, err)
}

func (a runsAPI) cancelRun(w http.ResponseWriter, r *http.Request, id int64) {
	err := a.runs.cancelling(r.Context(), repositoryIn(r), id)
	a.server.answer(w, CallCancelRun, http.StatusAccepted, struct{}{}, err)
}

func (a runsAPI) rerun(w http.ResponseWriter, r *http.Request, id int64) {
	err := a.runs.rerunning(r.Context(), CallRerun, repositoryIn(r), id, every)
	a.server.answer(w, CallRerun, http.StatusCreated, struct{}{}, err)
}

func (a runsAPI) rerunFailed(w http.ResponseWriter, r *http.Request, id int64) {
	err := a.runs.RerunFailedJobs(r.Context(), repositoryIn(r), id)
	a.server.answer(w, CallRerunFailed, http.StatusCreated, struct{}{}, err)
}

func (a runsAPI) rerunJob(w http.ResponseWriter, r *http.Request, id int64) {
	err := a.runs.RerunJob(r.Context(), repositoryIn(r), id)
	a.server.answer(w, CallRerunJob, http.StatusCreated, struct{}{}, err)
}
