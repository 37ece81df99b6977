package githubsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// maxBody bounds what is read of a request or an answer.
const maxBody = 1 << 20

// wireErrors maps errors to statuses, and by code back again on the runner's side. First match wins.
var wireErrors = []struct {
	err    error
	status int
	code   string
}{
	{githubapi.ErrGone, http.StatusNotFound, "no_runner"},
	{githubapi.ErrNameTaken, http.StatusConflict, "name_taken"},
	{githubapi.ErrBusy, http.StatusUnprocessableEntity, "busy"},
	{githubapi.ErrThrottled, http.StatusForbidden, "throttled"},
	{githubapi.ErrUnavailable, http.StatusServiceUnavailable, "unavailable"},
	{ErrUnauthorized, http.StatusUnauthorized, "unauthorized"},
	{ErrRunnerGone, http.StatusNotFound, "runner_gone"},
	{ErrSessionConflict, http.StatusConflict, "session_conflict"},
	{ErrSessionGone, http.StatusGone, "session_gone"},
	{ErrInvalid, http.StatusUnprocessableEntity, "invalid"},
	{ErrDeprecated, http.StatusForbidden, "deprecated"},
	{ErrNoJob, http.StatusNotFound, "no_job"},
	{ErrNoRun, http.StatusNotFound, "no_run"},
	{ErrNoGroup, http.StatusNotFound, "no_group"},
	{errNotFound, http.StatusNotFound, "not_found"},
}

// wireError is the body of every refusal.
type wireError struct {
	Message          string `json:"message"`
	Code             string `json:"code,omitempty"`
	DocumentationURL string `json:"documentation_url,omitempty"`

	Trouble *ServiceError `json:"trouble,omitempty"`
}

// writeTrouble answers as a service in trouble does. That nothing listens can only be told here, where all
// services share an address: Remote makes of it what the runner would see.
func writeTrouble(w http.ResponseWriter, e *ServiceError) {
	if e.Trouble == Drop {
		panic(http.ErrAbortHandler)
	}
	status := e.Trouble.Status()
	if status == 0 {
		status = http.StatusBadGateway
	}
	writeJSON(w, status, wireError{Message: http.StatusText(status), Trouble: e})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller has hung up: nobody is left to tell
}

// writeError answers with err. A lost reply ends the connection without an answer.
func writeError(w http.ResponseWriter, err error) {
	if errors.Is(err, errLost) {
		panic(http.ErrAbortHandler)
	}
	if trouble := (*ServiceError)(nil); errors.As(err, &trouble) {
		writeTrouble(w, trouble)
		return
	}
	if no := (*refused)(nil); errors.As(err, &no) {
		writeJSON(w, no.status, wireError{Message: no.message})
		return
	}
	for _, e := range wireErrors {
		if errors.Is(err, e.err) {
			body := wireError{Message: err.Error(), Code: e.code}
			if _, rest := w.(*restWriter); rest {
				body.Code = "" // which is for Remote; GitHub has nothing like it
			}
			writeJSON(w, e.status, body)
			return
		}
	}
	writeJSON(w, http.StatusInternalServerError, wireError{Message: err.Error()})
}

// taking handles requests whose body is JSON.
func taking[T any](act func(w http.ResponseWriter, r *http.Request, in T)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in T
		if err := readJSON(r, &in); err != nil {
			writeError(w, err)
			return
		}
		act(w, r, in)
	}
}

// numbered handles requests whose path has an id.
func numbered(act func(w http.ResponseWriter, r *http.Request, id int64)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		if err != nil {
			notFound(w, r)
			return
		}
		act(w, r, id)
	}
}

// readJSON reads a whole request body, so that the server notices when the caller hangs up.
func readJSON(r *http.Request, v any) error {
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("request body: not the expected JSON: %w", ErrInvalid)
	}
	if dec.More() {
		return fmt.Errorf("request body: more than one value: %w", ErrInvalid)
	}
	return nil
}

// bearer returns the credential of a request.
func bearer(r *http.Request) string {
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") || strings.EqualFold(scheme, "token") {
		return strings.TrimSpace(value)
	}
	return ""
}
