package githubapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubapi"
)

// tagged is GitHub with one job, whose state and the token make the tag.
type tagged struct{ token, state string }

func (g *tagged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tag := fmt.Sprintf(`W/"%s %s %s"`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), g.state, r.URL.Query().Get("page"))
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified) // as GitHub does: without a body, and without a link
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/jobs") && r.URL.Query().Get("page") == "1":
		nextPage(w, r, 2)
		answer(200, fmt.Sprintf(`{"jobs":[{"id":1,"status":%q,"labels":["4711"]}]}`, g.state))(w, r)
	case strings.HasSuffix(r.URL.Path, "/jobs"):
		answer(200, fmt.Sprintf(`{"jobs":[{"id":2,"status":%q,"labels":["4711"]}]}`, g.state))(w, r)
	default:
		answer(200, fmt.Sprintf(`{"id":4711,"run_attempt":1,"status":%q}`, g.state))(w, r)
	}
}

func (g *tagged) with(o *githubapi.Options) {
	o.Token = func(context.Context) (string, error) { return g.token, nil }
}

func TestConditional_304IsWhatWasKnown_ToTheLastPage(t *testing.T) {
	g := &tagged{token: "ghs_1", state: "queued"}
	f := serve(t, g.ServeHTTP)
	c := client(t, f, "/octo", g.with)
	for i, step := range []struct {
		name   string
		change func()
		tags   []string // of both pages and the run
	}{
		{"First", func() {}, []string{"", "", ""}},
		{"Unchanged", func() {}, []string{`W/"ghs_1 queued 1"`, `W/"ghs_1 queued 2"`, `W/"ghs_1 queued "`}},
		{"StillUnchanged", func() {}, []string{`W/"ghs_1 queued 1"`, `W/"ghs_1 queued 2"`, `W/"ghs_1 queued "`}},
		{"Changed", func() { g.state = "in_progress" }, []string{`W/"ghs_1 queued 1"`, `W/"ghs_1 queued 2"`, `W/"ghs_1 queued "`}},
		{"AnotherToken", func() { g.token, g.state = "ghs_2", "completed" },
			[]string{`W/"ghs_1 in_progress 1"`, `W/"ghs_1 in_progress 2"`, `W/"ghs_1 in_progress "`}},
		{"Afterwards", func() {}, []string{`W/"ghs_2 completed 1"`, `W/"ghs_2 completed 2"`, `W/"ghs_2 completed "`}},
	} {
		step.change()
		jobs, err := c.WorkflowJobs(t.Context(), repo, 4711, 1)
		want := []githubapi.WorkflowJob{{ID: 1, Status: g.state, Labels: []string{"4711"}}, {ID: 2, Status: g.state, Labels: []string{"4711"}}}
		if diff := cmp.Diff(want, jobs); err != nil || diff != "" {
			t.Errorf("%s: WorkflowJobs() error = %v, diff (-want +got):\n%s", step.name, err, diff)
		}
		if run, ok, err := c.WorkflowRun(t.Context(), repo, 4711); err != nil || !ok || run.Status != g.state {
			t.Errorf("%s: WorkflowRun() = %+v, %v, %v, want it %s", step.name, run, ok, err, g.state)
		}
		if diff := cmp.Diff(step.tags, f.tags[3*i:]); diff != "" {
			t.Errorf("%s: If-None-Match (-want +got):\n%s", step.name, diff)
		}
		if len(jobs) > 0 {
			jobs[0].Status, jobs[0].Labels[0] = "spoilt", "spoilt" // callers own what they get
		}
	}
}

func TestConditional_WhatHasNoTagIsAskedForInFull(t *testing.T) {
	tag := `"x"`
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if tag != "" {
			w.Header().Set("ETag", tag)
		}
		answer(200, `{"id":4711,"run_attempt":1,"status":"queued"}`)(w, r)
	})
	c := client(t, f, "/octo")
	for range 3 {
		if _, _, err := c.WorkflowRun(t.Context(), repo, 4711); err != nil {
			t.Fatalf("WorkflowRun() error = %v", err)
		}
		tag = ""
	}
	if diff := cmp.Diff([]string{"", `"x"`, ""}, f.tags); diff != "" {
		t.Errorf("If-None-Match (-want +got):\n%s", diff)
	}
}

// What is known of one repository is not said of another.
func TestConditional_OfTheSameRepository(t *testing.T) {
	g := &tagged{token: "ghs_1", state: "queued"}
	f := serve(t, g.ServeHTTP)
	c := client(t, f, "/octo", g.with)
	for _, of := range []string{repo, "octo/other", repo} {
		if _, _, err := c.WorkflowRun(t.Context(), of, 4711); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"", "", `W/"ghs_1 queued "`}, f.tags); diff != "" {
		t.Errorf("If-None-Match (-want +got):\n%s", diff)
	}
}

// A refusal forgets nothing: a tag is worth as much after it.
func TestConditional_AnErrorIsNotKept(t *testing.T) {
	g := &tagged{token: "ghs_1", state: "queued"}
	refuse := false
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if refuse {
			answer(403, `{"message":"no"}`, "ETag", `"of a refusal"`)(w, r)
			return
		}
		g.ServeHTTP(w, r)
	})
	c := client(t, f, "/octo", g.with)
	for _, refuse = range []bool{false, true, false} {
		if _, _, err := c.WorkflowRun(t.Context(), repo, 4711); (err != nil) != refuse {
			t.Errorf("WorkflowRun() error = %v, want one: %v", err, refuse)
		}
	}
	if got := f.tags[2]; got != `W/"ghs_1 queued "` {
		t.Errorf("If-None-Match after a refusal = %q, want that of the answer before", got)
	}
}

func TestConditional_AnUnasked304IsNoAnswer(t *testing.T) {
	f := serve(t, answer(304, ""))
	c := client(t, f, "/octo")
	_, err := c.ActiveRuns(t.Context(), repo)
	checkKind(t, err, githubapi.ErrUnavailable)
	_, err = c.Runners(t.Context())
	checkKind(t, err, githubapi.ErrUnavailable)
}

// Answers are kept while they are asked for, for an hour after that, and 4,096 at most.
func TestConditional_WhatIsKeptIsBounded(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var tag string
		c := offline(t, func(r *http.Request) (*http.Response, error) {
			tag = r.Header.Get("If-None-Match")
			id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
			code, body := 200, fmt.Sprintf(`{"id":%s,"run_attempt":1,"status":"queued"}`, id)
			if tag != "" {
				code, body = 304, ""
			}
			return reply(code, body, map[string]string{"ETag": `"` + id + `"`, "X-RateLimit-Resource": "core", "X-RateLimit-Limit": "1000000"}), nil
		}, 1500, share(1))
		known := func(id int) bool {
			t.Helper()
			time.Sleep(time.Millisecond) // so that one of them was used longest ago
			for {
				_, _, err := c.WorkflowRun(t.Context(), repo, int64(id))
				if at, ok := githubapi.RetryAt(err); ok {
					time.Sleep(time.Until(at))
					continue
				}
				if err != nil {
					t.Fatalf("WorkflowRun(%d) error = %v", id, err)
				}
				return tag == fmt.Sprintf(`"%d"`, id)
			}
		}
		for id := 1; id <= 4096; id++ {
			known(id)
		}
		if !known(1) {
			t.Error("the first of 4,096 is not kept")
		}
		known(4097)
		if !known(1) || !known(4097) || known(2) {
			t.Error("of 4,097 the one that nobody asked for longest is to be dropped, and no other")
		}
		time.Sleep(time.Hour - time.Millisecond)
		if !known(1) {
			t.Error("an answer is not kept for an hour")
		}
		known(5000) // drops what is an hour old
		if known(4097) {
			t.Error("an answer that nobody asked for is kept for more than an hour")
		}
	})
}

// A repository that may not be seen leaves an App its token: with another one every tag would be worthless.
func TestApp_ARepositoryThatIsRefusedLeavesTheToken(t *testing.T) {
	code, issued := 403, 0
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/access_tokens"):
			issued++
			answer(201, installation(fmt.Sprintf("ghs_%d", issued), time.Now().Add(time.Hour)))(w, r)
		default:
			answer(code, `{"message":"Resource not accessible by integration"}`)(w, r)
		}
	})
	c := client(t, f, "/octo", asApp(githubapi.App{ID: 5, InstallationID: 7, Key: appKey}))
	// A token that is refused as such is replaced: once between both calls, and after the second.
	for _, step := range []struct{ code, issued int }{{403, 1}, {403, 1}, {401, 2}, {403, 3}, {403, 3}} {
		code = step.code
		_, err := c.ActiveRuns(t.Context(), repo)
		checkKind(t, err, githubapi.ErrRefused)
		checkKind(t, c.RerunFailedJobs(t.Context(), repo, 1), githubapi.ErrRefused)
		if issued != step.issued {
			t.Errorf("after %d %d tokens were made, want %d", step.code, issued, step.issued)
		}
	}
}

// A question of several calls that is put off for want of room goes on where it stopped: were it begun anew each time, it would never
// come to its end where each of its answers is new.
func TestActiveRuns_PutOff_GoesOnWhereItStopped(t *testing.T) {
	version := 0
	f := serve(t, func(w http.ResponseWriter, r *http.Request) {
		version++ // something has always changed
		answer(200, fmt.Sprintf(`{"workflow_runs":[{"id":%d,"run_attempt":1,"status":%q}]}`, version, r.URL.Query().Get("status")), "ETag", fmt.Sprint(version))(w, r)
	})
	clk := fakeClock()
	c := client(t, f, "/octo", at(clk), share(0.003)) // 15 an hour, one at once
	var got []githubapi.WorkflowRun
	for tries := 0; got == nil; tries++ {
		runs, err := c.ActiveRuns(t.Context(), repo)
		next, throttled := githubapi.RetryAt(err)
		switch {
		case err == nil:
			got = runs
		case !throttled || tries > 3:
			t.Fatalf("ActiveRuns() error = %v at try %d, want one that says when to come back", err, tries)
		default:
			clk.SetTime(next)
		}
	}
	if len(f.calls()) != 2 || len(got) != 2 || got[0].ID != 1 || got[1].ID != 2 {
		t.Errorf("ActiveRuns() = %+v after %d calls, want the answers of two", got, len(f.calls()))
	}
	clk.Step(time.Hour)
	if _, err := c.ActiveRuns(t.Context(), repo); len(f.calls()) != 3 {
		t.Errorf("asked again: %d calls, %v; want a third, since the first question was answered", len(f.calls()), err)
	}
}
