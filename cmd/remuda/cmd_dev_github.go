package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/httpserver"
)

// simToken is the credential of the simulated GitHub, which listens on loopback only and guards
// nothing.
const simToken = "simulated"

// simTokenEnv holds it; the verbs that talk to the simulated GitHub read it too.
const simTokenEnv = "REMUDA_SIMULATED_TOKEN"

// simOptions are the flags of a simulated GitHub.
type simOptions struct {
	prefix  string // of their names
	listen  string
	latency time.Duration
	silence time.Duration
}

func (o *simOptions) flags(fs *pflag.FlagSet) {
	fs.StringVar(&o.listen, o.prefix+"listen", "127.0.0.1:0", "loopback `address` of the simulated GitHub")
	fs.DurationVar(&o.latency, o.prefix+"latency", 0, "how long a registration takes at the simulated GitHub; about 2.7s at the real one")
	fs.DurationVar(&o.silence, o.prefix+"silence", githubsim.DefaultSessionTimeout, "after so long the simulated GitHub gives up a runner that died, and its job")
}

func (o *simOptions) validate() error {
	var errs []error
	if o.latency < 0 {
		errs = append(errs, fmt.Errorf("--%slatency: must not be negative, got %s", o.prefix, o.latency))
	}
	if o.silence < minDuration {
		errs = append(errs, fmt.Errorf("--%ssilence: must be at least %s, got %s", o.prefix, minDuration, o.silence))
	}
	return errors.Join(append(errs, loopback("--"+o.prefix+"listen", o.listen))...)
}

// loopback refuses addresses that others could reach.
func loopback(flag, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%s: must be a loopback address with a port, got %q: %w", flag, address, err)
	}
	if !httpserver.Loopback(host) {
		return fmt.Errorf("%s: must be a loopback address such as 127.0.0.1:0, got %q", flag, address)
	}
	return nil
}

// start makes c use a simulated GitHub, and returns what serves it until its context ends.
func (o *simOptions) start(a *app, c *config.Config) (serve func(context.Context) error, err error) {
	ln, err := net.Listen("tcp", o.listen)
	if err != nil {
		return nil, fmt.Errorf("start simulated github: --%slisten: %w", o.prefix, err)
	}
	simulate(c, "http://"+ln.Addr().String())
	hub := githubsim.New(githubsim.Options{
		Clock: a.clock, URL: c.GitHub.URL, Latency: githubsim.Latency{Session: o.latency},
		SessionTimeout: o.silence, OnlineFor: min(o.silence, githubsim.DefaultOnlineFor),
	})
	return func(ctx context.Context) error { return githubsim.Serve(ctx, ln, hub, simToken) }, nil
}

// simulated reports whether dev has to bring GitHub along: no one named a real one. The configuration
// that an earlier dev wrote names its own, which is gone.
func simulated(c config.Config) bool { return c.GitHub.URL == "" || c.GitHub.TokenEnv == simTokenEnv }

// simulate makes c use the simulated GitHub at root.
func simulate(c *config.Config, root string) {
	c.GitHub.URL = root + "/octo/remuda"
	c.GitHub.APIURL = root
	c.GitHub.TokenFile, c.GitHub.TokenEnv = "", simTokenEnv
	c.GitHub.AppID, c.GitHub.AppInstallationID, c.GitHub.AppKeyFile = 0, 0, "" // it knows no Apps
	c.GitHub.RunnerGroup, c.GitHub.RunnerGroupID = "", githubapi.DefaultRunnerGroupID
}

// newDevGitHubCmd serves the simulated GitHub alone, for controllers that come and go.
func newDevGitHubCmd(a *app) *cobra.Command {
	o := &simOptions{}
	cmd := &cobra.Command{
		Use:   "github",
		Short: "Run only the simulated GitHub",
		Long:  "Runs only the simulated GitHub, and prints the settings that make a controller use it.",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return asUsage(err)
			}
			var c config.Config
			serve, err := o.start(a, &c)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "export REMUDA_GITHUB_URL=%s\nexport REMUDA_GITHUB_API_URL=%s\nexport REMUDA_GITHUB_TOKEN_ENV=%s\nexport %s=%s\n",
				c.GitHub.URL, c.GitHub.APIURL, simTokenEnv, simTokenEnv, simToken)
			return serve(cmd.Context())
		},
	}
	o.flags(cmd.Flags())
	return exits(cmd, exitInterrupted)
}
