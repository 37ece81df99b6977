package githubsim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// world is a site with one of everything that routes name, for one route.
type world struct {
	*site
	route string
	sha   string // of the commit of runs
	path  string // of the route's good request
	token string // its credential
	body  any
}

const (
	worldRunner = 1 // idle
	worldBusy   = 2
	worldDone   = 7 // a run that is completed, of which a job has failed
	worldLive   = 8
)

func newWorld(t *testing.T, route string) *world {
	t.Helper()
	w := &world{site: newSite(t, githubsim.Options{}), route: route, token: credential}
	jit(t, w.Hub, "i-1-1", "42")
	_, busy := jit(t, w.Hub, "i-2-1", "busy")
	submit(t, w.Hub, githubsim.Job{ID: "j", Label: "busy"})
	next(t, connect(t, w.Hub, busy), 0)
	w.SetEnd("2.336.0", githubapi.Deprecation{Registration: time.Now(), Runtime: time.Now()})
	done, err := w.Workflows().Start(githubsim.RunSpec{ID: worldDone, Jobs: []githubsim.JobSpec{{Key: "a", Hosted: true, Conclusion: githubsim.Failure}}})
	check(t, err)
	check(t, errorOf(w.Workflows().Start(githubsim.RunSpec{ID: worldLive, Jobs: []githubsim.JobSpec{{Key: "a", Hosted: true, Held: true}, {Key: "b"}}})))
	check(t, w.Workflows().LeaveCheckRun(t.Context(), repository, githubapi.CheckRun{HeadSHA: done.HeadSHA, Name: "n", Key: "k", Title: "t", Summary: "s"}))
	app := w.installationToken(t)

	id := int64(worldRunner)
	switch {
	case strings.Contains(route, "/runs/{id}/cancel"):
		id = worldLive
	case strings.Contains(route, "/actions/runs/"):
		id = worldDone
	case strings.Contains(route, "/actions/jobs/"):
		id = done.Jobs[0].ID
	case strings.Contains(route, "/installations/"):
		id = 77
	}
	switch {
	case strings.Contains(route, "/generate-jitconfig"):
		w.body = map[string]any{"name": "i-3-1", "runner_group_id": 1, "labels": []string{"42"}}
	case strings.HasSuffix(route, "/labels"):
		w.body = map[string]any{"labels": []string{"43"}}
	case route == "POST /repos/{owner}/{repo}/check-runs":
		w.token = app
		w.body = map[string]any{"name": "n", "head_sha": done.HeadSHA, "external_id": "x", "status": "completed", "conclusion": "failure"}
	case strings.HasSuffix(route, "/installation"), strings.HasSuffix(route, "/access_tokens"):
		w.token = signature(t)
	}
	w.sha = done.HeadSHA
	w.path = w.with(id, "2.336.0")
	return w
}

// with is the route's path with an id, or with a version.
func (w *world) with(id int64, version string) string {
	_, path, _ := strings.Cut(w.route, " ")
	return strings.NewReplacer("{owner}", "octo", "{repo}", "repo", "{enterprise}", "octo", "{id}", fmt.Sprint(id),
		"{attempt}", "1", "{ref}", w.sha, "{version}", version).Replace(path)
}

// describedPermissions leaves a manifest the one permission that the description's example of an App has.
func describedPermissions(m *githubapi.Manifest) {
	m.Permissions = map[string]string{"checks": "write"}
}

// answer makes the route's request, changed by with.
func (w *world) answer(t *testing.T, query, tag string, with ...func(*world)) (*http.Response, string) {
	t.Helper()
	one := *w
	for _, f := range with {
		f(&one)
	}
	method, _, _ := strings.Cut(w.route, " ")
	path := strings.Replace(one.path, "{code}", w.code(t, describedPermissions), 1) // each serves once
	if query != "" {
		path += "?" + query
	}
	return w.ask(t, method, path, one.token, tag, one.body)
}

// exercise has a route answer everything that it can, and tells each answer.
func exercise(t *testing.T, route, query string, tell func(status int, body string)) {
	t.Helper()
	w := newWorld(t, route)
	say := func(with ...func(*world)) {
		t.Helper()
		resp, body := w.answer(t, query, "", with...)
		tell(resp.StatusCode, body)
	}
	say(func(w *world) { w.token = "ghp_of_nobody" })
	for _, mode := range []githubsim.Mode{githubsim.Fails, githubsim.Revoked} {
		w.SetOutage(githubsim.Outage{Mode: mode})
		say()
	}
	w.SetOutage(githubsim.Outage{})
	for _, status := range []int{http.StatusForbidden, http.StatusTooManyRequests} {
		w.SetSecondaryLimit(1, status)
		if strings.HasPrefix(route, http.MethodGet) {
			say() // costs the one point
		}
		say()
	}
	w.SetSecondaryLimit(0, 0)
	if strings.Contains(route, "{code}") {
		say(func(w *world) { w.path = "/app-manifests/none/conversions" })
	}
	if strings.Contains(route, "{id}") || strings.Contains(route, "{version}") {
		say(func(w *world) { w.path = w.with(999, "1.0") })
	}
	ofRuns := strings.Contains(route, "/actions/runs") || strings.Contains(route, "/actions/jobs") || strings.Contains(route, "check-runs")
	if ofRuns {
		for _, p := range []githubsim.Permissions{
			{Actions: githubsim.AccessNone, Checks: githubsim.AccessNone}, {Actions: githubsim.AccessWrite, Checks: githubsim.AccessWrite, Hidden: true},
		} {
			check(t, w.Workflows().SetPermissions(repository, p))
			say()
		}
		check(t, w.Workflows().SetPermissions(repository, githubsim.Permissions{Actions: githubsim.AccessWrite, Checks: githubsim.AccessWrite}))
	}
	if w.body != nil {
		say(func(w *world) { w.body = "no object" })
	}
	switch {
	case strings.HasPrefix(route, "DELETE"):
		say(func(w *world) { w.path = w.with(worldBusy, "") })
	case strings.HasSuffix(route, "/generate-jitconfig"):
		say(func(w *world) {
			w.body = map[string]any{"name": "i-9-1", "runner_group_id": 9, "labels": []string{"42"}}
		})
	case strings.HasPrefix(route, "POST") && strings.HasSuffix(route, "/check-runs"):
		say(func(w *world) { w.token = credential })
		say(func(w *world) {
			w.body = map[string]any{"name": "n", "head_sha": "0000", "status": "completed", "conclusion": "failure"}
		})
	}
	resp, body := w.answer(t, query, "")
	if resp.StatusCode >= 300 {
		t.Errorf("%s: the good request is answered with %d %s", route, resp.StatusCode, body)
	}
	tell(resp.StatusCode, body)
	if tag := resp.Header.Get("ETag"); tag != "" {
		resp, body = w.answer(t, query, tag)
		tell(resp.StatusCode, body)
	}
	if ofRuns && strings.HasPrefix(route, http.MethodGet) { // what is not over has nulls
		resp, body = w.answer(t, "", "", func(w *world) { w.path = w.with(worldLive, "") })
		tell(resp.StatusCode, body)
	}
	say() // once more: what was done already may be refused
}
