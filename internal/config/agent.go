package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/internal/machinelog"
)

// AgentSettings returns what an agent on another machine of an architecture must know of c, as a configuration file. It
// names no file and no variable that holds a secret, and nothing whose change should cost warm machines.
func AgentSettings(c Config, arch string) ([]byte, error) {
	c.Agent.RunnerURL, c.Agent.RunnerSHA256 = EveryArch(c.Agent.RunnerURL.For(arch)), EveryArch(c.Agent.RunnerSHA256.For(arch))
	out, err := yaml.Marshal(struct {
		Name   string      `yaml:"name"`
		Store  string      `yaml:"store"`
		Pool   string      `yaml:"pool"`
		Fleet  string      `yaml:"fleet"`
		GitHub agentGitHub `yaml:"github"`
		Limits Limits      `yaml:"limits"`
		Agent  Agent       `yaml:"agent"`
		EC2    agentEC2    `yaml:"ec2,omitempty"`

		Classes map[string]Class `yaml:"classes,omitempty"`
	}{c.Name, c.Store, c.Pool, c.Fleet, agentGitHub{c.GitHub.URL, c.GitHub.APIURL, c.GitHub.Repository, c.GitHub.RunnerGroup}, c.Limits, c.Agent, agentEC2{c.EC2.Bucket}, c.Scrubbed()})
	if err != nil {
		return nil, fmt.Errorf("encode settings of the agent: %w", err)
	}
	return out, nil
}

// Patterns returns the compiled expressions of Mask, which Validate has checked.
func (c Agent) Patterns() machinelog.Patterns {
	p, _ := machinelog.ParsePatterns(c.Mask)
	return p
}

// agentGitHub is what an agent must know of GitHubConfig.
type agentGitHub struct {
	URL        string `yaml:"url"`
	APIURL     string `yaml:"apiUrl"`
	Repository string `yaml:"repository"`

	RunnerGroup string `yaml:"runnerGroup,omitempty"`
}

// agentEC2 is what an agent must know of EC2: where its last output is kept.
type agentEC2 struct {
	Bucket string `yaml:"bucket,omitempty"`
}
