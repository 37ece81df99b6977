package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/store"
)

// ec2Site is an EC2 instance, which finds out by itself who it is. Its store is opened when the agent
// runs: credentials and STS may be late, and nothing may keep the dead-man timer from running.
func ec2Site(ctx context.Context, a *app, cfg config.Config, dir string, log *slog.Logger) (*site, error) {
	u, err := url.Parse(cfg.Fleet)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { // the runner's user has its folders in it
		return nil, fmt.Errorf("folder of the instance: %w", err)
	}
	host, err := ec2machine.Open(ctx, ec2machine.Options{
		Dir: dir, Name: u.Host, Limit: cfg.Limits.Created, Clock: a.clock, Log: log,
	})
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // an agent may end while connect still hangs
	var table store.Table
	connect := func(ctx context.Context) (*store.Store, store.Principal, error) {
		config, err := awscfg.Load(ctx, host.Region)
		if err != nil {
			return nil, "", err
		}
		principal, err := host.Principal(ctx, config)
		if err != nil {
			return nil, "", err
		}
		opened, err := a.openObserved(ctx, cfg, host.ServiceClock, host.Region, log)
		if err != nil {
			return nil, "", err
		}
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil { // nobody waits for it any more
			return nil, "", errors.Join(context.Cause(ctx), opened.Close())
		}
		table = opened
		return store.New(table), store.Principal(principal), nil
	}
	return &site{
		id:      host.InstanceID,
		whole:   environment(a.environ())[rootEnv] == "",
		cache:   filepath.Join(dir, "runners"),
		machine: func(s scrub.Scrubber) agent.Machine { return ec2machine.Machine{Scrubber: s, Host: host} },
		options: func(o *agent.Options) {
			o.Connect, o.TakeOver, o.Offset, o.NoticePoll = connect, host.TakeOver, host.Offset, ec2machine.NoticePoll
		},
		close: func() error {
			mu.Lock()
			defer mu.Unlock()
			if table == nil {
				return nil
			}
			return table.Close()
		},
	}, nil
}

// rootEnv names the folder that the user data took for the disk (fleet/ec2fleet/userdata), and that is scrubbed. Who
// has one shares the computer around it with others.
const rootEnv = "REMUDA_ROOT"

// agentSettings returns what an agent on another machine must know of c, as a configuration file. It
// names no file and no variable that holds a secret, and nothing whose change should cost warm machines.
func agentSettings(c config.Config) ([]byte, error) {
	out, err := yaml.Marshal(struct {
		Name   string        `yaml:"name"`
		Store  string        `yaml:"store"`
		Pool   string        `yaml:"pool"`
		Fleet  string        `yaml:"fleet"`
		GitHub agentGitHub   `yaml:"github"`
		Limits config.Limits `yaml:"limits"`
		Agent  config.Agent  `yaml:"agent"`

		Classes map[string]config.Class `yaml:"classes,omitempty"`
	}{c.Name, c.Store, c.Pool, c.Fleet, agentGitHub{c.GitHub.URL, c.GitHub.APIURL, c.GitHub.Repository, c.GitHub.RunnerGroup}, c.Limits, c.Agent, c.Scrubbed()})
	if err != nil {
		return nil, fmt.Errorf("encode settings of the agent: %w", err)
	}
	return out, nil
}

// agentGitHub is what an agent must know of GitHubConfig.
type agentGitHub struct {
	URL        string `yaml:"url"`
	APIURL     string `yaml:"apiUrl"`
	Repository string `yaml:"repository"`

	RunnerGroup string `yaml:"runnerGroup,omitempty"`
}
