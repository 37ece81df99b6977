package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/config"
)

// On EC2 nobody's jobs are root, with the credentials of their machine's role, because a line is missing:
// neither `remuda init` nor a controller goes on (H42, H43). Who wants it says so, and is told what it means.
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

// root is nobody's own user: neither is it walled off from what the agent itself needs, nor is all that is
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
		c.Classes = map[string]config.Class{"small": {CPU: 1, Mem: 1, Scrub: "full"}}
		if err := c.Validate(); tt.fleet == "ec2://main" && (err == nil) != (tt.user == "ci") {
			t.Errorf("Validate() of scrub full with %q = %v", tt.user, err)
		}
	}
}
