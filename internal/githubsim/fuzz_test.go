package githubsim_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// FuzzHandler asks for anything, and then for what clients need: the simulation answers both. What was
// asked first may have made it fail, wait or lose its answers on purpose, but never for ever.
func FuzzHandler(f *testing.F) {
	for _, s := range [][3]string{
		{"POST", "/repos/o/r/actions/runners/generate-jitconfig", `{"name":"n","runner_group_id":1,"labels":["a"]}`},
		{"GET", "/orgs/o/actions/runners?per_page=9223372036854775807&page=2", ""},
		{"DELETE", "/repos/o/r/actions/runners/-1", ""},
		{"POST", "/_runner/register", `{"token":"t","name":"n","labels":[]}`},
		{"GET", "/_runner/message?seen=0", ""},
		{"POST", "/_sim/jobs", `{"id":"j","labels":["a"],"steps":null}`},
		{"GET", "/_sim/jobs/j?wait=1", ""},
		{"PUT", "/_sim/outage", `{"mode":"lost"}`},
		{"PUT", "/_sim/ratelimit/core", `{"limit":0,"windowSeconds":1,"status":7}`},
		{"PUT", "/_sim/ratelimit/actions_runner_registration", `{"limit":-1,"windowSeconds":1e300,"status":429,"secondary":true}`},
		{"PUT", "/_sim/services/broker", `{"trouble":"hang","seconds":5e-324}`},
		{"PUT", "/_sim/services/run", `{"trouble":"drop"}`},
		{"POST", "/_sim/runs", `{"id":7,"jobs":[{"key":"a","hosted":true,"seconds":1e9},{"key":"b","needs":["a"],"matrix":["x","y"],"always":true}]}`},
		{"GET", "/repos/o/r/actions/runs?status=queued&per_page=-1", ""},
		{"GET", "/_sim/runs/7?wait=1", ""},
		{"PUT", "/_sim/view", `{"lagSeconds":1e300,"swings":true,"frozenSeconds":1e300}`},
		{"PUT", "/_sim/secondary", `{"points":1}`},
		{"POST", "/repos/o/r/check-runs", `{"name":"n","head_sha":"s","conclusion":"failure","output":null}`},
		{"PUT", "/_sim/latency", `{"apiSeconds":1e300,"sessionSeconds":-1e300}`},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		u, err := url.ParseRequestURI("http://localhost" + path)
		if err != nil || u.Host != "localhost" {
			return // no server would be asked that
		}
		bubbletest.Run(t, func(t *testing.T) {
			hub := githubsim.New(githubsim.Options{Clock: clock.RealClock{}, URL: "http://localhost/o/r"})
			handler := githubsim.Handler(hub, "secret")
			ask(t, handler, method, path, body)
			for _, after := range [][2]string{
				{"GET", "/repos/o/r/actions/runners"},
				{"POST", "/repos/o/r/actions/runners/registration-token"},
				{"GET", "/_sim/calls"},
			} {
				ask(t, handler, after[0], after[1], "")
			}
		})
	})
}

// ask makes one call, and waits an hour at most.
func ask(t *testing.T, handler http.Handler, method, path, body string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		return // nor that
	}
	r.RequestURI = r.URL.RequestURI()
	r.Header.Set("Authorization", "Bearer secret")
	w := httptest.NewRecorder()
	defer func() {
		// The way in which net/http lets a handler hang up.
		if p := recover(); p != nil {
			if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
		}
	}()
	handler.ServeHTTP(w, r)
	if w.Code < 200 || w.Code > 599 {
		t.Errorf("%s %s = status %d", method, path, w.Code)
	}
}
