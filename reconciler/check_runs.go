package reconciler

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
)

// checkRuns say beside a commit what became of a request for its run.
type checkRuns struct {
	*tenure
	github guardedRuns
}

// checkName is the name of all of them.
const checkName = "remuda"

// verbatim keeps GitHub from reading a text as Markdown: it may have words of the request in it, such as the types "c* r*", and any
// workflow's role may write one.
func verbatim(text string) string {
	return "```text\n" + strings.ReplaceAll(text, "`", "'") + "\n```"
}

// leave leaves one on the run's commit, once for each subject of an attempt, where the credentials allow it: status and log say the
// same.
func (c *checkRuns) leave(ctx context.Context, r run, view githubapi.WorkflowRun, about, title, text string) error {
	err := c.github.LeaveCheckRun(ctx, r.workflow().Repository, githubapi.CheckRun{
		HeadSHA: view.HeadSHA, Name: checkName, Key: fmt.Sprintf("%s/%d/%s", r.id, r.request.Attempt, about), Title: title, Summary: verbatim(text),
	})
	if errors.Is(err, githubapi.ErrRefused) {
		c.log.Debug("no check run was left", logkey.RequestID, r.id, logkey.Error, err)
		return nil
	}
	return err
}
