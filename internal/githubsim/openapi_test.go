package githubsim_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// other is a status that a route (every one if it is "") is answered with, and what shows that.
type other struct {
	route  string
	status int
	source string
}

// elsewhere are statuses that the simulation answers though the description does not list them, each with what shows that
// GitHub does.
var elsewhere = []other{
	{"", 304, "GitHub REST, \"Best practices for using the REST API\": use conditional requests if appropriate"},
	{"", 401, "GitHub REST, \"Authenticating to the REST API\": bad credentials"},
	{"", 403, "GitHub REST, \"Rate limits for the REST API\": exceeding the rate limit; \"Troubleshooting\": resource not accessible"},
	{"", 429, "GitHub REST, \"Rate limits for the REST API\": exceeding the rate limit"},
	{"", 404, "GitHub REST, \"Troubleshooting the REST API\": 404 Not Found for an existing resource"},
	{"", 422, "GitHub REST, \"Troubleshooting the REST API\": validation failed"},
	{"", 503, "the description itself: components, responses, service_unavailable, which it lists for other operations"},
	{"POST /repos/{owner}/{repo}/actions/runs/{id}/rerun", 403, "metabase/metabase#70916: \"This workflow is already running\""},
	{"POST /repos/{owner}/{repo}/actions/runs/{id}/rerun-failed-jobs", 403, "cli/cli#9221, metabase/metabase#70916"},
	{"POST /repos/{owner}/{repo}/check-runs", 403, "EnricoMi/publish-unit-test-result-action#53: \"You must authenticate via a GitHub App.\""},
	{"POST /repos/{owner}/{repo}/check-runs", 422, "GitHub REST, \"Troubleshooting the REST API\": validation failed"},
}

// known says of every route, without the owner of the runners, with which parameters it is asked and what package
// githubapi reads of its answer.
var known = map[string]struct{ query, reads string }{
	"POST /actions/runners/registration-token": {"", "token expires_at"},
	"POST /actions/runners/remove-token":       {"", "token expires_at"},
	"POST /actions/runners/generate-jitconfig": {"", "encoded_jit_config runner.id"},
	"GET /actions/runners":                     {"name=i-1-1&per_page=1&page=1", "total_count runners.id runners.name runners.status runners.busy runners.labels.name"},
	"GET /actions/runners/{}":                  {"", "id name status busy labels.name"},
	"DELETE /actions/runners/{}":               {"", ""},
	"POST /actions/runners/{}/labels":          {"", "total_count labels.name"},
	"GET /actions/runners/deprecations/{}":     {"", "runner_version registration_deprecates_at runtime_deprecates_at"},
	"GET /actions/runner-groups":               {"per_page=100&page=1", "runner_groups.id runner_groups.name"},
	"GET /installation":                        {"", "id"},
	"POST /app/installations/{}/access_tokens": {"", "token expires_at"},
	"POST /app-manifests/{}/conversions":       {"", "id slug html_url pem"},
	"GET /actions/runs":                        {"status=completed&per_page=1&page=1", "workflow_runs.id workflow_runs.run_attempt workflow_runs.status workflow_runs.conclusion workflow_runs.head_sha"},
	"GET /actions/runs/{}":                     {"", "id run_attempt status conclusion head_sha"},
	"GET /actions/runs/{}/jobs":                {"filter=all&per_page=1&page=1", jobFields},
	"GET /actions/runs/{}/attempts/{}/jobs":    {"per_page=1&page=1", jobFields},
	"POST /actions/runs/{}/cancel":             {"", ""},
	"POST /actions/runs/{}/rerun":              {"", ""},
	"POST /actions/runs/{}/rerun-failed-jobs":  {"", ""},
	"POST /actions/jobs/{}/rerun":              {"", ""},
	"GET /commits/{}/check-runs":               {"check_name=n&filter=all&per_page=1&page=1", "check_runs.id check_runs.name check_runs.external_id"},
	"POST /check-runs":                         {"", "id"},
}

const jobFields = "jobs.id jobs.name jobs.status jobs.conclusion jobs.labels jobs.runner_name jobs.started_at jobs.completed_at jobs.steps.started_at"

// short is a route without whom the runners or runs belong to.
func short(route string) string {
	method, path, _ := strings.Cut(anonymous(route), " ")
	for _, owner := range []string{"/repos/{}/{}", "/orgs/{}", "/enterprises/{}"} {
		path = strings.TrimPrefix(path, owner)
	}
	return method + " " + path
}

// field finds a field by its path in a body; of a list, in its first element.
func field(v any, path string) (any, bool) {
	for part := range strings.SplitSeq(path, ".") {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = object[part]; !ok {
			return nil, false
		}
	}
	return v, true
}

// judge holds answers to the descriptions of github.com and, where it has no such operation, of its enterprises.
type judge struct {
	github, enterprise *description
	seen               map[string]map[int]bool // statuses by route
}

// described returns the operation of a route and the description that has it.
func (j *judge) described(t *testing.T, route string) (operation, *description) {
	t.Helper()
	for _, d := range []*description{j.github, j.enterprise} {
		if op, ok := d.operation(t, route); ok {
			return op, d
		}
	}
	t.Fatalf("%s: GitHub has no such operation", route)
	return operation{}, nil
}

// answer judges one answer.
func (j *judge) answer(t *testing.T, route string, status int, body string) {
	t.Helper()
	if j.seen[route] == nil {
		j.seen[route] = map[int]bool{}
	}
	j.seen[route][status] = true
	op, d := j.described(t, route)
	as, listed := d.body(op, status)
	if !listed {
		if !slices.ContainsFunc(elsewhere, func(e other) bool { return (e.route == route || e.route == "") && e.status == status }) {
			t.Errorf("%s: status %d is neither listed nor in the table: %s", route, status, body)
		}
		as = d.Components.Schemas["basic-error"]
	}
	if body == "" {
		return
	}
	var v any
	check(t, json.Unmarshal([]byte(body), &v))
	if as == nil {
		t.Errorf("%s: status %d has a body, %s", route, status, body)
		return
	}
	for _, w := range d.wrong("answer", v, as) {
		t.Errorf("%s: status %d: %s", route, status, w)
	}
	if status >= 300 {
		return
	}
	for path := range strings.FieldsSeq(known[short(route)].reads) {
		if _, ok := field(v, path); !ok {
			t.Errorf("%s: the answer lacks %s: %s", route, path, body)
		}
	}
}

// The simulation answers what GitHub's own description says: every route, every field, every status. What else it
// answers stands in a table that says where GitHub shows it.
func TestREST_AsGitHubDescribesIt(t *testing.T) {
	j := &judge{describe(t, openapiFiles[0]), describe(t, openapiFiles[1]), map[string]map[int]bool{}}
	for _, route := range githubsim.RESTRoutes() {
		say, ok := known[short(route)]
		if !ok {
			t.Errorf("%s: nothing says what is read of its answer", route)
			continue
		}
		op, d := j.described(t, route)
		for query := range strings.SplitSeq(say.query, "&") {
			if name, _, _ := strings.Cut(query, "="); name != "" && !d.takes(op, name) {
				t.Errorf("%s: GitHub takes no %s", route, name)
			}
		}
		exercise(t, route, say.query, func(status int, body string) { j.answer(t, route, status, body) })
	}
	for _, e := range elsewhere {
		var used, listed bool
		for route, statuses := range j.seen {
			if e.route != "" && e.route != route || !statuses[e.status] {
				continue
			}
			op, d := j.described(t, route)
			_, ok := d.body(op, e.status)
			used, listed = true, listed || ok && e.route != ""
		}
		if !used || listed {
			t.Errorf("row %q %d of the table is not needed", e.route, e.status)
		}
	}
	for route, want := range map[string][]int{ // the other tests say when
		"GET /repos/{owner}/{repo}/actions/runs":                            {200, 304, 401, 403, 404, 429, 503},
		"POST /repos/{owner}/{repo}/actions/runs/{id}/cancel":               {202, 401, 403, 404, 409, 429, 503},
		"POST /repos/{owner}/{repo}/actions/runs/{id}/rerun":                {201, 401, 403, 404, 429, 503},
		"POST /repos/{owner}/{repo}/check-runs":                             {201, 401, 403, 404, 422, 429, 503},
		"DELETE /orgs/{owner}/actions/runners/{id}":                         {204, 401, 403, 404, 422, 429, 503},
		"POST /enterprises/{enterprise}/actions/runners/generate-jitconfig": {201, 401, 403, 404, 409, 422, 429, 503},
	} {
		if got := slices.Sorted(maps.Keys(j.seen[route])); !slices.Equal(got, want) {
			t.Errorf("%s was answered with %v, want %v: the test does not reach what it is to judge", route, got, want)
		}
	}
}
