package githubsim_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// lag is how late the API of the model shows runs, in its steps of a second.
const lag = 3

// runsModel does random things to runs, and holds what may be said of any of them.
type runsModel struct {
	hub     *githubsim.Hub
	clock   jumpClock
	ctx     context.Context //nolint:containedctx // of one check
	specs   map[int64]githubsim.RunSpec
	busy    []*githubsim.Session // each with the job of jobs
	jobs    []string
	past    [][]githubsim.RunRecord // one a second
	before  map[int64]githubsim.RunRecord
	runners int
}

func (m *runsModel) start(t *rapid.T) {
	s := githubsim.RunSpec{}
	for i := range rapid.IntRange(1, 5).Draw(t, "jobs") {
		j := githubsim.JobSpec{Key: fmt.Sprintf("j%d", i), Label: "42", Always: rapid.IntRange(0, 4).Draw(t, "always") == 0}
		for _, other := range s.Jobs {
			if rapid.Bool().Draw(t, "need") {
				j.Needs = append(j.Needs, other.Key)
			}
		}
		if rapid.Bool().Draw(t, "hosted") {
			j.Hosted, j.Seconds = true, float64(rapid.IntRange(0, 5).Draw(t, "seconds"))
			j.Held = rapid.Bool().Draw(t, "held")
			j.Conclusion = rapid.SampledFrom([]githubsim.Conclusion{"", githubsim.Failure}).Draw(t, "conclusion")
		}
		if n := rapid.IntRange(0, 3).Draw(t, "legs"); n > 1 {
			j.Matrix = []string{"a", "b", "c"}[:n]
		}
		j.Approval = rapid.IntRange(0, 4).Draw(t, "approval") == 0
		s.Jobs = append(s.Jobs, j)
	}
	r, err := m.hub.Workflows().Start(s)
	check(t, err)
	m.specs[r.ID] = s
}

func (m *runsModel) anyRun(t *rapid.T) githubsim.RunRecord {
	all := m.hub.Workflows().List()
	if len(all) == 0 {
		t.Skip("no run")
	}
	return rapid.SampledFrom(all).Draw(t, "run")
}

// take has a new runner take the job that has waited longest.
func (m *runsModel) take(t *rapid.T) {
	i := slices.IndexFunc(m.hub.Jobs(), func(j githubsim.JobRecord) bool { return j.State == githubsim.Queued })
	if i < 0 {
		t.Skip("no job waits")
	}
	m.runners++
	j, err := m.hub.JITConfig(m.ctx, fmt.Sprintf("i-%d-1", m.runners), "42")
	check(t, err)
	c, err := githubsim.DecodeJIT(j.Config)
	check(t, err)
	s, err := m.hub.Connect(m.ctx, c)
	check(t, err)
	got, err := s.Next(m.ctx, 0)
	check(t, err)
	m.busy, m.jobs = append(m.busy, s), append(m.jobs, got.Job.ID)
}

func (m *runsModel) complete(t *rapid.T) {
	if len(m.busy) == 0 {
		t.Skip("no job runs")
	}
	i := rapid.IntRange(0, len(m.busy)-1).Draw(t, "runner")
	c := rapid.SampledFrom([]githubsim.Conclusion{githubsim.Success, githubsim.Success, githubsim.Failure, githubsim.Cancelled}).Draw(t, "conclusion")
	check(t, m.busy[i].Complete(m.ctx, m.jobs[i], c))
	m.busy, m.jobs = slices.Delete(m.busy, i, i+1), slices.Delete(m.jobs, i, i+1)
}

func (m *runsModel) finish(t *rapid.T) {
	r := m.anyRun(t)
	if len(r.Jobs) == 0 {
		t.Fatalf("run without a job: %+v", r)
	}
	j := rapid.SampledFrom(r.Jobs).Draw(t, "job")
	err := m.hub.Workflows().Finish(j.ID, githubsim.Success)
	if ok := j.Runner == "GitHub Actions" && j.Status == githubapi.StatusInProgress; (err == nil) != ok {
		t.Fatalf("Finish(%+v) = %v", j, err)
	}
}

func (m *runsModel) cancel(t *rapid.T) {
	r := m.anyRun(t)
	if err := m.hub.Workflows().Cancel(r.ID); (err == nil) == (r.Status == githubapi.StatusCompleted) {
		t.Fatalf("Cancel() = %v of %s", err, line(r))
	}
}

func (m *runsModel) approve(t *rapid.T) {
	r := m.anyRun(t)
	waits := slices.ContainsFunc(r.Jobs, func(j githubsim.RunJob) bool { return j.Status == githubapi.StatusWaiting })
	if err := m.hub.Workflows().Approve(r.ID); (err == nil) != waits {
		t.Fatalf("Approve() = %v of %s", err, line(r))
	}
}

// rerun runs a run again and holds what the new attempt begins with to the one before.
func (m *runsModel) rerun(t *rapid.T) {
	r := m.anyRun(t)
	which := rapid.SampledFrom([]githubsim.Again{{}, {Failed: true}, {Job: rapid.SampledFrom(r.Jobs).Draw(t, "job").ID}}).Draw(t, "which")
	chosen := func(j githubsim.RunJob) bool {
		switch {
		case which.Failed:
			return j.Conclusion == githubapi.ConclusionFailure || j.Conclusion == githubapi.ConclusionCancelled
		case which.Job != 0:
			return j.ID == which.Job
		}
		return true
	}
	err := m.hub.Workflows().Rerun(r.ID, which)
	ok := r.Status == githubapi.StatusCompleted && slices.ContainsFunc(r.Jobs, chosen)
	if (err == nil) != ok {
		t.Fatalf("Rerun(%+v) = %v of %s", which, err, line(r))
	}
	if err != nil {
		expect(t, "Rerun()", err, githubapi.ErrRefused)
		return
	}
	anew := map[string]bool{} // keys
	for _, j := range r.Jobs {
		anew[j.Key] = anew[j.Key] || chosen(j)
	}
	dependants := map[string]bool{}
	for _, s := range m.specs[r.ID].Jobs {
		dependants[s.Key] = slices.ContainsFunc(s.Needs, func(need string) bool { return anew[need] })
		anew[s.Key] = anew[s.Key] || dependants[s.Key]
	}
	now, err := m.hub.Workflows().Run(r.ID)
	check(t, err)
	for _, j := range r.Jobs {
		carried := slices.ContainsFunc(now.Jobs, func(o githubsim.RunJob) bool {
			return o.Name == j.Name && o.Conclusion == j.Conclusion && o.FinishedAt.Equal(j.FinishedAt) && o.ID != j.ID
		})
		if kept := !chosen(j) && !dependants[j.Key]; kept && !carried {
			t.Fatalf("after Rerun(%+v) of %s: %s, which does not carry %s over", which, line(r), line(now), j.Name)
		}
	}
}

// second lets one second pass and keeps what was so at its beginning.
func (m *runsModel) second(*rapid.T) {
	m.past = append(m.past, m.hub.Workflows().List())
	m.clock.Step(time.Second)
}

func (m *runsModel) check(t *rapid.T) {
	all := m.hub.Workflows().List()
	for _, r := range all {
		m.checkRun(t, r)
	}
	ran := map[string]bool{} // by attempt and name
	for _, j := range m.hub.Jobs() {
		key := fmt.Sprint(j.RunID, j.RunAttempt, j.Name)
		if ran[key] {
			t.Fatalf("job %s of run %s was queued twice in attempt %d", j.Name, j.RunID, j.RunAttempt)
		}
		ran[key] = true
	}
	for _, reg := range m.hub.Registrations() {
		if len(reg.Jobs) != 1 {
			t.Fatalf("runner %s had jobs %v, want one", reg.Name, reg.Jobs)
		}
	}
	m.checkView(t)
}

func (m *runsModel) checkRun(t *rapid.T, r githubsim.RunRecord) {
	if old, ok := m.before[r.ID]; ok && (r.Attempt < old.Attempt || r.Attempt > old.Attempt+1 || r.HeadSHA != old.HeadSHA) {
		t.Fatalf("run %s became %s", line(old), line(r))
	} else if ok && r.Attempt == old.Attempt && old.Status == githubapi.StatusCompleted && line(old) != line(r) {
		t.Fatalf("completed run %s became %s", line(old), line(r))
	}
	m.before[r.ID] = r
	legs := 0
	over := map[string]bool{} // by key: all of it ended
	good := map[string]bool{} // by key: all of it succeeded
	for _, s := range m.specs[r.ID].Jobs {
		of := slices.DeleteFunc(slices.Clone(r.Jobs), func(j githubsim.RunJob) bool { return j.Key != s.Key })
		legs += len(of)
		not := func(status func(githubsim.RunJob) bool) bool {
			return len(of) > 0 && !slices.ContainsFunc(of, func(j githubsim.RunJob) bool { return !status(j) })
		}
		over[s.Key] = not(func(j githubsim.RunJob) bool { return j.Status == githubapi.StatusCompleted })
		good[s.Key] = not(func(j githubsim.RunJob) bool { return j.Conclusion == githubapi.ConclusionSuccess })
		wait := slices.ContainsFunc(s.Needs, func(need string) bool { return !over[need] })
		if wait != (len(of) == 0) {
			t.Fatalf("%s: job %s is listed %d times while its needs %v are over %v", line(r), s.Key, len(of), s.Needs, over)
		}
		for _, j := range of {
			bad := slices.ContainsFunc(s.Needs, func(need string) bool { return !good[need] })
			if bad && !s.Always && j.Conclusion != githubapi.ConclusionSkipped {
				t.Fatalf("%s: job %s, though its needs %v are good %v", line(r), j.Name, s.Needs, good)
			}
		}
		if wait && r.Status == githubapi.StatusCompleted {
			t.Fatalf("%s is completed without %s", line(r), s.Key)
		}
	}
	unfinished := slices.ContainsFunc(r.Jobs, func(j githubsim.RunJob) bool { return j.Status != githubapi.StatusCompleted })
	if unfinished == (r.Status == githubapi.StatusCompleted) || (r.Conclusion == "") != unfinished || legs != len(r.Jobs) {
		t.Fatalf("run is %s", line(r))
	}
}

// checkView compares what the API shows with what was so as long ago as it is late.
func (m *runsModel) checkView(t *rapid.T) {
	if len(m.past) < lag {
		return
	}
	want := map[int64]githubapi.WorkflowRun{}
	for _, r := range m.past[len(m.past)-lag] {
		if r.Status == githubapi.StatusQueued || r.Status == githubapi.StatusInProgress {
			want[r.ID] = githubapi.WorkflowRun{ID: r.ID, Attempt: r.Attempt, Status: r.Status, HeadSHA: r.HeadSHA}
		}
	}
	got := map[int64]githubapi.WorkflowRun{}
	active, err := m.hub.Workflows().ActiveRuns(m.ctx, repository)
	check(t, err)
	for _, r := range active {
		got[r.ID] = r
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("the API shows (-what was so +got):\n%s", diff)
	}
}

// Random workflows, runners, cancellations and re-runs: a completed run has no unfinished job, attempts only rise by
// one, a job runs once an attempt, and the API shows what was so.
func TestModel_Runs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clk := jumpClock{clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
		m := &runsModel{
			clock: clk, ctx: t.Context(), hub: githubsim.New(githubsim.Options{Clock: clk, SessionTimeout: time.Hour}),
			specs: map[int64]githubsim.RunSpec{}, before: map[int64]githubsim.RunRecord{},
		}
		check(rt, m.hub.Workflows().SetView(githubsim.View{Lag: lag * time.Second}))
		rt.Repeat(map[string]func(*rapid.T){
			"start":     m.start,
			"take":      m.take,
			"take2":     m.take,
			"complete":  m.complete,
			"complete2": m.complete,
			"finish":    m.finish,
			"cancel":    m.cancel,
			"approve":   m.approve,
			"rerun":     m.rerun,
			"rerun2":    m.rerun,
			"second":    m.second,
			"second2":   m.second,
			"":          m.check,
		})
	})
}
