package githubsim

import (
	"fmt"
	"net/http"
	"slices"
)

// runs adds what the operator's methods of Workflows do.
func (a controlAPI) runs(mux *http.ServeMux) {
	w := a.hub.Workflows()
	mux.HandleFunc("POST /runs", taking(a.startRun))
	mux.HandleFunc("GET /runs", func(rw http.ResponseWriter, _ *http.Request) { writeJSON(rw, http.StatusOK, w.List()) })
	mux.HandleFunc("GET /runs/{id}", numbered(a.run))
	mux.HandleFunc("GET /runs/{id}/attempts", numbered(a.attempts))
	mux.HandleFunc("POST /runs/{id}/approve", numbered(func(rw http.ResponseWriter, _ *http.Request, id int64) { done(rw, w.Approve(id)) }))
	mux.HandleFunc("POST /runs/{id}/cancel", numbered(func(rw http.ResponseWriter, _ *http.Request, id int64) { done(rw, w.Cancel(id)) }))
	mux.HandleFunc("POST /runs/{id}/rerun", numbered(a.rerun))
	mux.HandleFunc("POST /runs/jobs/{id}/finish", numbered(a.finish))
	mux.HandleFunc("GET /check-runs", func(rw http.ResponseWriter, _ *http.Request) { writeJSON(rw, http.StatusOK, w.CheckRuns()) })
	mux.HandleFunc("PUT /view", put(a.setView))
	mux.HandleFunc("PUT /permissions/{owner}/{repo}", put(a.setPermissions))
	mux.HandleFunc("PUT /secondary", put(a.setSecondary))
	mux.HandleFunc("GET /unchanged", func(rw http.ResponseWriter, _ *http.Request) { writeJSON(rw, http.StatusOK, a.hub.Unchanged()) })
}

func (a controlAPI) startRun(w http.ResponseWriter, _ *http.Request, s RunSpec) {
	r, err := a.hub.Workflows().Start(s)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, r)
}

// run returns one run; with ?wait=1 once it is completed.
func (a controlAPI) run(w http.ResponseWriter, r *http.Request, id int64) {
	get := a.hub.Workflows().Run
	if r.URL.Query().Get("wait") != "" {
		get = func(id int64) (RunRecord, error) { return a.hub.Workflows().Wait(r.Context(), id) }
	}
	out, err := get(id)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

func (a controlAPI) attempts(w http.ResponseWriter, _ *http.Request, id int64) {
	out, err := a.hub.Workflows().Attempts(id)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

func (a controlAPI) rerun(w http.ResponseWriter, r *http.Request, id int64) {
	var which Again
	err := readJSON(r, &which)
	if err == nil {
		err = a.hub.Workflows().Rerun(id, which)
	}
	done(w, err)
}

type wireFinish struct {
	Conclusion Conclusion `json:"conclusion"`
}

func (a controlAPI) finish(w http.ResponseWriter, r *http.Request, id int64) {
	var how wireFinish
	err := readJSON(r, &how)
	if err == nil {
		err = a.hub.Workflows().Finish(id, how.Conclusion)
	}
	done(w, err)
}

type wireView struct {
	Lag      float64 `json:"lagSeconds"`
	Swings   bool    `json:"swings"`
	Frozen   float64 `json:"frozenSeconds"`
	Shuffled bool    `json:"shuffled"`
}

func (a controlAPI) setView(_ *http.Request, v wireView) error {
	if v.Lag < 0 || v.Frozen < 0 {
		return fmt.Errorf("lagSeconds, frozenSeconds: must not be negative, got %v, %v: %w", v.Lag, v.Frozen, ErrInvalid)
	}
	return a.hub.Workflows().SetView(View{Lag: seconds(v.Lag), Swings: v.Swings, Frozen: seconds(v.Frozen), Shuffled: v.Shuffled})
}

func (a controlAPI) setPermissions(r *http.Request, p Permissions) error {
	return a.hub.Workflows().SetPermissions(repositoryIn(r), p)
}

type wireSecondary struct {
	Points int `json:"points"`
	Status int `json:"status"`
}

func (a controlAPI) setSecondary(_ *http.Request, l wireSecondary) error {
	if !slices.Contains([]int{0, http.StatusForbidden, http.StatusTooManyRequests}, l.Status) {
		return fmt.Errorf("status: must be 403 or 429, got %d: %w", l.Status, ErrInvalid)
	}
	a.hub.SetSecondaryLimit(l.Points, l.Status)
	return nil
}
