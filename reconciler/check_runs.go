package reconciler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
)

// checkRuns say beside a commit what became of a request for its run, where the credentials allow it: status and log say the same.
type checkRuns struct {
	*tenure
	github guardedRuns

	mu     sync.Mutex
	unsaid map[string]checkRun // by repository and key: GitHub has not taken them yet
}

// checkRun is one to leave.
type checkRun struct {
	githubapi.CheckRun
	repository string
	since      time.Time
}

func (c checkRun) id() string { return c.repository + " " + c.Key }

const (
	// checkName is the name of all of them.
	checkName = "remuda"
	// saidWithin is for how long GitHub is asked to take one, unless it wants no calls at all: as long as one of its outages may take.
	saidWithin = 10 * time.Minute
)

// verbatim keeps GitHub from reading a text as Markdown: it may have words of the request in it, such as the types "c* r*", and any
// workflow's role may write one.
func verbatim(text string) string {
	return "```text\n" + strings.ReplaceAll(text, "`", "'") + "\n```"
}

// leave leaves one on the run's commit, once for each subject of an attempt. What GitHub does not take now is left later: nothing that
// is done to a run waits for it.
func (c *checkRuns) leave(ctx context.Context, r run, view githubapi.WorkflowRun, about, title, text string) {
	c.try(ctx, checkRun{repository: r.workflow().Repository, since: c.clock.Now(), CheckRun: githubapi.CheckRun{
		HeadSHA: view.HeadSHA, Name: checkName, Key: fmt.Sprintf("%s/%d/%s", r.id, r.request.Attempt, about), Title: title, Summary: verbatim(text),
	}})
}

// leaveLate leaves what was not taken before on commits of a repository.
func (c *checkRuns) leaveLate(ctx context.Context, repository string) {
	c.mu.Lock()
	late := maps.Clone(c.unsaid)
	c.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(late)) {
		if late[id].repository == repository {
			c.try(ctx, late[id])
		}
	}
}

// forget drops the unsent check runs of a repository that is no longer watched.
func (c *checkRuns) forget(repository string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.unsaid, func(_ string, one checkRun) bool { return one.repository == repository })
}

// try leaves one, or keeps it for later.
func (c *checkRuns) try(ctx context.Context, one checkRun) {
	err := c.github.LeaveCheckRun(ctx, one.repository, one.CheckRun)
	_, held := githubapi.RetryAt(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch first, known := c.unsaid[one.id()]; {
	case err == nil:
	case errors.Is(err, githubapi.ErrRefused):
		c.log.Debug("no check run was left", logkey.Repository, one.repository, logkey.Detail, one.Key, logkey.Error, err)
	case !held && known && c.clock.Since(first.since) >= saidWithin:
		c.log.Warn("no check run was left: GitHub did not take it", logkey.Repository, one.repository, logkey.Detail, one.Key, logkey.Error, err)
	default:
		if c.unsaid == nil {
			c.unsaid = map[string]checkRun{}
		}
		if !known {
			c.unsaid[one.id()] = one
		}
		return
	}
	delete(c.unsaid, one.id())
}
