package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/reference"
)

const initAppLong = `Makes a GitHub App for what github.url names, with the permissions that remuda needs and no others (docs/github.md).

It serves a page on this machine, which leads to GitHub and back. Then it stores the App's id and key where --to or
github.secret says: in a file that only its owner may read, or in a secret of Secrets Manager that exists, such as
the stack makes. It waits until the App is installed, and asks for a registration token, which no runner uses, to see
that it serves. The key is never printed. When this is broken off after the App was made, install it by the printed link.`

// initAppOptions are the flags of `remuda init github-app`.
type initAppOptions struct {
	*app
	to               string
	force, noBrowser bool
}

func newInitAppCmd(a *app) *cobra.Command {
	o := &initAppOptions{app: a}
	cmd := &cobra.Command{
		Use:   "github-app",
		Short: "Make a GitHub App by a page of this machine, and store its key",
		Long:  initAppLong,
		Args:  noArgs,
		RunE:  a.configured(o.validate, o.run),
	}
	fs := cmd.Flags()
	fs.StringVar(&o.to, "to", "", "where id and key go: a file, or secretsmanager:NAME; default: github.secret")
	fs.BoolVar(&o.force, "force", false, "replace the credentials that are there")
	fs.BoolVar(&o.noBrowser, "no-browser", false, "open no browser; the address is printed either way")
	return exits(cmd, exitInterrupted)
}

func (o *initAppOptions) validate(c config.Config) error {
	o.to = cmp.Or(o.to, c.GitHub.Secret)
	switch {
	case c.GitHub.URL == "":
		return errors.New(`github.url: must name a repository or an organisation, got ""`)
	case o.to == "":
		return errors.New(`--to: must be a file or secretsmanager:NAME where github.secret is not set, got ""`)
	case strings.HasPrefix(o.to, "ssm:"):
		return fmt.Errorf("--to or github.secret: must be a file or secretsmanager:NAME to be stored in, got %q", o.to)
	case reference.Remote(o.to):
		return nil
	}
	path, err := filepath.Abs(o.to)
	o.to = path
	return err
}

const (
	// appPoll is how often the App's installation is looked for: 1,800 calls of the 5,000 that it has an hour.
	appPoll = 2 * time.Second
	// lastLook is how long the last word waits for the browser, which asks every 2 s.
	lastLook = 5 * time.Second
	// appHeader bounds the reading of a request's header.
	appHeader = 10 * time.Second
)

func (o *initAppOptions) run(ctx context.Context, c config.Config) (err error) {
	target := appTarget{app: o.app, text: o.to, force: o.force}
	if err := target.check(ctx); err != nil {
		return err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve page: %w", err)
	}
	page, err := newAppPage(c.GitHub.URL, ln)
	if err != nil {
		return errors.Join(asUsage(err), ln.Close())
	}
	var failed error // of made, before page.ready
	page.made = func(call context.Context, code string) (githubapi.MadeApp, error) {
		// A browser that hangs up must not break off what can be done only once, nor may an interruption.
		call = context.WithoutCancel(call)
		made, err := githubapi.Convert(call, githubapi.Options{URL: c.GitHub.URL, APIURL: c.GitHub.APIURL}, code)
		if err != nil && (errors.Is(err, githubapi.ErrCode) || errors.Is(err, githubapi.ErrUnavailable)) {
			fmt.Fprintf(o.err, "remuda: %v\n", err)
			return made, err
		}
		if err == nil {
			var where string
			if where, err = target.store(call, made); where != "" {
				fmt.Fprintf(o.out, "The %s is made; its id and key are in %s.\nInstall it for %s: %s\n", made, where, c.GitHub.URL, made.InstallURL())
			}
		}
		failed = err
		return made, err
	}
	server := &http.Server{Handler: page, ReadHeaderTimeout: appHeader, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	o.invite(ctx, c, page, ln) // who comes at once waits at the listener: only one writes to the terminal at a time
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	defer func() {
		// What is being stored is waited for.
		end := server.Shutdown(context.WithoutCancel(ctx))
		if s := <-served; !errors.Is(s, http.ErrServerClosed) {
			end = errors.Join(end, s)
		}
		err = errors.Join(err, end)
	}()
	select {
	case <-ctx.Done():
		return errInterrupted
	case <-page.ready:
	}
	if failed == nil {
		failed = o.installed(ctx, c, page.app)
	}
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case failed != nil:
		page.end(failed.Error())
	default:
		page.end("Done. The App is installed and may register runners. You can close this page.")
		if c.GitHub.Secret == "" {
			fmt.Fprintf(o.out, "Set github.secret to %s in the configuration of the controller.\n", o.to)
		}
	}
	select {
	case <-page.seen:
	case <-ctx.Done():
	case <-o.clock.After(lastLook):
	}
	return failed
}

// invite says where the page is, and opens it.
func (o *initAppOptions) invite(ctx context.Context, c config.Config, page *appPage, ln net.Listener) {
	_, port, _ := net.SplitHostPort(ln.Addr().String()) // a listener's address has one
	fmt.Fprintf(o.out, "A GitHub App for %s: open %s/ in a browser of this machine.\nFrom elsewhere, first: ssh -L %s:127.0.0.1:%s this-machine\n",
		c.GitHub.URL, page.origin, port, port)
	if o.noBrowser {
		return
	}
	open := "xdg-open"
	if runtime.GOOS == "darwin" {
		open = "open"
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), open, page.origin+"/") //nolint:gosec // our own address
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(o.err, "remuda: no browser was opened (%v): open the address yourself\n", err)
		return
	}
	go func() { _ = cmd.Wait() }() // it may be the browser itself, which stays open; the address is printed
}

// installed waits for the App's installation and checks that it serves.
func (o *initAppOptions) installed(ctx context.Context, c config.Config, made githubapi.MadeApp) error {
	client, err := githubapi.New(githubapi.Options{
		URL: c.GitHub.URL, APIURL: c.GitHub.APIURL, Clock: o.clock, RunnerGroup: c.GitHub.RunnerGroup,
		App: &githubapi.App{ID: made.ID, Key: func(context.Context) ([]byte, error) { return made.Key, nil }},
	})
	if err != nil {
		return err
	}
	for {
		id, err := client.Installed(ctx)
		switch {
		case err != nil && !errors.Is(err, githubapi.ErrUnavailable) && !errors.Is(err, githubapi.ErrThrottled):
			return err
		case id != 0:
			if err := client.Check(ctx, true); err != nil {
				return err
			}
			fmt.Fprintln(o.out, ensure.Step{Resource: "github " + client.Scope(), Action: ensure.Reachable})
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-o.clock.After(appPoll):
		}
	}
}

// permissionNames lists what an App of m may do.
func permissionNames(m githubapi.Manifest) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m.Permissions)) {
		out = append(out, strings.ReplaceAll(name, "_", " ")+": "+m.Permissions[name])
	}
	return out
}
