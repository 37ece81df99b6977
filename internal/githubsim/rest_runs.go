package githubsim

import (
	"net/http"
	"strconv"
	"time"
)

// The REST API of runs (GitHub REST, "Workflow runs", "Workflow jobs", "Check runs"), as far as remuda uses it.

// workflowRuns adds its calls.
func (s *server) workflowRuns(mux *http.ServeMux) {
	const repo = " /repos/{owner}/{repo}"
	const runs = repo + "/actions/runs"
	mux.HandleFunc("GET"+runs, s.listRuns)
	mux.HandleFunc("GET"+runs+"/{id}", numbered(s.getRun))
	mux.HandleFunc("GET"+runs+"/{id}/jobs", numbered(s.listRunJobs))
	mux.HandleFunc("GET"+runs+"/{id}/attempts/{attempt}/jobs", numbered(s.listAttemptJobs))
	mux.HandleFunc("POST"+runs+"/{id}/cancel", numbered(s.cancelRun))
	mux.HandleFunc("POST"+runs+"/{id}/rerun", numbered(s.rerun))
	mux.HandleFunc("POST"+runs+"/{id}/rerun-failed-jobs", numbered(s.rerunFailed))
	mux.HandleFunc("POST"+repo+"/actions/jobs/{id}/rerun", numbered(s.rerunJob))
	mux.HandleFunc("GET"+repo+"/commits/{ref}/check-runs", s.listCheckRuns)
	mux.HandleFunc("POST"+repo+"/check-runs", taking(s.leaveCheckRun))
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
			Status: j.Status, Conclusion: orNull(j.Conclusion), Labels: []string{j.Label},
			RunnerID: orNull(j.RunnerID), RunnerName: orNull(j.Runner),
			CreatedAt: whole(j.CreatedAt), StartedAt: whole(j.StartedAt), CompletedAt: orNull(whole(j.FinishedAt)),
		}
		if j.StartedAt.IsZero() {
			one.StartedAt = one.CreatedAt // it is never null
		}
		out = append(out, one)
	}
	return out
}

// repositoryIn returns owner/name of a request's path.
func repositoryIn(r *http.Request) string { return r.PathValue("owner") + "/" + r.PathValue("repo") }

func (s *server) listRuns(w http.ResponseWriter, r *http.Request) {
	all, err := s.hub.workflows.list(r.Context(), repositoryIn(r), r.URL.Query().Get("status"))
	out := wireRuns{TotalCount: len(all), Runs: []wireRun{}}
	for _, one := range paged(w, r, all) {
		out.Runs = append(out.Runs, toWireRun(one))
	}
	s.answer(w, CallRuns, http.StatusOK, out, err)
}

func (s *server) getRun(w http.ResponseWriter, r *http.Request, id int64) {
	one, err := s.hub.workflows.get(r.Context(), repositoryIn(r), id)
	s.answer(w, CallRun, http.StatusOK, toWireRun(one), err)
}

func (s *server) listRunJobs(w http.ResponseWriter, r *http.Request, id int64) {
	number := lastAttempt
	if r.URL.Query().Get("filter") == "all" {
		number = allAttempts
	}
	s.listJobs(w, r, id, number)
}

func (s *server) listAttemptJobs(w http.ResponseWriter, r *http.Request, id int64) {
	number, err := strconv.Atoi(r.PathValue("attempt"))
	if err != nil || number < 1 {
		notFound(w, r)
		return
	}
	s.listJobs(w, r, id, number)
}

func (s *server) listJobs(w http.ResponseWriter, r *http.Request, id int64, number int) {
	attempts, err := s.hub.workflows.attempts(r.Context(), repositoryIn(r), id, number)
	all := []wireRunJob{}
	for _, one := range attempts {
		all = append(all, toWireJobs(one)...)
	}
	out := wireRunJobs{TotalCount: len(all), Jobs: paged(w, r, all)}
	s.answer(w, CallRunJobs, http.StatusOK, out, err)
}

func (s *server) cancelRun(w http.ResponseWriter, r *http.Request, id int64) {
	err := s.hub.workflows.cancelling(r.Context(), repositoryIn(r), id)
	s.answer(w, CallCancelRun, http.StatusAccepted, struct{}{}, err)
}

func (s *server) rerun(w http.ResponseWriter, r *http.Request, id int64) {
	err := s.hub.workflows.rerunning(r.Context(), CallRerun, repositoryIn(r), id, every)
	s.answer(w, CallRerun, http.StatusCreated, struct{}{}, err)
}

func (s *server) rerunFailed(w http.ResponseWriter, r *http.Request, id int64) {
	err := s.hub.workflows.RerunFailedJobs(r.Context(), repositoryIn(r), id)
	s.answer(w, CallRerunFailed, http.StatusCreated, struct{}{}, err)
}

func (s *server) rerunJob(w http.ResponseWriter, r *http.Request, id int64) {
	err := s.hub.workflows.RerunJob(r.Context(), repositoryIn(r), id)
	s.answer(w, CallRerunJob, http.StatusCreated, struct{}{}, err)
}
