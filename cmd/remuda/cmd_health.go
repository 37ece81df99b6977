package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/httpserver"
)

const healthLong = `Asks the controller of this machine, at http.listen, whether it lives: for the health checks of
containers. With --ready, whether it can do its part: lead, or take over.

It prints "ok" and exits with 0, or prints one word why not and exits with 1, as it does if nobody
answers there.`

// healthTimeout is longer than the answer of a machine that is busy takes, and shorter than a period of probes usually is (10 s).
const healthTimeout = 5 * time.Second

func newHealthCmd(a *app) *cobra.Command {
	var ready bool
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask the controller of this machine whether it lives",
		Long:  healthLong,
		Args:  noArgs,
		RunE: a.configured(nil, func(ctx context.Context, cfg config.Config) error {
			path := httpserver.Healthz
			if ready {
				path = httpserver.Readyz
			}
			return a.health(ctx, cfg.HTTP, path)
		}),
		Example: "  remuda health && remuda health --ready",
	}
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether it is ready, too")
	return exits(cmd, exitTimedOut, exitInterrupted)
}

func (a *app) health(ctx context.Context, c config.HTTP, path string) error {
	if c.Listen == "" {
		return usagef("http.listen: must be set for this command, got \"\": the controller serves no HTTP")
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return usagef("http.listen: %w", err) // Validate has said so
	}
	if port == "0" {
		return usagef("http.listen: must name a port for this command, got %q: the controller takes a free one, which its log names", c.Listen)
	}
	switch host { // all addresses are none to ask
	case "", "0.0.0.0", "::":
		host = "localhost"
	}
	url := "http://" + net.JoinHostPort(host, port) + path
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return usagef("http.listen: %w", err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy, whatever the environment names
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the controller: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 200)) // one word where it is a controller that listens
	if err != nil {
		return fmt.Errorf("ask the controller: read answer: %w", err)
	}
	word := strings.TrimSpace(string(body))
	if resp.StatusCode != http.StatusOK {
		return errors.New(cmp.Or(word, resp.Status))
	}
	fmt.Fprintln(a.out, word)
	return nil
}
