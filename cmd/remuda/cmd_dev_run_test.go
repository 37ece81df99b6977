package main

import (
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubsim"
)

const runFile = `id: 4711
headSha: abc
jobs:
  - {key: plan, hosted: true, held: true}
  - {key: test, needs: [plan], matrix: [1, b]}
  - {key: publish, hosted: true, needs: [test], approval: true}
`

// devRun returns a user of a simulated GitHub, and that.
func devRun(t *testing.T) (*cli, *githubsim.Hub) {
	t.Helper()
	hub := githubsim.New(githubsim.Options{Clock: clock.RealClock{}})
	srv := httptest.NewServer(githubsim.Handler(hub, simToken))
	t.Cleanup(srv.Close)
	c := newCLI(nil)
	c.env = []string{"REMUDA_GITHUB_URL=" + srv.URL + "/octo/remuda", "REMUDA_GITHUB_API_URL=" + srv.URL, "REMUDA_GITHUB_TOKEN_ENV=" + simTokenEnv}
	c.files["run.yaml"] = runFile
	return c, hub
}

// spaced is text with each run of blanks as one.
func spaced(text string) string { return regexp.MustCompile(` +`).ReplaceAllString(text, " ") }

func TestDevRun_FromStartToReRun(t *testing.T) {
	c, hub := devRun(t)
	c.ends(t, exitDone, "dev", "run", "start", "--file", "run.yaml")
	if got, want := spaced(c.out.String()), "run 4711 attempt 1 in_progress\nJOB LABEL STATE RESULT INSTANCE\nplan ubuntu-latest in_progress - -\n"; got != want {
		t.Errorf("output = %q, want %q", got, want)
	}
	if r, err := hub.Workflows().Run(4711); err != nil || r.Repository != "octo/remuda" || r.HeadSHA != "abc" {
		t.Errorf("run = %+v, %v, want it in the repository of github.url", r, err)
	}
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"finish", "--job", "plan"}, []string{"attempt 1 queued", "plan ubuntu-latest completed success -", "test (1) 4711 queued - -", "test (b) 4711 queued"}},
		{[]string{"cancel"}, []string{"attempt 1 cancelled", "test (1) 4711 completed cancelled", "publish ubuntu-latest completed skipped"}},
		{[]string{"rerun", "--failed"}, []string{"attempt 2 queued", "plan ubuntu-latest completed success", "test (b) 4711 queued"}},
		{[]string{"show"}, []string{"attempt 2 queued"}},
		{[]string{"cancel"}, []string{"attempt 2 cancelled"}},
		{[]string{"show", "--wait"}, []string{"attempt 2 cancelled"}},
		{[]string{"rerun", "--job", "test (b)"}, []string{"attempt 3 queued", "test (1) 4711 completed cancelled", "test (b) 4711 queued"}},
		{[]string{"cancel"}, []string{"attempt 3 cancelled"}},
		{[]string{"rerun"}, []string{"attempt 4 in_progress", "plan ubuntu-latest in_progress"}},
	} {
		c.ends(t, exitDone, append([]string{"dev", "run", tt.args[0], "--id", "4711"}, tt.args[1:]...)...)
		contains(t, spaced(c.out.String()), tt.want...)
	}
	c.ends(t, exitDone, "dev", "run", "list")
	if got, want := spaced(c.out.String()), "RUN REPOSITORY ATTEMPT STATE RESULT JOBS\n4711 octo/remuda 4 in_progress - 1\n"; got != want {
		t.Errorf("list = %q, want %q", got, want)
	}
	c.ends(t, exitDone, "dev", "run", "show", "--id", "4711", "-o", "json")
	var r githubsim.RunRecord
	if err := json.Unmarshal(c.out.Bytes(), &r); err != nil || r.Attempt != 4 || r.Jobs[0].Key != "plan" {
		t.Errorf("show -o json = %s, %v", c.out.String(), err)
	}
}

func TestDevRun_Approve(t *testing.T) {
	c, _ := devRun(t)
	c.files["run.yaml"] = "id: 1\njobs: [{key: deploy, hosted: true, held: true, approval: true}]"
	c.ends(t, exitDone, "dev", "run", "start", "--file", "run.yaml")
	contains(t, c.out.String(), "attempt 1 waiting")
	c.ends(t, exitDone, "dev", "run", "approve", "--id", "1")
	contains(t, c.out.String(), "attempt 1 in_progress")
	c.ends(t, exitDone, "dev", "run", "finish", "--id", "1", "--job", "deploy", "--conclusion", "failure")
	contains(t, c.out.String(), "attempt 1 failure")
}

func TestDevRun_Refuses(t *testing.T) {
	c, hub := devRun(t)
	c.ends(t, exitDone, "dev", "run", "start", "--file", "run.yaml")
	c.files["bad.yaml"] = "jobs: [{key: a, need: [b]}]"
	c.files["need.yaml"] = "jobs: [{key: a, needs: [b]}]"
	c.files["empty.yaml"] = ""
	for _, tt := range []struct {
		code int
		args string
		want string
	}{
		{exitUsage, "start", "--file: is required"},
		{exitUsage, "start --file none.yaml", "--file: none.yaml: "},
		{exitUsage, "start --file bad.yaml", "field need not found"},
		{exitUsage, "start --file need.yaml", `job "a": needs: must be keys of jobs before it, got "b"`},
		{exitUsage, "start --file empty.yaml", "jobs: must be 1 to 1000"},
		{exitUsage, "start --file run.yaml -o xml", "--output"},
		{exitUsage, "show", "--id: must be at least 1, got 0"},
		{exitUsage, "rerun --id 4711 --failed --job plan", "--failed, --job: must be at most one"},
		{exitUsage, "rerun --id 4711 --job plans", `--job: must be one of plan, got "plans"`},
		{exitUsage, "finish --id 4711", "--job: is required"},
		{exitFailure, "start --file run.yaml", "id: 4711 is taken"},
		{exitFailure, "rerun --id 4711", "This workflow is already running"},
		{exitFailure, "approve --id 4711", "no job of it waits for that"},
		{exitUsage, "finish --id 4711 --job plan --conclusion well", `--conclusion: must be one of [success failure cancelled], got "well"`},
		{exitFailure, "show --id 4712", "no such run"},
	} {
		c.ends(t, tt.code, append([]string{"dev", "run"}, strings.Fields(tt.args)...)...)
		contains(t, c.err.String(), tt.want)
	}
	if got := hub.Workflows().List(); len(got) != 1 || got[0].Attempt != 1 {
		t.Errorf("runs = %+v, want the first alone as it was", got)
	}
	c.env = nil
	c.ends(t, exitUsage, "dev", "run", "list")
	contains(t, c.err.String(), "github.url: must be a simulated GitHub's")
}
