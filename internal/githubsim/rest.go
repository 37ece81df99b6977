package githubsim

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// The REST API (GitHub REST, "Self-hosted runners"), as far as remuda uses it.

// Page sizes of a listing (GitHub REST, "List self-hosted runners").
const (
	defaultPage = 30
	maxPage     = 100
)

type wireLabel struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"`
}

type wireLabels struct {
	TotalCount int         `json:"total_count"`
	Labels     []wireLabel `json:"labels"`
}

type wireRunner struct {
	ID      int64       `json:"id"`
	Name    string      `json:"name"`
	OS      string      `json:"os"`
	Status  string      `json:"status"`
	Busy    bool        `json:"busy"`
	Labels  []wireLabel `json:"labels"`
	GroupID int64       `json:"runner_group_id"`
}

type wireToken struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
	// Permissions are told of an installation token.
	Permissions map[string]string `json:"permissions,omitempty"`
}

type wireRunners struct {
	TotalCount int          `json:"total_count"`
	Runners    []wireRunner `json:"runners"`
}

type wireJITRequest struct {
	Name    *string  `json:"name"`
	GroupID *int64   `json:"runner_group_id"`
	Labels  []string `json:"labels"`
	Work    string   `json:"work_folder"`
}

type wireJIT struct {
	Runner wireRunner `json:"runner"`
	Config string     `json:"encoded_jit_config"`
}

func toWire(r githubapi.Runner, group int64) wireRunner {
	out := wireRunner{
		ID: r.ID, Name: r.Name, OS: "linux", Status: "offline", Busy: r.Busy,
		Labels: wireLabelsOf(r.Labels), GroupID: group,
	}
	if r.Online {
		out.Status = "online"
	}
	return out
}

func wireLabelsOf(labels []string) []wireLabel {
	out := []wireLabel{}
	for i, l := range labels {
		out = append(out, wireLabel{ID: int64(i + 1), Name: l, Type: "custom"})
	}
	return out
}

// router takes the routes of the REST API; an *http.ServeMux does.
type router interface {
	Handle(pattern string, h http.Handler)
	HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request))
}

// routes adds the calls that need a token.
func (s *server) routes(to router) {
	scopes(to, "POST /registration-token", s.registrationToken)
	scopes(to, "POST /remove-token", s.registrationToken) // one kind serves both
	scopes(to, "POST /generate-jitconfig", taking(s.generateJIT))
	scopes(to, "GET ", s.listRunners)
	scopes(to, "GET /{id}", numbered(s.getRunner))
	scopes(to, "DELETE /{id}", numbered(s.deleteRunner))
	scopes(to, "POST /{id}/labels", s.addLabels)
	scopes(to, "GET /deprecations/{version}", s.deprecation)
	to.HandleFunc("GET /orgs/{owner}/actions/runner-groups", s.listGroups)
	to.HandleFunc("GET /enterprises/{enterprise}/actions/runner-groups", s.listGroups)
	runsAPI{s, s.hub.workflows}.routes(to)
}

func (s *server) rest() http.Handler {
	mux, all := http.NewServeMux(), http.NewServeMux()
	s.routes(mux)
	mux.HandleFunc("/", notFound)
	s.apps(all)
	all.Handle("/", s.permitted(s.authorized(mux, s.installed)))
	return restAnswers(all)
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusNotFound, wireError{Message: "Not Found"})
}

func (s *server) registrationToken(w http.ResponseWriter, r *http.Request) {
	tok, err := s.hub.RegistrationToken(r.Context())
	s.answer(w, CallToken, http.StatusCreated, wireToken{Token: tok.Value, ExpiresAt: tok.Expires}, err)
}

func (s *server) generateJIT(w http.ResponseWriter, r *http.Request, q wireJITRequest) {
	if q.Name == nil || q.GroupID == nil || q.Labels == nil {
		writeError(w, fmt.Errorf("name, runner_group_id and labels are required: %w", ErrInvalid))
		return
	}
	reg, config, err := s.hub.generate(r.Context(), *q.Name, *q.GroupID, q.Labels)
	out := wireJIT{Runner: toWire(githubapi.Runner{ID: reg.ID, Name: reg.Name, Labels: reg.Labels}, *q.GroupID), Config: config}
	s.answer(w, CallJIT, http.StatusCreated, out, err)
}

func (s *server) listRunners(w http.ResponseWriter, r *http.Request) {
	all, err := s.hub.Runners(r.Context())
	q := r.URL.Query()
	if name := q.Get("name"); name != "" {
		all = slices.DeleteFunc(all, func(r githubapi.Runner) bool { return r.Name != name })
	}
	out := wireRunners{TotalCount: len(all), Runners: []wireRunner{}}
	groups := s.groupIDs()
	for _, r := range paged(w, r, all) {
		out.Runners = append(out.Runners, toWire(r, groups[r.ID]))
	}
	s.answer(w, CallList, http.StatusOK, out, err)
}

// paged returns the page of a list that a request asks for, and links the next one in the answer.
func paged[T any](w http.ResponseWriter, r *http.Request, all []T) []T {
	q := r.URL.Query()
	size := min(atLeastOne(q.Get("per_page"), defaultPage), maxPage)
	page := atLeastOne(q.Get("page"), 1)
	first := len(all)
	if page-1 <= len(all)/size { // without overflow
		first = min((page-1)*size, len(all))
	}
	if first+size < len(all) {
		w.Header().Set("Link", fmt.Sprintf(`<%s>; rel="next"`, pageURL(r, page+1)))
	}
	return all[first:min(first+size, len(all))]
}

func pageURL(r *http.Request, page int) string {
	// The path of the request may have lost its prefix on the way here; RequestURI has it.
	path, _, _ := strings.Cut(r.RequestURI, "?")
	q := r.URL.Query()
	q.Set("page", strconv.Itoa(page))
	u := url.URL{Scheme: "http", Host: r.Host, Path: path, RawQuery: q.Encode()}
	return u.String()
}

func atLeastOne(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil && n >= 1 {
		return n
	}
	return otherwise
}

func (s *server) getRunner(w http.ResponseWriter, r *http.Request, id int64) {
	var got githubapi.Runner
	var found bool
	err := s.hub.do(r.Context(), CallGet, func(now time.Time) error {
		if known := s.hub.registry.get(id); known != nil {
			got, found = s.hub.registry.show(known, now), true
		}
		return nil
	})
	if err == nil && !found {
		notFound(w, r)
		return
	}
	s.answer(w, CallGet, http.StatusOK, toWire(got, s.groupIDs()[id]), err)
}

func (s *server) deleteRunner(w http.ResponseWriter, r *http.Request, id int64) {
	var found bool
	err := s.hub.do(r.Context(), CallDelete, func(now time.Time) (err error) {
		found, err = s.hub.dispatcher.removeIdle(id, RemovedDeleted, now)
		return err
	})
	switch {
	case err != nil:
		s.answer(w, CallDelete, 0, nil, err)
	case !found:
		notFound(w, r)
	default:
		s.rateHeaders(w, CallDelete)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (s *server) addLabels(w http.ResponseWriter, r *http.Request) {
	taking(func(w http.ResponseWriter, r *http.Request, q struct {
		Labels []string `json:"labels"`
	}) {
		numbered(func(w http.ResponseWriter, r *http.Request, id int64) {
			all, err := s.hub.addLabels(r.Context(), id, q.Labels)
			s.answer(w, CallLabel, http.StatusOK, wireLabels{TotalCount: len(all), Labels: wireLabelsOf(all)}, err)
		})(w, r)
	})(w, r)
}

// answer writes the result of a call with the headers of its budget.
func (s *server) answer(w http.ResponseWriter, c Call, status int, v any, err error) {
	if err == nil {
		s.succeed(w, c, status, v)
		return
	}
	s.rateHeaders(w, c)
	if limited := (*RateLimitError)(nil); errors.As(err, &limited) {
		s.writeLimit(w, limited)
		return
	}
	writeError(w, err)
}

// rateHeaders tells what is left of the call's budget (GitHub REST, "Rate limits"). A budget under a
// secondary limit is not told.
func (s *server) rateHeaders(w http.ResponseWriter, c Call) {
	limit, left, reset, told := s.hub.admission.rate(c.resource())
	if !told {
		return
	}
	h := w.Header()
	h.Set("X-RateLimit-Resource", c.resource())
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Used", strconv.Itoa(limit-left))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(ceilSeconds(reset), 10))
}

// ceilSeconds is the epoch second at which t has passed.
func ceilSeconds(t time.Time) int64 { return t.Add(time.Second - 1).Unix() }

func (s *server) writeLimit(w http.ResponseWriter, e *RateLimitError) {
	body := wireError{Message: "API rate limit exceeded"}
	if e.Limit.Secondary {
		body.Message = "You have exceeded a secondary rate limit"
		body.DocumentationURL = "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"
		wait := e.Reset.Sub(s.hub.opts.Clock.Now())
		w.Header().Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
	writeJSON(w, e.Limit.Status, body)
}
