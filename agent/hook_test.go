package agent_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/store"
)

// S15: a job runs only if it belongs to the run, and the repository, that the machine works for.
func TestJobStarted_S15(t *testing.T) {
	for _, tt := range []struct {
		name               string
		work, repository   string // the machine's
		run, jobRepository string
		ok                 bool
	}{
		{"SameRun", "77", "octo/repo", "77", "octo/repo", true},
		{"SecondRequestOfTheRun", "77-b", "octo/repo", "77", "octo/repo", true},
		{"OtherRun", "77", "octo/repo", "78", "octo/repo", false},
		{"PrefixOfARun", "77", "octo/repo", "7", "octo/repo", false},
		{"LongerRun", "77", "octo/repo", "777", "octo/repo", false},
		{"OtherRequestAsRun", "77-b", "octo/repo", "77-c", "octo/repo", false},
		{"NoRun", "", "octo/repo", "77", "octo/repo", false},
		{"JobWithoutRun", "77", "octo/repo", "", "octo/repo", false},
		{"OtherRepository", "77", "octo/repo", "77", "evil/repo", false},
		{"NoRepository", "77", "octo/repo", "77", "", false},
		{"CaseOfRepository", "77", "Octo/Repo", "77", "octo/repo", true},
		{"Organisation", "77", "octo", "77", "octo/any", true},
		{"OtherOrganisation", "77", "octo", "77", "octopus/any", false},
		{"NotChecked", "77", "", "77", "any/thing", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			state := `{"work": {"runId": "` + tt.work + `"}, "repository": "` + tt.repository + `"}`
			if err := os.WriteFile(filepath.Join(dir, "agent-state.json"), []byte(state), 0o644); err != nil {
				t.Fatal(err)
			}
			err := agent.JobStarted(dir, []string{"GITHUB_RUN_ID=1", "GITHUB_RUN_ID=" + tt.run, "GITHUB_REPOSITORY=" + tt.jobRepository})
			if tt.ok != (err == nil) || !tt.ok && !errors.Is(err, agent.ErrForeignJob) {
				t.Errorf("JobStarted = %v, want ok %t", err, tt.ok)
			}
		})
	}
}

// S15: without a readable state nothing may run.
func TestJobStarted_NoState_S15(t *testing.T) {
	if err := agent.JobStarted(t.TempDir(), []string{"GITHUB_RUN_ID=77"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("JobStarted without a state = %v, want fs.ErrNotExist", err)
	}
}

// S15: the hook sees the run whose listener is on the machine, from before it can take a job until it
// has ended; while no one owns the machine, no job passes.
func TestJobStarted_FollowsTheAgent_S15_S86(t *testing.T) {
	inBubble(t, func(w *world) {
		w.options.Repository = "octo/repo"
		allowed := func(run string) bool {
			return agent.JobStarted(w.options.Dir, []string{"GITHUB_RUN_ID=" + run, "GITHUB_REPOSITORY=octo/repo"}) == nil
		}
		w.runner.OnOnline = func(_, label string) {
			if !allowed(label) || allowed("x") {
				t.Errorf("online for %s: its job is allowed %t, another's %t; want true, false", label, allowed(label), allowed("x"))
			}
		}
		l := w.online(store.JIT)
		l.StartJob()
		w.release(store.ReleaseDrain)
		if !allowed("a") || allowed("b") {
			t.Error("while the last job of run a drains, the hook does not stand for run a")
		}
		l.FinishJob()
		w.waitFor(store.RemoveOK)
		if allowed("a") || allowed("b") {
			t.Error("a job passes on a machine that belongs to no one")
		}
		w.claim("b", store.JIT)
		w.waitFor(store.RegOK)
		if allowed("a") || !allowed("b") {
			t.Error("the hook does not stand for run b")
		}
	})
}

// The hook is a program that calls ours, whatever the folder is named.
func TestWriteHook_Runs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `it's a "$folder"`)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "program")
	agenttest.Write(t, exe, "#!/bin/sh\nfor a; do echo \"[$a]\"; done\n")
	if err := agent.WriteHook(dir, exe, ""); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(dir, agent.HookFile)).CombinedOutput()
	want := "[agent-hook]\n[job-started]\n[--dir]\n[" + dir + "]\n"
	if err != nil || string(out) != want {
		t.Errorf("hook ran %q, %v; want %q", out, err, want)
	}
	if err := agent.WriteHook(filepath.Join(dir, "none"), exe, ""); err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("WriteHook into a folder that is not there = %v", err)
	}
}
