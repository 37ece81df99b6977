package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/internal/config"
)

// An agent on an instance of another installation does nothing, and leaves the end that its boot scheduled.
func TestAgent_ForeignInstance_Refused(t *testing.T) {
	metadata, commands := agenttest.NewMetadata(t), agenttest.NewCommands(t)
	metadata.Set("tags/instance/remuda-name", "other")
	c := newCLI(nil)
	code := c.run(t.Context(), "agent", "--dir", filepath.Join(t.TempDir(), "state"), "--fleet", "ec2://main", "--store", "sqlite:///none.db")
	if want := `tag remuda-name is "other", want "main"`; code != exitFailure || !strings.Contains(c.err.String(), want) {
		t.Errorf("exit code %d, stderr %q, want %d and …%s…", code, c.err.String(), exitFailure, want)
	}
	if calls := commands.Calls(); calls != "" {
		t.Errorf("calls = %q, want none", calls)
	}
}

// What user data carries is a configuration with everything an agent goes by, and names no secret.
func TestAgentSettings_Complete(t *testing.T) {
	c := newCLI(nil)
	newRootCmd(c.app)
	cfg := config.Default()
	cfg.Name, cfg.GitHub.URL, cfg.GitHub.Repository, cfg.GitHub.RunnerGroup = "main", "https://github.com/octo", "octo/repo", "linux"
	cfg.Store, cfg.Pool, cfg.Fleet = "dynamodb://main?region=eu-west-1", "sqs://main?region=eu-west-1", "ec2://main?region=eu-west-1"
	cfg.GitHub.TokenFile, cfg.GitHub.TokenEnv = "/etc/remuda/token", "MY_TOKEN"
	cfg.Limits.Created, cfg.Agent.Script, cfg.Agent.IdlePoll = 9*time.Minute, "/etc/remuda/prepare", time.Second
	cfg.Agent.RunnerUser, cfg.Classes = "ci", map[string]config.Class{"small": {CPU: 2, Mem: 4096, Scrub: "full"}, "large": {CPU: 4, Mem: 8192}}
	text, err := config.AgentSettings(cfg, config.ArchX86)
	if err != nil {
		t.Fatal(err)
	}
	c.files["agent.yaml"], c.global.config = string(text), "agent.yaml"
	got, err := c.loadConfig() // valid without what only the controller knows
	if err != nil {
		t.Fatalf("loadConfig = %v:\n%s", err, text)
	}
	want := cfg
	want.GitHub.TokenFile, want.GitHub.TokenEnv = "", config.Default().GitHub.TokenEnv
	want.Classes = map[string]config.Class{"small": cfg.Classes["small"]} // another size of large makes no machine outdated
	if diff := gocmp.Diff(want, got.Config); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if strings.Contains(strings.ToLower(string(text)), "token") {
		t.Errorf("settings name a token:\n%s", text)
	}
	var keys map[string]any
	if err := yaml.Unmarshal(text, &keys); err != nil || keys["process"] != nil {
		t.Errorf("settings = %v, %v, want nothing of other fleets", keys, err)
	}
}
