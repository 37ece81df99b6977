package bench_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// loadRepositories is in how many repositories the runs are, and loadShare the part of GitHub's limits that watching them may take.
const (
	loadRepositories = 10
	loadShare        = githubapi.DefaultRunsShare
)

// Lives of runs. Each has five jobs one after the other, so that of 20 in a repository what GitHub lists changes every two seconds.
const (
	shortestRun = 2 * time.Minute
	longestRun  = 10 * time.Minute
)

// runsLoad keeps runs going in a bubble, each with a request of one machine that names it.
type runsLoad struct {
	*bubble
	releases bool // workflows have a release job
	dice     *rand.Rand

	next   int64
	going  []*loadRun
	over   []*loadRun  // at GitHub, and not given back
	delays bench.Times // from over to given back
	waits  bench.Times // from a request to Ready
}

type loadRun struct {
	id            int64
	asked, overAt time.Time
	ready         bool
}

func (r *loadRun) label() store.RequestID { return store.RequestID(strconv.FormatInt(r.id, 10)) }

// newLoad starts an installation whose credential has so many calls an hour, of which others have used some already.
func newLoad(t *testing.T, perHour, used int) *runsLoad {
	t.Helper()
	return &runsLoad{dice: rand.New(rand.NewPCG(1, 2)), next: 1000, bubble: newBubble(t, "octo", func(h *githubsim.Hub) {
		h.SetRateLimit(githubsim.ResourceCore, githubsim.RateLimit{Limit: perHour, Window: time.Hour})
		for range used {
			_, _, err := h.FindRunner(t.Context(), "nobody's")
			check(t, err)
		}
		h.SetSecondaryLimit(githubsim.SecondaryPoints, 0)
	})}
}

// begin starts a run and asks for its machine.
func (l *runsLoad) begin() {
	l.t.Helper()
	l.next++
	r := &loadRun{id: l.next, asked: l.clock.Now()}
	part := (shortestRun + time.Duration(l.dice.Int64N(int64(longestRun-shortestRun)))).Seconds() / 4
	jobs := []githubsim.JobSpec{{Key: "provision", Hosted: true, Held: true}, {Key: "build", Seconds: part, Needs: []string{"provision"}}}
	for _, key := range []string{"test", "lint", "deploy"} {
		jobs = append(jobs, githubsim.JobSpec{Key: key, Hosted: true, Seconds: part, Needs: []string{jobs[len(jobs)-1].Key}})
	}
	repository := fmt.Sprintf("octo/repo-%d", r.id%loadRepositories)
	_, err := l.hub.Workflows().Start(githubsim.RunSpec{ID: r.id, Repository: repository, Jobs: jobs})
	check(l.t, err)
	spec := bench.Spec(string(r.label()), 1)
	spec.Repository, spec.WorkflowRun, spec.WorkflowAttempt, spec.CreatedAt = repository, r.id, 1, store.At(r.asked)
	spec.MaxRuntime = store.SecondsOf(5 * time.Hour) // it gives back nothing
	_, err = l.store.Submit(l.t.Context(), spec)
	check(l.t, err)
	l.going = append(l.going, r)
}

// step does what is due.
func (l *runsLoad) step() {
	l.t.Helper()
	l.going = slices.DeleteFunc(l.going, func(r *loadRun) bool {
		if !r.ready {
			l.provision(r)
			return false
		}
		now, err := l.hub.Workflows().Run(r.id)
		check(l.t, err)
		if now.Status != githubapi.StatusCompleted {
			return false
		}
		for _, j := range now.Jobs {
			if j.FinishedAt.After(r.overAt) {
				r.overAt = j.FinishedAt
			}
		}
		if l.releases {
			_, err := l.store.Release(l.t.Context(), r.label(), 1, store.ReleaseDrain)
			check(l.t, err)
		}
		l.over = append(l.over, r)
		return true
	})
	l.over = slices.DeleteFunc(l.over, func(r *loadRun) bool {
		req, err := l.store.Request(l.t.Context(), store.Eventual, r.label())
		check(l.t, err)
		if req.Released() {
			l.delays = append(l.delays, l.clock.Now().Sub(r.overAt))
		}
		return req.Released()
	})
}

// provision ends the job that asked once its machine is there.
func (l *runsLoad) provision(r *loadRun) {
	l.t.Helper()
	st, err := l.store.Status(l.t.Context(), store.Eventual, r.label())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return
	case err != nil:
		l.t.Fatal(err)
	case st.Phase == statemachine.Failed:
		l.t.Fatalf("request %s failed: %s", r.label(), st.Message)
	case st.Phase != statemachine.Ready:
		return
	}
	now, err := l.hub.Workflows().Run(r.id)
	check(l.t, err)
	check(l.t, l.hub.Workflows().Finish(now.Jobs[0].ID, githubsim.Success))
	r.ready = true
	l.waits = append(l.waits, l.clock.Now().Sub(r.asked))
}

// live goes on for d with n runs: those that are over are replaced, one a second, as the first ones come.
func (l *runsLoad) live(n int, d time.Duration) {
	l.t.Helper()
	for end := l.clock.Now().Add(d); l.clock.Now().Before(end); l.second() {
		if len(l.going) < n {
			l.begin()
		}
	}
}

// finish lets all runs end, and waits for at most d until all are given back.
func (l *runsLoad) finish(d time.Duration) {
	l.t.Helper()
	for len(l.going) > 0 {
		l.second()
	}
	for end := l.clock.Now().Add(d); len(l.over) > 0 && l.clock.Now().Before(end); {
		l.second()
	}
}

func (l *runsLoad) second() {
	l.t.Helper()
	time.Sleep(time.Second)
	l.step()
}
