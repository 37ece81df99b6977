package githubapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// AddLabel gives a runner one more label. A runner that has it keeps it, so the call may be repeated. ErrGone if there is no
// such runner. It is nil only where GitHub's answer, which is all of the runner's labels, has it; after ErrUnavailable the
// runner may have it.
func (c *Client) AddLabel(ctx context.Context, id int64, label string) error {
	call := call{what: fmt.Sprintf("add a label to runner %d", id), route: "/actions/runners/{runner_id}/labels", group: other, gone: ErrGone}
	var out struct {
		Labels []struct {
			Name string `json:"name"`
		} `json:"labels"`
	}
	request := struct {
		Labels []string `json:"labels"`
	}{[]string{label}}
	if _, err := c.send(ctx, call, http.MethodPost, fmt.Sprintf("runners/%d/labels", id), request, &out); err != nil {
		return err
	}
	for _, l := range slices.Backward(out.Labels) {
		if strings.EqualFold(l.Name, label) {
			return nil
		}
	}
	return call.incomplete()
}
