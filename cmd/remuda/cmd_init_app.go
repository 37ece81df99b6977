package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/reference"
)

const initAppLong = `Makes a GitHub App for what github.url names, with the permissions that remuda needs and no others (docs/github.md).

It serves a page on this machine, which leads to GitHub and back. The printed address contains a secret and works in one
browser. The App must belong to the owner in github.url and have exactly the requested permissions. Otherwise it is not
stored. The command stores the App's id and key where --to or github.secret says: in a file that only its owner can read, or
in an existing secret of Secrets Manager, such as the one in the stack. Then it waits until the App is installed, and requests
a registration token to check it. The key is never printed. If you interrupt it, install the App by the printed link.`

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
	fs.BoolVar(&o.noBrowser, "no-browser", false, "open no browser; the address is always printed")
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
	page, err := newAppPage(c.GitHub.URL, ln, o.app)
	if err != nil {
		return errors.Join(asUsage(err), ln.Close())
	}
	var failed error // of made, before page.ready
	page.made = func(call context.Context, code string) (githubapi.MadeApp, error) {
		// A browser that hangs up must not break off what can be done only once, nor may an interruption.
		call = context.WithoutCancel(call)
		made, err := githubapi.Convert(call, githubapi.Options{URL: c.GitHub.URL, APIURL: c.GitHub.APIURL}, page.manifest, code)
		if errors.Is(err, githubapi.ErrCode) || errors.Is(err, githubapi.ErrForeignApp) || unanswered(err) {
			fmt.Fprintf(o.err, "remuda: %v\n", err)
			return made, err
		}
		if err == nil {
			var where string
			if where, err = target.store(call, made); where != "" {
				fmt.Fprintf(o.out, "The %s is created; its id and key are in %s.%s\nInstall it for %s: %s\n", made, where, page.renamed(made), c.GitHub.URL, made.InstallURL())
			}
		}
		failed = err
		return made, err
	}
	server := &http.Server{Handler: page, ReadHeaderTimeout: appHeader, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	o.invite(c, page, ln) // who comes at once waits at the listener: only one writes to the terminal at a time
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
func (o *initAppOptions) invite(c config.Config, page *appPage, ln net.Listener) {
	_, port, _ := net.SplitHostPort(ln.Addr().String()) // a listener's address has one
	fmt.Fprintf(o.out, "A GitHub App for %s: open %s in one browser of this machine.\nFrom elsewhere, first: ssh -L %s:127.0.0.1:%s this-machine\n",
		c.GitHub.URL, page.origin+"/?key="+page.key, port, port)
	if !o.noBrowser {
		browse(o.app, page.origin+"/") // which asks for the key
	}
}

// installed waits for the App's installation and checks that it serves.
func (o *initAppOptions) installed(ctx context.Context, c config.Config, made githubapi.MadeApp) error {
	client, err := githubapi.New(githubapi.Options{
		URL: c.GitHub.URL, APIURL: c.GitHub.APIURL, Clock: o.clock, RunnerGroup: c.GitHub.RunnerGroup,
		App: &githubapi.App{ID: made.ID, Key: func(context.Context) ([]byte, error) { return []byte(made.Key), nil }},
	})
	if err != nil {
		return err
	}
	for {
		id, err := client.Installed(ctx)
		switch {
		case err != nil && !unanswered(err) && !errors.Is(err, githubapi.ErrThrottled):
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
