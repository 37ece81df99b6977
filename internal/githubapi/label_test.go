package githubapi_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// A label counts as added where GitHub's answer has it, in whatever case, and nowhere else.
func TestAddLabel(t *testing.T) {
	for _, tt := range []struct {
		name, path, asked string
		code              int
		body              string
		want              error
	}{
		{"Added", "/octo/repo", "POST /api/v3/repos/octo/repo/actions/runners/42/labels", 200, `{"total_count":2,"labels":[{"name":"idle-1"},{"name":"Run-7"}]}`, nil},
		{"Organisation", "/octo", "POST /api/v3/orgs/octo/actions/runners/42/labels", 200, `{"labels":[{"name":"run-7"}]}`, nil},
		{"Enterprise", "/enterprises/octo", "POST /api/v3/enterprises/octo/actions/runners/42/labels", 200, `{"labels":[{"name":"run-7"}]}`, nil},
		{"OthersOnly", "/octo/repo", "", 200, `{"total_count":1,"labels":[{"name":"idle-1"}]}`, githubapi.ErrUnavailable},
		{"Gone", "/octo/repo", "", 404, `{"message":"Not Found"}`, githubapi.ErrGone},
		{"Invalid", "/octo/repo", "", 422, `{"message":"Validation Failed"}`, githubapi.ErrRefused},
		{"Throttled", "/octo/repo", "", 429, `{}`, githubapi.ErrThrottled},
		{"Down", "/octo/repo", "", 503, `{}`, githubapi.ErrUnavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := serve(t, answer(tt.code, tt.body))
			err := client(t, f, tt.path).AddLabel(t.Context(), 42, "run-7")
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("AddLabel() answered with %d %s error = %v, want %v", tt.code, tt.body, err, tt.want)
			}
			if got := f.calls(); len(got) != 1 || tt.asked != "" && got[0] != tt.asked {
				t.Errorf("calls = %v, want %s alone", got, tt.asked)
			}
			if diff := cmp.Diff([]string{"{\"labels\":[\"run-7\"]}\n"}, f.body); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}
