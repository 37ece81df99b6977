package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/store"
)

// On EC2 no jobs are root, with the credentials of their machine's role, because a line is missing:
// neither `remuda init` nor a controller goes on (H42, H43). Who wants it says so, and the log says what it means.
func TestEC2_JobsAreRootOnlyOnDemand_H42_H43(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": filepath.Join(dir, "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "none"), "AWS_PROFILE": "",
	} {
		t.Setenv(name, value)
	}
	store := []string{"--store", "sqlite://" + filepath.Join(dir, "remuda.db"), "--fleet", "ec2://main?region=eu-west-1"}
	for _, command := range []string{"init", "controller"} {
		for user, want := range map[string]string{
			"": `agent.runnerUser: must be a user of the machines for runner and jobs, or root if jobs may be root`,
			// What is missing next is what machines are made of.
			config.RootUser: "section ec2 of the configuration", "ci": "section ec2 of the configuration",
		} {
			c := newCLI(nil)
			c.env = []string{"REMUDA_GITHUB_TOKEN=ghs_0", "REMUDA_GITHUB_URL=https://github.com/owner/name", "REMUDA_AGENT_RUNNER_USER=" + user}
			code := c.run(t.Context(), append([]string{command}, store...)...)
			if got := c.err.String(); code != exitUsage || !strings.Contains(got, want) || strings.Contains(got, jobsAreRoot) != (user == config.RootUser) {
				t.Errorf("remuda %s, agent.runnerUser %q: exit code %d, stderr %q, want %d and …%s…", command, user, code, got, exitUsage, want)
			}
		}
	}
}

// root is no user of jobs alone: neither is it walled off from what the agent itself needs, nor is all that is
// root's removed between two runs.
func TestConfig_JobsUser(t *testing.T) {
	for _, tt := range []struct{ fleet, user, want string }{
		{"ec2://main", "root", ""}, {"ec2://main", "ci", "ci"}, {"process:///x", "ci", "ci"}, {"process:///x", "", ""},
		{"process:///x", "root", "root"}, // which agents refuse
	} {
		c := config.Default()
		c.Fleet, c.Agent.RunnerUser = tt.fleet, tt.user
		if got := c.JobsUser(); got != tt.want {
			t.Errorf("jobsUser() with %s and %q = %q, want %q", tt.fleet, tt.user, got, tt.want)
		}
		c.Classes = map[string]config.Class{"small": {CPU: 1, Mem: 512, Scrub: "full"}}
		if err := c.Validate(); tt.fleet == "ec2://main" && (err == nil) != (tt.user == "ci") {
			t.Errorf("Validate() of scrub full with %q = %v", tt.user, err)
		}
	}
}

// H52: each answer of the store shows its clock.
func TestOpenObserved_StoreTellsTheTime_H52(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Header().Set("X-Amz-Crc32", "2745614147") // of what follows
		_, _ = fmt.Fprint(w, "{}")
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", s.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
	c, cfg := newCLI(nil), config.Default()
	cfg.Store = "dynamodb://remuda"
	service := ec2machine.NewServiceClock(c.clock)
	table, err := c.openObserved(t.Context(), cfg, service, "eu-west-1", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if _, err := store.New(table).Instance(t.Context(), store.Consistent, "AROAEXAMPLE:i-0abc"); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("Instance = %v, want store.ErrNotFound", err)
	}
	if off := service.Offset() - time.Hour; off.Abs() > 10*time.Second {
		t.Errorf("Offset = %s, want an hour", service.Offset())
	}
}
