package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/finding"
	"github.com/remuda-run/remuda/internal/githubapi"
)

// github says whether the credentials serve, what they lack, and until when GitHub serves the runner's version.
func (o *doctorOptions) github(ctx context.Context, c config.Config) []finding.Finding {
	const name = "github"
	if c.GitHub.URL == "" {
		return []finding.Finding{{Check: name, Verdict: finding.Failed, Detail: "github.url is not set", Remedy: "name the repository or organisation that runners register with"}}
	}
	client, err := o.githubClient(c, slog.New(slog.DiscardHandler), nil)
	if err == nil {
		err = client.Check(ctx, false)
	}
	if err != nil {
		remedy := "see docs/github.md, Permissions"
		if errors.Is(err, githubapi.ErrLocal) || client == nil {
			remedy = "fix the cause that the error names, on this host or in the configuration"
		}
		return []finding.Finding{finding.Of(name, err, "", remedy)}
	}
	rate := client.Rate()
	out := []finding.Finding{{Check: name, Verdict: finding.OK, Detail: fmt.Sprintf("%s answers; %d of %d calls left this hour", client.Scope(), rate.Remaining, rate.Limit)}}
	grants, err := client.Grants(ctx)
	if err != nil {
		return append(out, finding.Of("github permission", err, "", ""))
	}
	for _, g := range grants {
		f := finding.Finding{Check: "github permission", Verdict: finding.OK, Detail: g.String()}
		switch {
		case !g.Known:
			f.Verdict = finding.Skipped
		case g.Missing && g.Required:
			f.Verdict, f.Remedy = finding.Failed, "give it to the credential; an App's installation must accept it (docs/github.md)"
		case g.Missing:
			f.Verdict, f.Remedy = finding.Warning, "give it to the credential if that is wanted (docs/github.md)"
		}
		out = append(out, f)
	}
	if version := c.Agent.Version(); version != "" {
		out = append(out, o.runnerVersion(ctx, client, version))
	}
	return out
}

// runnerVersion says until when GitHub serves the configured version of the runner.
func (o *doctorOptions) runnerVersion(ctx context.Context, client *githubapi.Client, version string) finding.Finding {
	const name = "runner version"
	d, known, err := client.Deprecation(ctx, version)
	end := d.End()
	f := finding.Finding{Check: name, Verdict: finding.OK, Detail: version + ": GitHub announces no end of it"}
	switch {
	case err != nil:
		return finding.Of(name, err, "", "")
	case !known:
		f.Verdict, f.Detail = finding.Skipped, version+": this server announces no ends of versions"
	case end.IsZero():
	case end.After(o.clock.Now()):
		f.Verdict, f.Detail = finding.Warning, fmt.Sprintf("%s: GitHub serves it until %s", version, end.UTC().Format(time.DateOnly))
		f.Remedy = "publish or configure a newer one"
	default:
		f.Verdict, f.Detail = finding.Failed, fmt.Sprintf("%s: GitHub has not served it since %s", version, end.UTC().Format(time.DateOnly))
		f.Remedy = "publish or configure a newer one"
	}
	return f
}
