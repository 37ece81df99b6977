package bench_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
)

// meteredGitHub is the simulated GitHub's REST API without a network, so that a bubble's time goes on while nothing is asked. It
// notes every call.
type meteredGitHub struct {
	handler http.Handler
	clock   clock.Clock

	mu    sync.Mutex
	calls []restCall
}

// restCall is one call of the REST API.
type restCall struct {
	at     time.Time
	method string
	runs   bool // it is about runs
	status int
	left   float64 // calls an hour of the primary limit until its reset, as the answer tells; 0: it does not
}

// RoundTrip implements http.RoundTripper.
func (m *meteredGitHub) RoundTrip(req *http.Request) (*http.Response, error) {
	in := req.Clone(req.Context())
	in.RequestURI = req.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	out := httptest.NewRecorder()
	m.handler.ServeHTTP(out, in)
	resp := out.Result()
	resp.Request = req
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	m.calls = append(m.calls, restCall{now, req.Method, strings.Contains(req.URL.Path, "/actions/runs"), resp.StatusCode, leftPerHour(resp.Header, now)})
	return resp, nil
}

// leftPerHour reads what an answer tells of the limit that watching has a share of.
func leftPerHour(h http.Header, now time.Time) float64 {
	remaining, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	reset, err2 := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil || err2 != nil || h.Get("X-RateLimit-Resource") != githubsim.ResourceCore {
		return 0
	}
	return float64(remaining) / time.Unix(reset, 0).Sub(now).Hours()
}

// mostLeft returns the most calls an hour that GitHub ever told to be left.
func (m *meteredGitHub) mostLeft() float64 {
	most := 0.
	for _, c := range m.since(time.Time{}) {
		most = max(most, c.left)
	}
	return most
}

// watched counts the calls of watching since an instant: those that cost, and those that were answered with 304.
func (m *meteredGitHub) watched(since time.Time) (paid, free int) {
	for _, c := range m.since(since) {
		switch {
		case !c.runs:
		case c.status == http.StatusNotModified:
			free++
		default:
			paid++
		}
	}
	return paid, free
}

func (m *meteredGitHub) since(at time.Time) []restCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.calls), func(c restCall) bool { return c.at.Before(at) })
}

// refused counts the calls that were answered with 403 or 429.
func (m *meteredGitHub) refused() int {
	all := m.since(time.Time{})
	return len(slices.DeleteFunc(all, func(c restCall) bool {
		return c.status != http.StatusForbidden && c.status != http.StatusTooManyRequests
	}))
}

// most returns the highest sum of what calls weigh within any span of a length.
func (m *meteredGitHub) most(within time.Duration, weight func(restCall) int) int {
	all := m.since(time.Time{})
	first, sum, most := 0, 0, 0
	for _, c := range all {
		for ; c.at.Sub(all[first].at) >= within; first++ {
			sum -= weight(all[first])
		}
		sum += weight(c)
		most = max(most, sum)
	}
	return most
}

// What a call weighs: points of the secondary limit (GitHub REST, "Rate limits": GET 1, others 5), those of watching alone, and
// calls of watching that cost something of the primary one.
func points(c restCall) int {
	if c.method == http.MethodGet {
		return 1
	}
	return 5
}

func pointsOfWatching(c restCall) int {
	if c.runs {
		return points(c)
	}
	return 0
}

func paidForWatching(c restCall) int {
	if c.runs && c.status != http.StatusNotModified {
		return 1
	}
	return 0
}

// countedRuns notes which looks are put off.
type countedRuns struct {
	reconciler.Runs

	mu     sync.Mutex
	putOff int
}

func (c *countedRuns) note(err error) {
	if _, off := githubapi.RetryAt(err); off {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.putOff++
	}
}

func (c *countedRuns) ActiveRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error) {
	out, err := c.Runs.ActiveRuns(ctx, repository)
	c.note(err)
	return out, err
}

func (c *countedRuns) CompletedRuns(ctx context.Context, repository string) ([]githubapi.WorkflowRun, error) {
	out, err := c.Runs.CompletedRuns(ctx, repository)
	c.note(err)
	return out, err
}

func (c *countedRuns) WorkflowRun(ctx context.Context, repository string, id int64) (githubapi.WorkflowRun, bool, error) {
	out, found, err := c.Runs.WorkflowRun(ctx, repository, id)
	c.note(err)
	return out, found, err
}
