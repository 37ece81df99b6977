package githubsim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/githubsim"
)

func TestREST_Shapes(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	const base = "/api/v3/repos/o/r/actions/runners"
	for _, missing := range []string{"name", "runner_group_id", "labels"} {
		q := map[string]any{"name": "n", "runner_group_id": 1, "labels": []string{"a"}}
		delete(q, missing)
		s.answers(t, "POST", base+"/generate-jitconfig", q, 422)
	}
	s.answers(t, "POST", base+"/generate-jitconfig", "no object", 422)
	for i := range 5 {
		q := map[string]any{"name": fmt.Sprintf("n-%d", i), "runner_group_id": 1, "labels": []string{"a"}}
		s.answers(t, "POST", base+"/generate-jitconfig", q, 201)
	}
	type list struct {
		Total   int `json:"total_count"`
		Runners []struct {
			Name   string `json:"name"`
			Status string `json:"status"`
		} `json:"runners"`
	}
	for _, tt := range []struct {
		query string
		names []string
		next  string
	}{
		{"?per_page=2", []string{"n-0", "n-1"}, "page=2&per_page=2"},
		{"?per_page=2&page=2", []string{"n-2", "n-3"}, "page=3&per_page=2"},
		{"?per_page=2&page=3", []string{"n-4"}, ""},
		{"?per_page=2&page=4", nil, ""},
		{"?page=9223372036854775807", nil, ""},
		{"?per_page=0&page=-1", []string{"n-0", "n-1", "n-2", "n-3", "n-4"}, ""},
		{"?name=n-3", []string{"n-3"}, ""},
	} {
		var got list
		resp := s.do(t, "GET", base+tt.query, nil, &got)
		var names []string
		for _, r := range got.Runners {
			names = append(names, r.Name)
		}
		if !cmp.Equal(names, tt.names) || resp.StatusCode != 200 {
			t.Errorf("GET runners%s = %d %v, want %v", tt.query, resp.StatusCode, names, tt.names)
		}
		want := ""
		if tt.next != "" {
			want = fmt.Sprintf(`<%s%s?%s>; rel="next"`, s.Server.URL, base, tt.next)
		}
		if link := resp.Header.Get("Link"); link != want {
			t.Errorf("GET runners%s: Link = %s, want %s", tt.query, link, want)
		}
	}
	var one struct {
		ID     int64  `json:"id"`
		Status string `json:"status"`
		OS     string `json:"os"`
		Labels []struct{ Name, Type string }
	}
	if resp := s.do(t, "GET", base+"/3", nil, &one); resp.StatusCode != 200 || one.ID != 3 || one.Status != "offline" || one.Labels[0].Name != "a" {
		t.Errorf("GET runner 3 = %d %+v", resp.StatusCode, one)
	}
	for _, tt := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/99", 404}, {"GET", "/x", 404}, {"DELETE", "/99", 404}, {"DELETE", "/x", 404},
		{"DELETE", "/3", 204}, {"DELETE", "/3", 404}, {"GET", "/3", 404}, {"POST", "/remove-token", 201},
	} {
		s.answers(t, tt.method, base+tt.path, nil, tt.want)
	}
}

func TestREST_RateLimitHeaders(t *testing.T) {
	s := newSite(t, githubsim.Options{})
	const path = "/orgs/o/actions/runners/registration-token"
	reset := time.Now().Add(time.Hour)
	s.SetRateLimit(githubsim.ResourceRegistration, githubsim.RateLimit{Limit: 1, Window: time.Hour, Status: 429})
	for _, want := range []int{201, 429} {
		resp := s.do(t, "POST", path, nil, nil)
		h := resp.Header
		if resp.StatusCode != want || h.Get("X-RateLimit-Remaining") != "0" || h.Get("X-RateLimit-Limit") != "1" ||
			h.Get("X-RateLimit-Resource") != "actions_runner_registration" || h.Get("Retry-After") != "" {
			t.Errorf("answer = %d %v, want %d and the spent budget", resp.StatusCode, h, want)
		}
		var at int64
		if _, err := fmt.Sscan(h.Get("X-RateLimit-Reset"), &at); err != nil || at < reset.Unix() || at > reset.Unix()+5 {
			t.Errorf("X-RateLimit-Reset = %s, want about %d", h.Get("X-RateLimit-Reset"), reset.Unix())
		}
	}
	s.SetRateLimit(githubsim.ResourceRegistration, githubsim.RateLimit{Limit: 0, Window: time.Minute, Secondary: true})
	resp := s.do(t, "POST", path, nil, nil)
	if h := resp.Header; resp.StatusCode != 403 || h.Get("X-RateLimit-Remaining") != "" || h.Get("Retry-After") != "60" {
		t.Errorf("secondary limit = %d %v, want 403 and Retry-After 60", resp.StatusCode, h)
	}
	s.answers(t, "GET", "/orgs/o/actions/runners", nil, 200) // another budget
}

func TestControl_JobsAndFaults(t *testing.T) {
	s := newSite(t, githubsim.Options{PollWait: 10 * time.Millisecond})
	var rec githubsim.JobRecord
	j := githubsim.Job{ID: "j", RunID: "7", Label: "a", Seconds: 0.001}
	if resp := s.do(t, "POST", "/_sim/jobs", j, &rec); resp.StatusCode != 201 || rec.State != githubsim.Queued {
		t.Errorf("POST jobs = %d %+v", resp.StatusCode, rec)
	}
	s.answers(t, "POST", "/_sim/jobs", j, 422)
	_, c := jit(t, s.Hub, "i-1-1", "a")
	check(t, s.Attach(t.Context(), c, nil))
	if s.do(t, "GET", "/_sim/jobs/j?wait=1", nil, &rec); rec.Conclusion != githubsim.Success || rec.InstanceID != "i-1" {
		t.Errorf("GET jobs/j = %+v, want success on i-1", rec)
	}
	s.do(t, "POST", "/_sim/jobs", githubsim.Job{ID: "k", Label: "b"}, nil)
	if s.do(t, "POST", "/_sim/jobs/k/cancel", nil, &rec); rec.Conclusion != githubsim.Cancelled {
		t.Errorf("POST jobs/k/cancel = %+v, want cancelled", rec)
	}
	var all []githubsim.JobRecord
	if s.do(t, "GET", "/_sim/jobs", nil, &all); !cmp.Equal(all, s.Jobs()) || len(all) != 2 {
		t.Errorf("GET jobs = %+v", all)
	}
	var regs []githubsim.Registration
	if s.do(t, "GET", "/_sim/registrations", nil, &regs); !cmp.Equal(regs, s.Registrations()) || len(regs) != 1 {
		t.Errorf("GET registrations = %+v", regs)
	}
	calls := map[githubsim.Call]int{}
	if s.do(t, "GET", "/_sim/calls", nil, &calls); calls[githubsim.CallJIT] != 1 {
		t.Errorf("GET calls = %v", calls)
	}
	for _, tt := range []struct {
		method, path string
		body         any
		want         int
	}{
		{"GET", "/_sim/jobs/none", nil, 404},
		{"GET", "/_sim/jobs/none?wait=1", nil, 404},
		{"POST", "/_sim/jobs/none/cancel", nil, 404},
		{"POST", "/_sim/jobs", "x", 422},
		{"PUT", "/_sim/outage", map[string]any{"mode": "odd"}, 422},
		{"PUT", "/_sim/ratelimit/odd", map[string]any{}, 422},
		{"PUT", "/_sim/latency", "x", 422},
		{"PUT", "/_sim/odd", nil, 404},
		{"PUT", "/_sim/latency", map[string]any{"apiSeconds": 0.001}, 204},
		{"PUT", "/_sim/ratelimit/core", map[string]any{"limit": 1, "windowSeconds": 3600}, 204},
		{"GET", "/orgs/o/actions/runners", nil, 200},
		{"GET", "/orgs/o/actions/runners", nil, 403},
		{"PUT", "/_sim/ratelimit/core", map[string]any{}, 204},
		{"PUT", "/_sim/outage", map[string]any{"mode": "fails", "calls": []string{"list-runners"}}, 204},
		{"GET", "/orgs/o/actions/runners", nil, 503},
		{"PUT", "/_sim/outage", map[string]any{}, 204},
		{"GET", "/orgs/o/actions/runners", nil, 200},
	} {
		s.answers(t, tt.method, tt.path, tt.body, tt.want)
	}
}
