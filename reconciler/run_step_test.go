package reconciler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/store"
)

func TestNextRunStep(t *testing.T) {
	run := func(attempt int, status, conclusion string) githubapi.WorkflowRun {
		return githubapi.WorkflowRun{ID: 4711, Attempt: attempt, Status: status, Conclusion: conclusion}
	}
	going, waits := run(1, githubapi.StatusInProgress, ""), run(1, githubapi.StatusWaiting, "")
	over, cancelled := run(1, githubapi.StatusCompleted, "failure"), run(1, githubapi.StatusCompleted, "cancelled")
	again := run(2, githubapi.StatusQueued, "")
	released := runStep{release: store.ReleaseDrain, reason: store.RunOver}
	for _, tt := range []struct {
		name string
		f    runFacts
		want runStep
	}{
		{"GoesOn", runFacts{live: true, view: going}, runStep{}},
		{"Over", runFacts{live: true, view: over}, released},
		{"Cancelled", runFacts{live: true, view: cancelled}, runStep{release: store.ReleaseNow, reason: store.RunOver}},
		{"OverAndGivenBack", runFacts{view: over}, runStep{}},
		{"Gone", runFacts{live: true, gone: true}, released},
		{"GoneAndGivenBack", runFacts{gone: true}, runStep{}},
		{"ViewOfAnEarlierAttempt", runFacts{attempt: 2, live: true, view: over, age: neverBegunAfter - 1}, runStep{}},
		{"ViewOfAnEarlierAttemptThatGoesOn", runFacts{attempt: 2, live: true, view: going, age: neverBegunAfter}, runStep{}},
		{"NoSuchAttempt", runFacts{attempt: 2, live: true, view: over, age: neverBegunAfter}, released},
		{"NoSuchAttemptFailed", runFacts{attempt: 2, failed: true, view: over, age: neverBegunAfter}, runStep{moot: true}},

		{"WaitsJobsUnknown", runFacts{live: true, view: waits}, runStep{jobs: true}},
		{"WaitsWithAJob", runFacts{live: true, view: waits, jobs: &jobsOfRun{ours: true, queued: 1}, quiet: 0}, runStep{}},
		{"WaitsNotForLong", runFacts{live: true, view: waits, jobs: &jobsOfRun{}, quiet: quietFor - 1}, runStep{}},
		{"WaitsForLong", runFacts{live: true, view: waits, jobs: &jobsOfRun{}, quiet: quietFor}, runStep{release: store.ReleaseDrain, reason: store.RunWaits}},
		{"GoesOnAfterApproval", runFacts{back: store.RunWaits, count: 3, original: 3, view: going, jobs: &jobsOfRun{ours: true, queued: 2, running: 1}}, runStep{ask: 2}},
		{"GoesOnAfterApprovalJobsUnknown", runFacts{back: store.RunWaits, view: going}, runStep{jobs: true}},
		{"GivenBackByItsClient", runFacts{count: 3, original: 3, view: going, jobs: &jobsOfRun{ours: true, queued: 2}}, runStep{}},

		{"AgainJobsUnknown", runFacts{view: again}, runStep{jobs: true}},
		{"AgainNoneWaits", runFacts{original: 3, view: again, jobs: &jobsOfRun{ours: true}}, runStep{}},
		{"AgainNoneWaitsWhileTheLastIsHeld", runFacts{live: true, original: 3, view: again, jobs: &jobsOfRun{ours: true}}, released},
		{"Again", runFacts{original: 3, view: again, jobs: &jobsOfRun{ours: true, queued: 2}}, runStep{ask: 2}},
		{"AgainAtMostTheOriginalCount", runFacts{original: 3, view: again, jobs: &jobsOfRun{ours: true, queued: 9}}, runStep{ask: 3}},
		{"AgainAndOver", runFacts{live: true, original: 3, view: run(2, githubapi.StatusCompleted, "success")}, released},
		{"AttemptsJump", runFacts{original: 3, view: run(5, githubapi.StatusInProgress, ""), jobs: &jobsOfRun{ours: true, queued: 1}}, runStep{ask: 1}},

		{"MoreComeToWaitUnknown", runFacts{live: true, byController: true, count: 1, original: 10, view: going}, runStep{jobs: true}},
		{"MoreComeToWait", runFacts{live: true, byController: true, count: 1, original: 10, view: going, jobs: &jobsOfRun{ours: true, queued: 9, running: 1}}, runStep{grow: 10}},
		{"NoMoreThanBefore", runFacts{live: true, byController: true, count: 10, original: 10, view: going, jobs: &jobsOfRun{ours: true, queued: 30}}, runStep{}},
		{"NeverFewer", runFacts{live: true, byController: true, count: 5, original: 10, view: going, jobs: &jobsOfRun{ours: true, running: 1}}, runStep{}},

		{"FailedJobsUnknown", runFacts{failed: true, view: going}, runStep{jobs: true}},
		{"FailedNoJobOfItsLabel", runFacts{failed: true, view: going, jobs: &jobsOfRun{}}, runStep{}},
		{"FailedItsJobsWait", runFacts{failed: true, view: going, jobs: &jobsOfRun{ours: true, queued: 1}}, runStep{cancel: true}},
		{"FailedItsJobsAreOver_Review_C1", runFacts{failed: true, view: going, jobs: &jobsOfRun{ours: true}}, runStep{}},
		{"FailedItsJobsRun_Review_C1b", runFacts{failed: true, view: going, jobs: &jobsOfRun{ours: true, running: 1}}, runStep{}},
		{"FailedAndOver", runFacts{failed: true, view: over, jobs: &jobsOfRun{ours: true}}, runStep{moot: true}},
		{"FailedAndGone", runFacts{failed: true, gone: true}, runStep{moot: true}},
		{"FailedAndRunAgain", runFacts{failed: true, original: 3, view: again, jobs: &jobsOfRun{ours: true}}, runStep{moot: true}},
	} {
		if tt.f.attempt == 0 {
			tt.f.attempt = 1
		}
		if got := nextRunStep(tt.f); got != tt.want {
			t.Errorf("%s: nextRunStep = %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// Whatever GitHub shows: machines are freed only of a run that is over, gone, run again, or has long waited with no job; asked for
// only where a job waits, and never more than a client did; and a run is cancelled only if a job waits for the request's runners.
func TestNextRunStep_Always(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.IntRange(0, 4)
		f := runFacts{
			attempt: rapid.IntRange(1, 3).Draw(t, "attempt"), count: small.Draw(t, "count"), original: small.Draw(t, "original"),
			byController: rapid.Bool().Draw(t, "byController"), live: rapid.Bool().Draw(t, "live"), failed: rapid.Bool().Draw(t, "failed"),
			back: rapid.SampledFrom([]store.ReleaseReason{"", store.RunOver, store.RunWaits}).Draw(t, "back"),
			view: githubapi.WorkflowRun{
				Attempt:    rapid.IntRange(1, 3).Draw(t, "view"),
				Status:     rapid.SampledFrom([]string{"queued", "in_progress", "waiting", "completed", "pending", "requested", "new"}).Draw(t, "status"),
				Conclusion: rapid.SampledFrom([]string{"", "success", "cancelled"}).Draw(t, "conclusion"),
			},
			gone: rapid.Bool().Draw(t, "gone"), quiet: time.Duration(rapid.Int64Range(0, int64(2*quietFor)).Draw(t, "quiet")),
		}
		if rapid.Bool().Draw(t, "known") {
			f.jobs = &jobsOfRun{ours: true, queued: rapid.IntRange(0, 2).Draw(t, "queued"), running: rapid.IntRange(0, 2).Draw(t, "running")}
		}
		f.failed = f.failed && !f.live
		step := nextRunStep(f)
		waits := f.jobs != nil && f.jobs.queued > 0
		switch {
		case step.release != "" && !f.live:
			t.Fatalf("releases what is not held: %+v", step)
		case step.reason == store.RunOver && !f.gone && !f.view.Completed() && f.view.Attempt <= f.attempt:
			t.Fatalf("releases a run that goes on: %+v", step)
		case step.reason == store.RunWaits && (f.view.Status != "waiting" || f.quiet < quietFor || waits || f.jobs.running > 0):
			t.Fatalf("releases a run whose jobs do not wait for an approval: %+v", step)
		case step.ask+step.grow > 0 && (!waits || f.gone || f.view.Completed() || max(step.ask, step.grow) > f.original):
			t.Fatalf("asks for machines for nobody: %+v", step)
		case step.grow > 0 && step.grow <= f.count:
			t.Fatalf("grows to no more: %+v", step)
		case step.cancel && (!waits || !f.failed || f.view.Completed()):
			t.Fatalf("cancels a run without a job that waits for the request's runners: %+v", step)
		case f.jobs != nil && step.jobs:
			t.Fatalf("asks for jobs that are known: %+v", step)
		case f.view.Attempt < f.attempt && !f.gone && cmp.Diff(step, runStep{}, cmp.AllowUnexported(runStep{})) != "":
			t.Fatalf("acts on a view that is late: %+v", step)
		}
	})
}
