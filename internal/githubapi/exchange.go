package githubapi

import (
	"time"

	"github.com/google/go-github/v84/github"
)

// Exchange is one call and its answer, to count it by.
type Exchange struct {
	Route  string // the path below repository, organisation or enterprise, as GitHub REST writes it: no id is in it
	Status int    // 0: no answer came
	Took   time.Duration
	Budget Budget // zero if the answer says nothing of it
}

// Budget is what an answer says of a rate limit: how many calls it leaves until it is filled again.
type Budget struct {
	Name             string // as GitHub names it; those of an App's own begin with "app "
	Limit, Remaining int
	Reset            time.Time // by GitHub's clock
}

// tell tells of a call, of which pace has learned.
func (c *Client) tell(call call, resp *github.Response, took time.Duration) {
	if c.told == nil {
		return
	}
	e := Exchange{Route: call.route, Status: status(resp), Took: took}
	if resp != nil && resp.Rate.Limit > 0 {
		e.Budget = Budget{c.pace.nameOf(call.group), resp.Rate.Limit, resp.Rate.Remaining, resp.Rate.Reset.Time}
	}
	c.told(e)
}

// nameOf returns the budget that the calls of a group count against.
func (p *pacer) nameOf(g group) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.budget[g]
}
