package githubapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// What a call is counted by names the call, and nothing that there may be any number of.
func TestTold_OfEveryCall(t *testing.T) {
	var got []githubapi.Exchange
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodDelete:
			answer(http.StatusNoContent, "", "X-RateLimit-Limit", "5000", "X-RateLimit-Remaining", "4711", "X-RateLimit-Reset", "1767225600",
				"X-RateLimit-Resource", "core")(w, r)
		case http.MethodPost:
			answer(http.StatusUnauthorized, "{}")(w, r)
		default:
			answer(http.StatusOK, `{"id":7,"status":"queued","run_attempt":1,"head_sha":"x"}`)(w, r)
		}
	})
	c := client(t, f, "/octo/app", func(o *githubapi.Options) { o.Told = func(e githubapi.Exchange) { got = append(got, e) } })
	_ = c.DeleteRunner(t.Context(), 4711) // the answers do not matter
	_, _, _ = c.WorkflowRun(t.Context(), "octo/app", 4712)
	_, _ = c.JITConfig(t.Context(), "i-4713-1", "4713")
	_ = c.CancelRun(t.Context(), "octo/app", 4714)
	f.Close()
	_, _ = c.Runners(t.Context())
	want := []githubapi.Exchange{
		{Route: "/actions/runners/{runner_id}", Status: 204,
			Budget: githubapi.Budget{Name: "core", Limit: 5000, Remaining: 4711, Reset: time.Unix(1767225600, 0)}},
		{Route: "/actions/runs/{run_id}", Status: 200},
		{Route: "/actions/runners/generate-jitconfig", Status: 401},
		{Route: "/actions/runs/{run_id}/cancel", Status: 401},
		{Route: "/actions/runners"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(githubapi.Exchange{}, "Took")); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if slices.ContainsFunc(got, func(e githubapi.Exchange) bool { return e.Took <= 0 || strings.ContainsAny(e.Route, "0123456789") }) {
		t.Errorf("told %+v, want times, and no id in a route", got)
	}
}
