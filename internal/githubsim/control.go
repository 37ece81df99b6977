package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// controlAPI is what the tests' and the operator's methods of Hub do, over HTTP. Durations are in seconds.
type controlAPI struct{ hub *Hub }

type wireLimit struct {
	Limit     int     `json:"limit"`
	Window    float64 `json:"windowSeconds"`
	Status    int     `json:"status"`
	Secondary bool    `json:"secondary"`
}

type wireLatency struct {
	API     float64 `json:"apiSeconds"`
	Session float64 `json:"sessionSeconds"`
}

func (a controlAPI) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /jobs", taking(a.submit))
	mux.HandleFunc("GET /jobs", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, a.hub.Jobs()) })
	mux.HandleFunc("GET /jobs/{id}", a.job)
	mux.HandleFunc("POST /jobs/{id}/cancel", a.cancel)
	mux.HandleFunc("GET /registrations", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, a.hub.Registrations())
	})
	mux.HandleFunc("GET /calls", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, a.hub.Calls()) })
	mux.HandleFunc("PUT /outage", put(a.setOutage))
	mux.HandleFunc("PUT /services/{service}", put(a.setTrouble))
	mux.HandleFunc("PUT /conflicts", put(a.setConflicts))
	mux.HandleFunc("DELETE /runners/{id}", a.onRunner(a.hub.Evict))
	mux.HandleFunc("POST /runners/{id}/expire", a.onRunner(a.hub.Expire))
	mux.HandleFunc("PUT /ratelimit/{resource}", put(a.setRateLimit))
	mux.HandleFunc("PUT /latency", put(a.setLatency))
	mux.HandleFunc("PUT /app", put(a.setApp))
	mux.HandleFunc("PUT /groups", put(a.setGroups))
	mux.HandleFunc("PUT /deprecated", put(a.setDeprecated))
	mux.HandleFunc("PUT /deprecations/{version}", put(a.setEnd))
	a.runs(mux)
	mux.HandleFunc("/", notFound)
	return mux
}

func (a controlAPI) submit(w http.ResponseWriter, _ *http.Request, j Job) {
	if err := a.hub.Submit(j); err != nil {
		writeError(w, err)
		return
	}
	a.writeJob(w, http.StatusCreated, j.ID)
}

// job returns one job; with ?wait=1 once it is completed.
func (a controlAPI) job(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if r.URL.Query().Get("wait") != "" {
		if _, err := a.hub.Wait(r.Context(), id); err != nil {
			writeError(w, err)
			return
		}
	}
	a.writeJob(w, http.StatusOK, id)
}

func (a controlAPI) cancel(w http.ResponseWriter, r *http.Request) {
	if err := a.hub.Cancel(r.PathValue("id")); err != nil {
		writeError(w, err)
		return
	}
	a.writeJob(w, http.StatusOK, r.PathValue("id"))
}

func (a controlAPI) writeJob(w http.ResponseWriter, status int, id string) {
	rec, err := a.hub.Job(id)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, status, rec)
}

func (a controlAPI) setOutage(_ *http.Request, o Outage) error {
	if !slices.Contains([]Mode{Up, Fails, Hangs, Lost, Revoked}, o.Mode) {
		return fmt.Errorf("mode %q: %w", o.Mode, ErrInvalid)
	}
	a.hub.SetOutage(o)
	return nil
}

// wireTrouble is a service's trouble; without seconds it lasts until the next call.
type wireTrouble struct {
	Trouble Trouble `json:"trouble"`
	Seconds float64 `json:"seconds"`
}

func (a controlAPI) setTrouble(r *http.Request, t wireTrouble) error {
	service := Service(r.PathValue("service"))
	switch {
	case !slices.Contains(Services(), service):
		return fmt.Errorf("service %q: must be one of %v: %w", service, Services(), ErrInvalid)
	case t.Trouble != NoTrouble && !slices.Contains(Troubles(), t.Trouble):
		return fmt.Errorf("trouble %q: must be one of %v, or empty: %w", t.Trouble, Troubles(), ErrInvalid)
	case t.Seconds < 0:
		return fmt.Errorf("seconds: must not be negative, got %v: %w", t.Seconds, ErrInvalid)
	}
	a.hub.SetTrouble(service, t.Trouble, seconds(t.Seconds))
	return nil
}

func (a controlAPI) setConflicts(_ *http.Request, n int) error {
	a.hub.SetConflicts(n)
	return nil
}

// onRunner does something to one runner.
func (a controlAPI) onRunner(act func(id int64) error) http.HandlerFunc {
	return numbered(func(w http.ResponseWriter, _ *http.Request, id int64) { done(w, act(id)) })
}

func (a controlAPI) setRateLimit(r *http.Request, l wireLimit) error {
	resource := r.PathValue("resource")
	if resource != ResourceCore && resource != ResourceRegistration {
		return fmt.Errorf("resource %q: %w", resource, ErrInvalid)
	}
	if !slices.Contains([]int{0, http.StatusForbidden, http.StatusTooManyRequests}, l.Status) {
		return fmt.Errorf("status: must be 403 or 429, got %d: %w", l.Status, ErrInvalid)
	}
	a.hub.SetRateLimit(resource, RateLimit{Limit: l.Limit, Window: seconds(l.Window), Status: l.Status, Secondary: l.Secondary})
	return nil
}

func (a controlAPI) setLatency(_ *http.Request, l wireLatency) error {
	a.hub.SetLatency(Latency{API: seconds(l.API), Session: seconds(l.Session)})
	return nil
}

// longest is what stands for ever: a float64 may be more than a Duration holds.
const longest = 100 * 365 * 24 * time.Hour

func (a controlAPI) setApp(_ *http.Request, app App) error { return a.hub.SetApp(app) }

func (a controlAPI) setGroups(_ *http.Request, names []string) error {
	a.hub.SetGroups(names...)
	return nil
}

func (a controlAPI) setDeprecated(_ *http.Request, on bool) error {
	a.hub.SetDeprecated(on)
	return nil
}

type wireDeprecation struct {
	Registration time.Time `json:"registration"`
	Runtime      time.Time `json:"runtime"`
}

func (a controlAPI) setEnd(r *http.Request, end wireDeprecation) error {
	a.hub.SetEnd(r.PathValue("version"), githubapi.Deprecation(end))
	return nil
}

// put does what a request's body says, which answers nothing.
func put[T any](act func(r *http.Request, in T) error) http.HandlerFunc {
	return taking(func(w http.ResponseWriter, r *http.Request, in T) { done(w, act(r, in)) })
}

// done answers a call that returns nothing.
func done(w http.ResponseWriter, err error) {
	if err != nil {
		writeError(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func seconds(f float64) time.Duration {
	return time.Duration(min(max(f, 0), longest.Seconds()) * float64(time.Second))
}
