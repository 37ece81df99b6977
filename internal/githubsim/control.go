package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
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
	mux.HandleFunc("POST /jobs", a.submit)
	mux.HandleFunc("GET /jobs", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, a.hub.Jobs()) })
	mux.HandleFunc("GET /jobs/{id}", a.job)
	mux.HandleFunc("POST /jobs/{id}/cancel", a.cancel)
	mux.HandleFunc("GET /registrations", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, a.hub.Registrations())
	})
	mux.HandleFunc("GET /calls", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, a.hub.Calls()) })
	mux.HandleFunc("PUT /outage", a.setOutage)
	mux.HandleFunc("PUT /services/{service}", a.setTrouble)
	mux.HandleFunc("PUT /conflicts", a.setConflicts)
	mux.HandleFunc("DELETE /runners/{id}", a.onRunner(a.hub.Evict))
	mux.HandleFunc("POST /runners/{id}/expire", a.onRunner(a.hub.Expire))
	mux.HandleFunc("PUT /ratelimit/{resource}", a.setRateLimit)
	mux.HandleFunc("PUT /latency", a.setLatency)
	mux.HandleFunc("PUT /app", a.setApp)
	mux.HandleFunc("PUT /groups", a.setGroups)
	mux.HandleFunc("PUT /deprecated", a.setDeprecated)
	mux.HandleFunc("PUT /deprecations/{version}", a.setEnd)
	mux.HandleFunc("/", notFound)
	return mux
}

func (a controlAPI) submit(w http.ResponseWriter, r *http.Request) {
	var j Job
	err := readJSON(r, &j)
	if err == nil {
		err = a.hub.Submit(j)
	}
	if err != nil {
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

func (a controlAPI) setOutage(w http.ResponseWriter, r *http.Request) {
	var o Outage
	err := readJSON(r, &o)
	if err == nil && !slices.Contains([]Mode{Up, Fails, Hangs, Lost, Revoked}, o.Mode) {
		err = fmt.Errorf("mode %q: %w", o.Mode, ErrInvalid)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	a.hub.SetOutage(o)
	w.WriteHeader(http.StatusNoContent)
}

// wireTrouble is a service's trouble; without seconds it lasts until the next call.
type wireTrouble struct {
	Trouble Trouble `json:"trouble"`
	Seconds float64 `json:"seconds"`
}

func (a controlAPI) setTrouble(w http.ResponseWriter, r *http.Request) {
	service := Service(r.PathValue("service"))
	var t wireTrouble
	err := readJSON(r, &t)
	switch {
	case err != nil:
	case !slices.Contains(Services(), service):
		err = fmt.Errorf("service %q: must be one of %v: %w", service, Services(), ErrInvalid)
	case t.Trouble != NoTrouble && !slices.Contains(Troubles(), t.Trouble):
		err = fmt.Errorf("trouble %q: must be one of %v, or empty: %w", t.Trouble, Troubles(), ErrInvalid)
	case t.Seconds < 0:
		err = fmt.Errorf("seconds: must not be negative, got %v: %w", t.Seconds, ErrInvalid)
	default:
		a.hub.SetTrouble(service, t.Trouble, seconds(t.Seconds))
	}
	done(w, err)
}

func (a controlAPI) setConflicts(w http.ResponseWriter, r *http.Request) {
	var n int
	err := readJSON(r, &n)
	if err == nil {
		a.hub.SetConflicts(n)
	}
	done(w, err)
}

// onRunner does something to one runner.
func (a controlAPI) onRunner(act func(id int64) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			notFound(w, r)
			return
		}
		done(w, act(id))
	}
}

func (a controlAPI) setRateLimit(w http.ResponseWriter, r *http.Request) {
	resource := r.PathValue("resource")
	var l wireLimit
	err := readJSON(r, &l)
	if err == nil && resource != ResourceCore && resource != ResourceRegistration {
		err = fmt.Errorf("resource %q: %w", resource, ErrInvalid)
	}
	if err == nil && !slices.Contains([]int{0, http.StatusForbidden, http.StatusTooManyRequests}, l.Status) {
		err = fmt.Errorf("status: must be 403 or 429, got %d: %w", l.Status, ErrInvalid)
	}
	if err != nil {
		writeError(w, err)
		return
	}
	a.hub.SetRateLimit(resource, RateLimit{Limit: l.Limit, Window: seconds(l.Window), Status: l.Status, Secondary: l.Secondary})
	w.WriteHeader(http.StatusNoContent)
}

func (a controlAPI) setLatency(w http.ResponseWriter, r *http.Request) {
	var l wireLatency
	if err := readJSON(r, &l); err != nil {
		writeError(w, err)
		return
	}
	a.hub.SetLatency(Latency{API: seconds(l.API), Session: seconds(l.Session)})
	w.WriteHeader(http.StatusNoContent)
}

// longest is what stands for ever: a float64 may be more than a Duration holds.
const longest = 100 * 365 * 24 * time.Hour

func (a controlAPI) setApp(w http.ResponseWriter, r *http.Request) {
	var app App
	err := readJSON(r, &app)
	if err == nil {
		err = a.hub.SetApp(app)
	}
	done(w, err)
}

func (a controlAPI) setGroups(w http.ResponseWriter, r *http.Request) {
	var names []string
	err := readJSON(r, &names)
	if err == nil {
		a.hub.SetGroups(names...)
	}
	done(w, err)
}

func (a controlAPI) setDeprecated(w http.ResponseWriter, r *http.Request) {
	var on bool
	err := readJSON(r, &on)
	if err == nil {
		a.hub.SetDeprecated(on)
	}
	done(w, err)
}

func (a controlAPI) setEnd(w http.ResponseWriter, r *http.Request) {
	var end struct {
		Registration time.Time `json:"registration"`
		Runtime      time.Time `json:"runtime"`
	}
	err := readJSON(r, &end)
	if err == nil {
		a.hub.SetEnd(r.PathValue("version"), githubapi.Deprecation{Registration: end.Registration, Runtime: end.Runtime})
	}
	done(w, err)
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
