package githubapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/google/go-github/v84/github"
)

var callGroups = call{what: "list runner groups", group: other, reads: true}

// groupID returns the runner group of new runners. A name is resolved once for all who wait for it, until a
// refusal calls for another look.
func (c *Client) groupID(ctx context.Context) (int64, error) {
	if c.groupName == "" {
		return c.group, nil
	}
	if id := c.knownGroup(); id != 0 {
		return id, nil
	}
	shared := c.flight.DoChan("group", func() (any, error) { // as in RegistrationToken
		if id := c.knownGroup(); id != 0 {
			return id, nil
		}
		id, err := c.findGroup(context.WithoutCancel(ctx))
		if err == nil {
			c.mu.Lock()
			c.resolved = id
			c.mu.Unlock()
		}
		return id, err
	})
	select {
	case r := <-shared:
		if r.Err != nil {
			return 0, r.Err
		}
		return r.Val.(int64), nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

func (c *Client) knownGroup() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resolved
}

// recheckGroup forgets the group's id if err may mean that it is another by now.
func (c *Client) recheckGroup(err error) {
	if errors.Is(err, ErrRefused) {
		c.mu.Lock()
		c.resolved = 0
		c.mu.Unlock()
	}
}

func (c *Client) findGroup(ctx context.Context) (int64, error) {
	var names []string
	for page, pages := 1, 1; page != 0; pages++ {
		if pages > maxPages {
			return 0, callGroups.endless()
		}
		var out github.RunnerGroups
		err := c.do(ctx, callGroups, func(ctx context.Context) (*github.Response, error) {
			q := url.Values{"per_page": {fmt.Sprint(pageSize)}, "page": {fmt.Sprint(page)}}
			resp, err := c.scope.get(ctx, c.gh, "runner-groups?"+q.Encode(), &out)
			if err == nil {
				page = resp.NextPage
			}
			return resp, err
		})
		if err != nil {
			return 0, err
		}
		for _, g := range out.RunnerGroups {
			if strings.EqualFold(g.GetName(), c.groupName) && g.GetID() > 0 {
				return g.GetID(), nil
			}
			names = append(names, g.GetName())
		}
	}
	return 0, &callError{call: callGroups.what, kind: ErrRefused,
		detail: fmt.Sprintf("no runner group %q in %s, which has: %s", c.groupName, c.scope, plain(strings.Join(names, ", ")))}
}
