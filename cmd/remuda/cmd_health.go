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
	"github.com/remuda-run/remuda/store"
)

const healthLong = `Asks the controller of this machine, at http.listen, whether it lives: for the health checks of
containers. With --ready, whether it can do its part: lead, or take over.

It prints "ok" and exits with 0, or prints one word why not and exits with 1, as it does if nobody
answers there. A changed configuration that is refused is printed after "ok", since a controller that
works by the one before need not be started anew.`

// healthTimeout is longer than the answer of a machine that is busy takes, and shorter than a period of probes usually is (10 s).
const healthTimeout = 5 * time.Second

func newHealthCmd(a *app) *cobra.Command {
	var ready bool
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask the controller of this machine whether it lives",
		Long:  healthLong,
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := healthConfig(a)
			if err != nil {
				return err
			}
			path := httpserver.Healthz
			if ready {
				path = httpserver.Readyz
			}
			h, err := newHealthClient(c)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), healthTimeout)
			defer cancel()
			return a.health(ctx, c, h, path)
		},
		Example: "  remuda health && remuda health --ready",
	}
	cmd.Flags().BoolVar(&ready, "ready", false, "ask whether it is ready, too")
	return exits(cmd, exitTimedOut, exitInterrupted)
}

// healthConfig returns where the controller is asked. A file that is wrong, which a controller at work refuses, must not let
// those who watch it end it: then what can be read of the file counts, and what else says it.
func healthConfig(a *app) (config.HTTP, error) {
	l, err := a.loadConfig()
	if err == nil || l.File == "" {
		return l.HTTP, err
	}
	flags, _ := a.global.settings() // of which loadConfig has spoken
	env := environment(a.environ())
	delete(env, config.EnvFile)
	rest, wrong := config.Read(config.Source{Env: env, Flags: flags})
	if wrong != nil {
		return l.HTTP, err
	}
	fmt.Fprintf(a.err, "remuda: %v\n", err)
	of := func(key string) bool { return l.Origin(key).Kind == "file" && rest.Origin(key).Kind == "default" }
	if of("http.listen") {
		rest.HTTP.Listen = l.HTTP.Listen
	}
	if of("http.tokenFile") {
		rest.HTTP.TokenFile = l.HTTP.TokenFile
	}
	return rest.HTTP, nil
}

// healthClient asks the controller of this machine.
type healthClient struct{ base string }

func newHealthClient(c config.HTTP) (healthClient, error) {
	if c.Listen == "" {
		return healthClient{}, usagef("http.listen: must be set for this command, got \"\": the controller serves no HTTP")
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return healthClient{}, usagef("http.listen: %w", err) // Validate has said so
	}
	if port == "0" {
		return healthClient{}, usagef("http.listen: must name a port for this command, got %q: the controller takes a free one, which its log names", c.Listen)
	}
	switch host { // all addresses are none to ask
	case "", "0.0.0.0", "::":
		host = "localhost"
	}
	return healthClient{"http://" + net.JoinHostPort(host, port)}, nil
}

// get returns status and content of a path. token is shown unless it is "".
func (h healthClient) get(ctx context.Context, path, token string) (status int, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.base+path, http.NoBody)
	if err != nil {
		return 0, "", usagef("http.listen: %w", err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy, whatever the environment names
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", fmt.Errorf("ask the controller: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 2*store.MaxMessage)) // one word, or a refusal, where it is a controller that listens
	if err != nil {
		return 0, "", fmt.Errorf("ask the controller: read answer: %w", err)
	}
	return resp.StatusCode, strings.TrimSpace(string(body)), nil
}

func (a *app) health(ctx context.Context, c config.HTTP, h healthClient, path string) error {
	status, word, err := h.get(ctx, path, "")
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return errors.New(cmp.Or(word, http.StatusText(status)))
	}
	fmt.Fprintln(a.out, word)
	token := ""
	if c.TokenFile != "" {
		token, err = a.httpToken(c)()
	}
	refused := ""
	if err == nil {
		refused, err = h.refused(ctx, token)
	}
	if err != nil { // which says nothing of its health
		fmt.Fprintf(a.err, "remuda: whether its configuration is in order is not known: %v\n", err)
	}
	if refused != "" {
		fmt.Fprintln(a.out, printable(refused))
	}
	return nil
}

// refused returns what is wrong with the controller's changed configuration, "" if nothing is.
func (h healthClient) refused(ctx context.Context, token string) (string, error) {
	status, text, err := h.get(ctx, refusedPath, token)
	switch {
	case err != nil || status == http.StatusNotFound: // an earlier version
		return "", err
	case status != http.StatusOK && status != http.StatusNoContent:
		return "", errors.New(cmp.Or(text, http.StatusText(status)))
	}
	return text, nil
}
