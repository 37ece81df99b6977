package githubapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v84/github"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
)

const (
	// CallTimeout bounds one call. It is half of the 10 s after which GitHub itself gives a request
	// up (GitHub REST, "Troubleshooting", timeouts), and lets two tries fit into the claim gate of
	// 10 s.
	CallTimeout = 5 * time.Second
	// tokenMargin is how long before its end a cached registration token is replaced, so that
	// who gets it has time to use it and clocks may differ.
	tokenMargin = 5 * time.Minute
	// pageSize is the most runners of one page (GitHub REST, "List self-hosted runners").
	pageSize = 100
	// maxPages bounds a listing: a runner group holds 10,000 runners at most (GitHub Docs, "Usage
	// limits for self-hosted runners"); twice that leaves room for more groups and shifting pages.
	maxPages = 200
	// workFolder is where a just-in-time runner runs its jobs, in its own folder; GitHub's default.
	workFolder = "_work"
)

// Client talks to one repository, organisation or enterprise. All methods are safe for concurrent use.
type Client struct {
	gh         *github.Client
	auth       *authorizer
	scope      scope
	group      int64
	groupName  string // takes precedence over group
	repository string // the repository whose jobs the runners take; "": unknown
	clock      clock.WithTicker
	log        *slog.Logger
	pace       *pacer
	kept       keeper
	told       func(Exchange)

	token    shared[Token]
	resolved shared[int64] // id of groupName; 0: not known
}

// URL returns the URL that runners are configured with.
func (c *Client) URL() string { return c.scope.url }

// Rate returns what GitHub last said of the budget that most calls have: how many an hour, how many are left, and when all
// are there again, by its clock. A Limit of 0: it has not said.
func (c *Client) Rate() github.Rate {
	c.pace.mu.Lock()
	defer c.pace.mu.Unlock()
	return c.pace.rate
}

// JITConfig registers a runner for one job under exactly the given label and returns its configuration. If a runner of that name exists, it
// returns ErrNameTaken. After ErrUnavailable and ErrLocal the runner may exist, offline, so use another name.
func (c *Client) JITConfig(ctx context.Context, name, label string) (JIT, error) {
	call := call{what: "generate jit config for runner " + name, route: "/actions/runners/generate-jitconfig", group: registration, conflict: ErrNameTaken}
	group, err := c.groupID(ctx)
	if err != nil {
		return JIT{}, fmt.Errorf("%s: %w", call.what, err)
	}
	work := workFolder
	request := &github.GenerateJITConfigRequest{
		Name: name, RunnerGroupID: group, WorkFolder: &work, Labels: []string{label},
	}
	var out github.JITRunnerConfig
	if _, err := c.send(ctx, call, http.MethodPost, "runners/generate-jitconfig", request, &out); err != nil {
		c.recheckGroup(err)
		return JIT{}, err
	}
	jit := JIT{RunnerID: out.GetRunner().GetID(), Config: out.GetEncodedJITConfig()}
	if jit.RunnerID == 0 || jit.Config == "" {
		return JIT{}, call.incomplete()
	}
	return jit, nil
}

// RegistrationToken returns a token that registers any number of runners. It is cached and has at
// least 5 minutes left; concurrent callers share one call.
func (c *Client) RegistrationToken(ctx context.Context) (Token, error) {
	good := func(t Token) bool { return c.clock.Now().Before(t.Expires.Add(-tokenMargin)) }
	return c.token.get(ctx, callToken.what, good, c.newToken)
}

var callToken = call{what: "create registration token", route: "/actions/runners/registration-token", group: registration}

func (c *Client) newToken(ctx context.Context) (Token, error) {
	var out github.RegistrationToken
	if _, err := c.send(ctx, callToken, http.MethodPost, "runners/registration-token", nil, &out); err != nil {
		return Token{}, err
	}
	tok := Token{Value: out.GetToken(), Expires: out.GetExpiresAt().Time}
	if tok.Value == "" || tok.Expires.IsZero() {
		return Token{}, callToken.incomplete()
	}
	c.token.set(tok)
	return tok, nil
}

var callRunners = call{what: "list runners", route: "/actions/runners", group: other, reads: true}

// Runners lists every runner, each once. Runners that come or go during the listing may be missing.
func (c *Client) Runners(ctx context.Context) ([]Runner, error) {
	runners := []Runner{}
	seen := map[int64]bool{}
	err := c.list(ctx, url.Values{}, func(r Runner) bool {
		if !seen[r.ID] {
			seen[r.ID] = true
			runners = append(runners, r)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return runners, nil
}

// FindRunner returns the runner of a name, if there is one: one call, where Runners may need a hundred.
func (c *Client) FindRunner(ctx context.Context, name string) (found Runner, ok bool, err error) {
	// The filter takes a whole name, and is unknown to GitHub Enterprise Server before 3.11, which
	// lists everything (GitHub REST, "List self-hosted runners").
	err = c.list(ctx, url.Values{"name": {name}}, func(r Runner) bool {
		if strings.EqualFold(r.Name, name) {
			found, ok = r, true
		}
		return !ok
	})
	return found, ok, err
}

// list hands runners to take until it returns false.
func (c *Client) list(ctx context.Context, query url.Values, take func(Runner) bool) error {
	return pages(ctx, c, callRunners, "runners", query, func(page github.Runners) (more bool, _ error) {
		for _, r := range page.Runners {
			if r.GetID() == 0 { // null, or one of which nothing can be done
				return false, callRunners.incomplete()
			}
			if !take(convert(r)) {
				return false, nil
			}
		}
		return true, nil
	})
}

// pages reads a list page by page until take wants no more. What take gets may be kept for others: it changes nothing of it.
func pages[T any](ctx context.Context, c *Client, call call, rest string, query url.Values, take func(T) (more bool, _ error)) error {
	query.Set("per_page", strconv.Itoa(pageSize))
	for page, n := 1, 1; page != 0; n++ {
		if n > maxPages {
			return call.endless()
		}
		query.Set("page", strconv.Itoa(page))
		got, err := read[T](ctx, c, call, rest+"?"+query.Encode())
		if err != nil {
			return err
		}
		if more, err := take(got.value); err != nil || !more {
			return err
		}
		page = got.next
	}
	return nil
}

func convert(r *github.Runner) Runner {
	out := Runner{ID: r.GetID(), Name: r.GetName(), Online: r.GetStatus() == "online", Busy: r.GetBusy()}
	for _, l := range r.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}

// DeleteRunner deletes a runner. ErrBusy if it runs a job; one that is gone already is no error.
func (c *Client) DeleteRunner(ctx context.Context, id int64) error {
	call := call{what: fmt.Sprintf("delete runner %d", id), route: "/actions/runners/{runner_id}", group: other, invalid: ErrBusy, also: []int{http.StatusNotFound}}
	_, err := c.send(ctx, call, http.MethodDelete, fmt.Sprintf("runners/%d", id), nil, nil)
	return err
}

// send makes one call of the REST API, below the path of what it is about.
func (c *Client) send(ctx context.Context, call call, method, rest string, in, out any) (resp *github.Response, _ error) {
	path, err := call.path(c.scope, rest)
	if err != nil {
		return nil, err
	}
	if call.permission != "" {
		ctx = keepingToken(ctx)
	}
	err = c.do(ctx, call, func(ctx context.Context) (*github.Response, error) {
		req, err := c.gh.NewRequest(method, path, in)
		if err != nil {
			return nil, err
		}
		if call.etag != "" {
			req.Header.Set("If-None-Match", call.etag)
		}
		resp, err = c.gh.Do(ctx, req, out)
		if call.answers(status(resp)) {
			err = nil
		}
		return resp, err
	})
	return resp, err
}

// do makes one call in its turn and within its time, and classifies its failure.
func (c *Client) do(ctx context.Context, call call, f func(context.Context) (*github.Response, error)) error {
	if at, err := c.pace.await(ctx, call.group); err != nil {
		return fmt.Errorf("%s: %w", call.what, err)
	} else if !at.IsZero() {
		return &callError{call: call.what, kind: ErrThrottled, detail: "no calls wanted for now", retryAt: at}
	}
	start := c.clock.Now()
	timed, cancel := context.WithTimeoutCause(ctx, CallTimeout, errTimeout)
	defer cancel()
	resp, err := f(timed)
	now := c.clock.Now()
	c.log.DebugContext(ctx, "github call", logkey.Call, call.what, logkey.Status, status(resp),
		logkey.Seconds, now.Sub(start).Seconds())
	hold := c.pace.observe(call.group, resp, err, now)
	c.tell(call, resp, now.Sub(start))
	var moved *movedError
	switch {
	case err == nil && (resp == nil || !isPage(resp.Response)):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", call.what, context.Cause(ctx))
	case errors.Is(context.Cause(timed), errTimeout):
		return &callError{call: call.what, kind: ErrUnavailable, detail: errTimeout.Error()}
	case errors.As(err, &moved):
		return c.moved(ctx, call, moved)
	}
	return call.classify(c.scope, kind(c.auth.last.Load()), resp, err, hold)
}

var errTimeout = fmt.Errorf("no answer within %s", CallTimeout)

func status(resp *github.Response) int {
	if resp == nil || resp.Response == nil {
		return 0
	}
	return resp.StatusCode
}
