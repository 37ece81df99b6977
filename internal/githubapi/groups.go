package githubapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/google/go-github/v84/github"
)

var callGroups = call{what: "list runner groups", route: "/actions/runner-groups", group: other, reads: true}

// groupID returns the runner group of new runners. A name is resolved once for all who wait for it, until a
// refusal calls for another look.
func (c *Client) groupID(ctx context.Context) (int64, error) {
	if c.groupName == "" {
		return c.group, nil
	}
	known := func(id int64) bool { return id != 0 }
	return c.resolved.get(ctx, callGroups.what, known, c.findGroup)
}

// recheckGroup forgets the group's id if err may mean that it is another by now.
func (c *Client) recheckGroup(err error) {
	if errors.Is(err, ErrRefused) {
		c.resolved.set(0)
	}
}

func (c *Client) findGroup(ctx context.Context) (int64, error) {
	visible, asked := url.Values{}, cmp.Or(c.groupName, fmt.Sprint(c.group))
	if _, name, ok := strings.Cut(c.repository, "/"); ok && c.scope.level == organisation { // list only the groups that the repository may use
		visible.Set("visible_to_repository", name)
		asked += " for " + c.repository
	}
	var names []string
	var id int64
	err := pages(ctx, c, callGroups, "runner-groups", visible, func(page github.RunnerGroups) (more bool, _ error) {
		for _, g := range page.RunnerGroups {
			if g.GetID() > 0 && (strings.EqualFold(g.GetName(), c.groupName) || c.groupName == "" && g.GetID() == c.group) {
				id = g.GetID()
				c.resolved.set(id)
				return false, nil
			}
			names = append(names, g.GetName())
		}
		return true, nil
	})
	if err != nil || id != 0 {
		return id, err
	}
	return 0, &callError{call: callGroups.what, kind: ErrRefused,
		detail: fmt.Sprintf("no runner group %q in %s, which has: %s", asked, c.scope, plain(strings.Join(names, ", ")))}
}
