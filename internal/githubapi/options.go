package githubapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v84/github"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/netfault"
)

// DefaultRegistrationsPer5Min is GitHub's budget of runner registrations for a repository or
// organisation (GitHub Docs, "Limits in GitHub Actions").
const DefaultRegistrationsPer5Min = 1500

// DefaultRunnerGroupID is the group that every organisation and repository has (GitHub Docs,
// "Managing access to self-hosted runners using groups": Default).
const DefaultRunnerGroupID = 1

// DefaultRunsShare leaves nine tenths of the rate limit to what runners need, and to others that use the same credential.
const DefaultRunsShare = 0.1

// Options of a Client. URL, Clock, and either Token or App are required.
type Options struct {
	// URL is that of the repository, organisation or enterprise: https://host/owner/repo,
	// https://host/org or https://host/enterprises/name. An enterprise takes a classic token only.
	// Plain http is taken for a loopback address only, since every call carries a credential.
	URL string
	// APIURL is the REST API's; empty derives it from URL: api.github.com for github.com,
	// api.<name>.ghe.com for <name>.ghe.com, /api/v3 on any other host.
	APIURL string
	// Token returns a credential for the next call. An error of another package counts as ErrLocal, and its text must contain no secret.
	Token func(ctx context.Context) (string, error)
	App   *App
	// HTTPClient makes the calls; nil means one of its own. Its Transport is wrapped, not changed.
	HTTPClient *http.Client
	Clock      clock.WithTicker
	Log        *slog.Logger // nil: discarded
	// RunnerGroupID of just-in-time runners; 0 means DefaultRunnerGroupID.
	RunnerGroupID int64
	// RunnerGroup names it instead; not of a repository, whose runners are all in one group.
	RunnerGroup string
	// Repository (owner/name) is the repository whose jobs an organisation's runners take. Their group must allow it. "": any.
	Repository string
	// RegistrationsPer5Min paces JITConfig and new registration tokens; 0 means
	// DefaultRegistrationsPer5Min.
	RegistrationsPer5Min int
	// RunsShare is how much of what GitHub's headers leave of the credential's rate limit the calls of watching take (ActiveRuns,
	// WorkflowRun, WorkflowJobs), 0 to 1, and how much of a minute's 900 points; 0 means DefaultRunsShare. Answers that nothing
	// has changed are free of the former. Without room a call is not made: ErrThrottled.
	RunsShare float64
	// Told, unless nil, is told of each call once it was answered, or was not. It must not block.
	Told func(Exchange)
}

// New returns a client. It starts nothing and makes no call. The error joins all problems.
func New(o Options) (*Client, error) {
	var errs []error
	s, err := parseScope(o.URL)
	errs = append(errs, err)
	api, err := apiURL(o.APIURL, s)
	errs = append(errs, err)
	switch {
	case o.Token == nil && o.App == nil:
		errs = append(errs, errors.New("token is required, or an app"))
	case o.Token != nil && o.App != nil:
		errs = append(errs, errors.New("token and app exclude each other"))
	case o.App != nil:
		errs = append(errs, o.App.validate(s))
	}
	if o.Clock == nil {
		errs = append(errs, errors.New("clock is required"))
	}
	if o.RunnerGroupID < 0 {
		errs = append(errs, fmt.Errorf("runner group id must not be negative, got %d", o.RunnerGroupID))
	}
	if o.RunnerGroup != "" && o.RunnerGroupID != 0 {
		errs = append(errs, fmt.Errorf("runner group %q and runner group id %d exclude each other", o.RunnerGroup, o.RunnerGroupID))
	}
	if o.RunnerGroup != "" && s.base != nil && s.level == repository {
		errs = append(errs, fmt.Errorf("runner group %q: runners of a repository are in its only group", o.RunnerGroup))
	}
	if o.RegistrationsPer5Min < 0 {
		errs = append(errs, fmt.Errorf("registrations per 5 min must not be negative, got %d", o.RegistrationsPer5Min))
	}
	if !(o.RunsShare >= 0 && o.RunsShare <= 1) { // nor NaN
		errs = append(errs, fmt.Errorf("runs share must be 0 to 1, got %v", o.RunsShare))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("github client: %w", err)
	}
	if o.RunnerGroupID == 0 {
		o.RunnerGroupID = DefaultRunnerGroupID
	}
	if o.RegistrationsPer5Min == 0 {
		o.RegistrationsPer5Min = DefaultRegistrationsPer5Min
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	client := http.Client{}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	}
	auth := &authorizer{base: cmp.Or(client.Transport, transport()), level: s.level, scheme: api.Scheme, host: api.Host}
	if s.level == repository {
		auth.actions = api.Path + s.path("")
	}
	client.Transport = auth
	gh := github.NewClient(&client)
	gh.BaseURL = api
	// Its own check mixes GitHub's budgets and reads the machine's clock; pacer does both better.
	gh.DisableRateLimitCheck = true
	c := &Client{
		gh: gh, auth: auth, scope: s, group: o.RunnerGroupID, groupName: o.RunnerGroup, repository: o.Repository, clock: o.Clock, log: o.Log, told: o.Told,
		pace: newPacer(o.Clock, o.RegistrationsPer5Min, 5*time.Minute, newRunPace(o.Clock.Now(), cmp.Or(o.RunsShare, DefaultRunsShare))),
	}
	auth.credential = given(o.Token)
	if o.App != nil {
		auth.credential = &appCredential{app: *o.App, c: c, api: api, base: auth.base}
	}
	return c, nil
}

// transport is Go's default transport for all clients, with the reason why a proxy opens no tunnel.
var transport = sync.OnceValue(func() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // a test has replaced it
		return http.DefaultTransport
	}
	t = t.Clone()
	t.OnProxyConnectResponse = netfault.OnProxyConnectResponse
	return t
})

// apiURL returns the base of the REST API with a trailing slash.
func apiURL(raw string, s scope) (*url.URL, error) {
	if raw == "" {
		if s.base == nil {
			return nil, nil // the URL's own error says it
		}
		u := &url.URL{Scheme: s.base.Scheme, Host: s.base.Host, Path: "/api/v3/"}
		if host := strings.ToLower(s.base.Hostname()); host == "github.com" || strings.HasSuffix(host, ".ghe.com") {
			u.Host, u.Path = "api."+s.base.Host, "/"
		}
		return u, nil
	}
	u, err := url.Parse(strings.TrimSuffix(raw, "/") + "/")
	if err != nil {
		return nil, fmt.Errorf("api url: not a URL") // as above
	}
	if err := safe(u); err != nil {
		return nil, fmt.Errorf("api url: %w", err)
	}
	return u, nil
}

// safe refuses URLs over which a credential would travel in the clear or be seen in logs.
func safe(u *url.URL) error {
	ip := net.ParseIP(u.Hostname())
	loopback := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case u.User != nil:
		return errors.New("must not hold a user or password")
	case u.Host == "":
		return errors.New("a host is required")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("must not have a query or fragment")
	case u.Scheme != "https" && !(u.Scheme == "http" && loopback):
		return fmt.Errorf("scheme must be https, got %q", u.Scheme)
	}
	return nil
}
