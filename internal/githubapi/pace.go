package githubapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v84/github"
	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
)

// group is a set of calls that share a budget at GitHub. Which budget is learned from its answers:
// some installations count registrations with everything else.
type group int

const (
	registration group = iota
	other
	watching // of runs
	acting   // on runs
	signing  // signed with an App's key: budgets of the App, not of its installation
	groups   // how many there are
)

const (
	// longestTurn bounds the wait for a turn inside a call; later turns are left to the caller's
	// queue, which need not hold a worker for them.
	longestTurn = CallTimeout
	// unknownHold is how long to be quiet when GitHub limits without saying until when, twice as long
	// each time in a row, and longestHold bounds what it says (GitHub REST, "Rate limits": at least one
	// minute, then exponentially longer; primary limits reset within the hour). The longest of ours is
	// 8 minutes, so that work resumes soon after GitHub does.
	unknownHold  = time.Minute
	maxDoublings = 3
	longestHold  = time.Hour
	// leastHold follows a refusal whose reset has passed: its instants are whole seconds, and no two servers pass one at once. Without
	// it the next call would be made at once, and again.
	leastHold = time.Second
	// ofApp sets an App's own budgets apart from those of its installation.
	ofApp = "app "
	core  = "core"
)

// pacer spreads registrations over the budget, leaves watching its share of its own, and keeps quiet while GitHub wants no calls.
//
// The bucket holds a whole window's budget, so that a burst after a quiet time is not slowed down.
// If other users of the same budget make that too much, GitHub's own headers end it: the last call
// of a window or the first refused one holds all further calls until the window's end.
type pacer struct {
	clock  clock.WithTicker
	bucket *rate.Limiter

	mu     sync.Mutex
	budget [groups]string       // by group, as GitHub names it
	hold   map[string]time.Time // by budget: no call before
	runs   *runPace
	rate   github.Rate // of the budget that most calls have, as GitHub last said it
	unsaid int         // limits in a row that did not say until when
}

func newPacer(c clock.WithTicker, calls int, per time.Duration, runs *runPace) *pacer {
	return &pacer{
		clock: c, bucket: rate.NewLimiter(rate.Every(per/time.Duration(calls)), calls),
		budget: [groups]string{
			registration: "actions_runner_registration", other: core, watching: core, acting: core, signing: ofApp + core,
		},
		hold: map[string]time.Time{}, runs: runs,
	}
}

// await returns zero when it is g's turn. If that is further off than longestTurn, or calls about runs have no room, it returns
// the instant at once. The error is ctx's. What it lets through must be observed.
func (p *pacer) await(ctx context.Context, g group) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, context.Cause(ctx)
	}
	now := p.clock.Now()
	if at := p.held(g, now); !at.IsZero() {
		return at, nil
	}
	switch g {
	case watching, acting:
		return p.room(g, now), nil
	case registration:
	default:
		return time.Time{}, nil
	}
	turn := p.bucket.ReserveN(now, 1)
	delay := turn.DelayFrom(now)
	switch {
	case delay <= 0:
		return time.Time{}, nil
	case delay > longestTurn:
		turn.CancelAt(now)
		return now.Add(delay), nil
	}
	t := p.clock.NewTimer(delay)
	defer t.Stop()
	select {
	case <-t.C():
		return p.held(g, p.clock.Now()), nil
	case <-ctx.Done():
		turn.CancelAt(p.clock.Now())
		return time.Time{}, context.Cause(ctx)
	}
}

func (p *pacer) room(g group, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs.take(g, now)
}

func (p *pacer) held(g group, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.hold[p.budget[g]]; now.Before(at) {
		return at
	}
	return time.Time{}
}

// observe reads what an answer says of the budget and returns until when calls are held; zero: they
// are not.
func (p *pacer) observe(g group, resp *github.Response, err error, now time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g == watching {
		p.runs.done(now, status(resp) == http.StatusNotModified)
	}
	if resp == nil || resp.Response == nil {
		return time.Time{}
	}
	if name := resp.Header.Get("X-RateLimit-Resource"); name != "" {
		if g == signing {
			name = ofApp + name
		}
		p.budget[g] = name
	}
	if resp.Rate.Limit > 0 && p.budget[g] == p.budget[other] {
		p.rate = resp.Rate
	}
	if p.budget[g] == p.budget[watching] {
		p.runs.learn(now, resp.Rate, serverTime(resp, now))
	}
	spent := resp.Header.Get("X-RateLimit-Remaining") == "0"
	if !spent && (err == nil || !throttled(resp, err)) {
		if err == nil {
			p.unsaid = 0
		}
		return time.Time{}
	}
	wait := time.Duration(0)
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		wait = min(time.Duration(s), longestHold/time.Second) * time.Second
	} else if spent && !resp.Rate.Reset.IsZero() {
		wait = resp.Rate.Reset.Sub(serverTime(resp, now))
		if err != nil {
			wait = max(wait, leastHold)
		}
	} else if at := p.hold[p.budget[g]]; now.Before(at) {
		return at // of calls under way at once, the first answer counts
	} else {
		wait = unknownHold << min(p.unsaid, maxDoublings)
		p.unsaid++
	}
	until := now.Add(min(max(wait, 0), longestHold))
	for i, name := range p.budget {
		// A secondary limit, one without a spent budget, concerns every call.
		if (group(i) == g || !spent) && p.hold[name].Before(until) {
			p.hold[name] = until
		}
	}
	return until
}

// serverTime is GitHub's own reading of its clock, which the reset instant belongs to.
func serverTime(resp *github.Response, now time.Time) time.Time {
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		return at
	}
	return now
}

// throttled distinguishes a rate limit from a missing permission; both may be 403. A secondary limit need not say when to come back, and
// its message is all that GitHub promises of it ("an error message that indicates that you exceeded a secondary rate limit": GitHub
// REST, "Rate limits").
func throttled(resp *github.Response, err error) bool {
	if resp.StatusCode == http.StatusTooManyRequests {
		return true
	}
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	return resp.StatusCode == http.StatusForbidden &&
		(errors.As(err, &primary) || errors.As(err, &secondary) || resp.Header.Get("Retry-After") != "" ||
			strings.Contains(strings.ToLower(message(err)), "rate limit"))
}
