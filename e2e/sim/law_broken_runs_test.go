package sim

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// storiesAtGitHub are quiet stories of runs at GitHub.
func storiesAtGitHub(quiet func(...Step) Script) map[string]Script {
	run := func(count, jobs int, of AtGitHub) Step {
		of.GitHub = true
		return Begin(0, Workflow{ID: "100", Count: count, Jobs: jobs, Job: time.Minute, AtGitHub: of})
	}
	return map[string]Script{
		"a run at GitHub":            quiet(run(2, 2, AtGitHub{})),
		"a long run at GitHub":       quiet(Begin(0, Workflow{ID: "100", Count: 1, Jobs: 1, Job: 9 * time.Minute, Max: 20 * time.Minute, AtGitHub: AtGitHub{GitHub: true}})),
		"a run of one job":           quiet(run(2, 1, AtGitHub{})),
		"a run of two jobs in a row": quiet(run(1, 2, AtGitHub{})),
		"a run that fails":           quiet(run(2, 2, AtGitHub{Fails: 1})),
		"a run that is run again":    quiet(run(2, 2, AtGitHub{Fails: 1, Rerun: rerunFailed, RerunAfter: time.Minute})),
	}
}

// runsBroken are deeds for runs at GitHub that the product must not do, or does not do.
func runsBroken() []sabotage {
	asks := func(change func(*store.Item, *store.RunRequest)) func(h hands) {
		return func(h hands) {
			h.phase("100", statemachine.Ready)
			h.at(h.w.since() + 5*time.Second) // its jobs run
			rewriteItem(h, context.Background(), store.RequestKey("100", store.KindRunRequest), func(item *store.Item, r *store.RunRequest) {
				r.Attempt, r.OriginalCount, r.NoWait = 2, r.Count, true
				change(item, r)
			})
		}
	}
	return []sabotage{
		{law: Over, name: "in the middle of it", story: "a run at GitHub", says: "and its run goes on", do: func(h hands) {
			h.phase("100", statemachine.Ready)
			h.givesBack(store.ReleaseDrain)
		}},
		{law: Over, name: "at once", story: "a run at GitHub", says: "ends now", do: func(h hands) {
			h.over(1)
			h.givesBack(store.ReleaseNow)
		}},
		{law: Wanted, name: "more than wait", story: "a run of one job", says: "at most 1 jobs wait or run", do: asks(func(*store.Item, *store.RunRequest) {})},
		{law: Wanted, name: "more than a client did", story: "a run of two jobs in a row", says: "which asked for 1", do: asks(func(_ *store.Item, r *store.RunRequest) {
			r.Count, r.OriginalCount = 2, 2
		})},
		{law: Wanted, name: "forgotten", story: "a run at GitHub", says: "is forgotten at", do: asks(func(item *store.Item, _ *store.RunRequest) {
			item.ExpiresAt = h24(item)
		})},
		{law: OwnRuns, name: "cancelled", story: "a run at GitHub", says: "is cancelled", do: func(h hands) {
			h.phase("100", statemachine.Ready)
			h.calls(func(ctx context.Context, r judgedRuns) error { return r.CancelRun(ctx, repositoryOfRuns, 100) })
		}},
		{law: OwnRuns, name: "cancelled, and its jobs do not wait", story: "a long run at GitHub", says: "no job of a request that failed waits", also: []string{Harmless}, patient: true, do: func(h hands) {
			run, err := h.w.hub.Workflows().Start(githubsim.RunSpec{ID: 7, Repository: repositoryOfRuns, Jobs: []githubsim.JobSpec{
				{Key: "a", Hosted: true, Held: true}, {Key: "b", Label: "7"},
			}})
			if err == nil {
				err = h.w.hub.Cancel(strconv.FormatInt(run.Jobs[1].ID, 10))
			}
			h.at(h.w.since() + 6*time.Minute) // the controller may have seen the job wait for so long
			if err == nil {
				_, err = store.New(h.t).Submit(context.Background(), store.RunRequest{
					ID: "7", Attempt: 1, Count: 1, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"z9.*"}, ResourceClass: "small",
					Timeout: store.SecondsOf(time.Minute), Repository: repositoryOfRuns, WorkflowRun: 7, WorkflowAttempt: 1, NoWait: true,
				})
			}
			if err != nil {
				h.w.verdicts.broke("jobs", "%v", err)
			}
			h.until(func() bool {
				h.w.truth.records.mu.Lock()
				defer h.w.truth.records.mu.Unlock()
				return h.w.truth.runs.failed["7"][1]
			})
			h.calls(func(ctx context.Context, r judgedRuns) error { return r.CancelRun(ctx, repositoryOfRuns, 7) })
		}},
		{law: OwnRuns, name: "a note", story: "a run at GitHub", says: "check run k is left", do: func(h hands) {
			other, err := h.w.hub.Workflows().Start(githubsim.RunSpec{ID: 7, Repository: repositoryOfRuns, Jobs: []githubsim.JobSpec{{Key: "a", Hosted: true}}})
			if err != nil {
				h.w.verdicts.broke("jobs", "%v", err)
			}
			h.calls(func(ctx context.Context, r judgedRuns) error {
				return r.LeaveCheckRun(ctx, repositoryOfRuns, githubapi.CheckRun{HeadSHA: other.HeadSHA, Name: "remuda", Key: "k"})
			})
		}},
		{law: RunOnce, name: "failed by itself, and twice", story: "a run that fails", says: "for the 2th time", also: []string{Harmless}, patient: true, do: func(h hands) {
			h.over(1)
			h.calls(func(ctx context.Context, r judgedRuns) error { return r.RerunFailedJobs(ctx, repositoryOfRuns, 100) })
			run := h.over(2)
			h.calls(func(ctx context.Context, r judgedRuns) error {
				return r.RerunJob(ctx, repositoryOfRuns, run.Jobs[1].ID)
			})
		}},
		{law: Follows, name: "given back", story: "a run at GitHub", says: "and its run is over since", do: func(h hands) {
			h.phase("100", statemachine.Ready)
			h.hides()
		}},
		{law: Follows, name: "asked for", story: "a run that is run again", says: "is not asked for again", do: func(h hands) {
			h.phase("100", statemachine.PhaseReleased)
			h.hides()
		}},
		{law: OneNote, name: "twice", story: "a run at GitHub", says: "is left twice", patient: true, do: func(h hands) {
			run := h.over(1)
			h.w.hub.SetLatency(githubsim.Latency{API: time.Second})
			var both sync.WaitGroup
			for range 2 { // each looks before the other has left it
				both.Go(func() {
					h.calls(func(ctx context.Context, r judgedRuns) error {
						return r.LeaveCheckRun(ctx, repositoryOfRuns, githubapi.CheckRun{HeadSHA: run.HeadSHA, Name: "remuda", Key: "k"})
					})
				})
			}
			both.Wait()
			h.w.hub.SetLatency(githubsim.Latency{})
		}},
	}
}

// h24 is a day after the beginning of each story.
func h24(*store.Item) time.Time { return time.Now().Add(24 * time.Hour).Truncate(time.Second) }

// givesBack gives run 100 back in place of its client.
func (h hands) givesBack(mode store.ReleaseMode) {
	if _, err := store.New(h.t).ReleaseExactly(context.Background(), "100", 1, mode, store.RunOver); err != nil {
		h.w.verdicts.broke("records", "%v", err)
	}
}

// over waits until an attempt of run 100 is completed.
func (h hands) over(attempt int) (run githubsim.RunRecord) {
	h.until(func() bool {
		run, _ = h.w.hub.Workflows().Run(100) // not begun yet
		return run.Attempt == attempt && run.Status == githubapi.StatusCompleted
	})
	return run
}

// calls does something to runs as a controller does.
func (h hands) calls(do func(context.Context, judgedRuns) error) {
	if err := do(context.Background(), judgedRuns{h.w, h.w.hub.Workflows()}); err != nil {
		h.w.verdicts.broke("jobs", "%v", err)
	}
}

// hides takes from the controllers, unknown to the world, that they may see runs.
func (h hands) hides() {
	none := githubsim.Permissions{Actions: githubsim.AccessNone, Checks: githubsim.AccessNone}
	if err := h.w.hub.Workflows().SetPermissions(repositoryOfRuns, none); err != nil {
		h.w.verdicts.broke("jobs", "%v", err)
	}
}
