package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/store"
)

// githubClient returns the client for the repository, organisation or enterprise that c names. The file of the
// credentials is looked at, so that a wrong one is an error at once; afterwards it may be replaced at any time. told, unless
// nil, is told of each call.
func (a *app) githubClient(c config.Config, log *slog.Logger, told func(githubapi.Exchange)) (*githubapi.Client, error) {
	o := githubapi.Options{
		URL: c.GitHub.URL, APIURL: c.GitHub.APIURL, Clock: a.clock, Log: log,
		RunnerGroup: c.GitHub.RunnerGroup, Repository: c.GitHub.Repository, RegistrationsPer5Min: c.GitHub.RegistrationsPer5Min,
		RunsShare: c.Runs.Share, Told: told,
	}
	if o.RunnerGroup == "" {
		o.RunnerGroupID = c.GitHub.RunnerGroupID
	}
	if c.GitHub.Secret != "" {
		if err := secretCredential(context.Background(), a, c.GitHub, &o); err != nil {
			return nil, err
		}
		return githubapi.New(o)
	}
	if c.GitHub.AppID == 0 {
		o.Token = a.githubToken(c.GitHub)
		if c.GitHub.TokenFile != "" {
			if _, err := a.readToken(c.GitHub); err != nil {
				return nil, err
			}
		}
		return githubapi.New(o)
	}
	o.App = &githubapi.App{ID: c.GitHub.AppID, InstallationID: c.GitHub.AppInstallationID, Key: a.githubKey(c.GitHub)}
	key, err := o.App.Key(context.Background())
	if err != nil {
		return nil, err
	}
	if err := githubapi.CheckKey(key); err != nil {
		return nil, fmt.Errorf("github.appKeyFile %s: %w", c.GitHub.AppKeyFile, err)
	}
	return githubapi.New(o)
}

// healthOf returns what the lease tells of this program, its configuration, and a client's calls.
func healthOf(client *githubapi.Client, refused *refusals) func() store.Health {
	version := currentVersion().Version
	return func() store.Health {
		r := client.Rate()
		h := store.Health{
			ControllerVersion: version, GitHub: store.GitHubBudget{Remaining: r.Remaining, Limit: r.Limit, ResetAt: store.At(r.Reset.Time)},
		}
		if now := refused.now.Load(); now != nil {
			h.ConfigRefused, h.ConfigRefusedAt = now.text, store.At(now.since)
		}
		return h
	}
}

// githubToken reads the access token again for every call, so that operators can replace it at any time.
func (a *app) githubToken(c config.GitHub) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return a.readToken(c) }
}

func (a *app) readToken(c config.GitHub) (string, error) {
	token := environment(a.environ())[c.TokenEnv]
	if token == "" && c.TokenEnv == simTokenEnv {
		token = simToken // that of the simulated GitHub is no secret: every verb works with the configuration of `remuda dev`
	}
	if c.TokenFile != "" {
		raw, err := a.readFile(c.TokenFile)
		if err != nil {
			return "", fmt.Errorf("read github.tokenFile: %w", err)
		}
		token = string(raw)
	}
	if token = strings.TrimSpace(token); token == "" {
		return "", fmt.Errorf("no access token in github.tokenFile or $%s", c.TokenEnv)
	}
	if err := githubapi.CheckToken(token); err != nil {
		return "", fmt.Errorf("%s: %w", cmp.Or(fileField(c.TokenFile), "$"+c.TokenEnv), err)
	}
	return token, nil
}

// fileField returns the setting that names the token file, if there is one.
func fileField(path string) string {
	if path == "" {
		return ""
	}
	return "github.tokenFile " + path
}

// githubKey reads the App's key anew for every installation token, so that one that was replaced counts at once.
func (a *app) githubKey(c config.GitHub) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		key, err := a.readFile(c.AppKeyFile)
		if err != nil {
			return nil, fmt.Errorf("read github.appKeyFile: %w", err)
		}
		return key, nil
	}
}

// githubResource is a check that the credentials serve. Applied, it makes a registration token, which
// proves every permission needed; a dry run only reads.
func (a *app) githubResource(c config.Config, log *slog.Logger) resource {
	return resource{"github", func(ctx context.Context, apply bool) ([]ensure.Step, error) {
		client, err := a.githubClient(c, log, nil)
		if err != nil {
			return nil, err
		}
		if err := client.Check(ctx, apply); err != nil {
			return nil, err
		}
		return []ensure.Step{{Resource: "github " + client.Scope(), Action: ensure.Reachable}}, nil
	}}
}
