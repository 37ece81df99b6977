package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
)

// AtGitHub is what a workflow run has that is one at GitHub, under the number of its id. Who asks for its machines is a job of it,
// on a runner of GitHub's that is held until it is answered; nobody gives them back.
type AtGitHub struct {
	GitHub     bool          `script:"github"`
	Repository string        `script:"repository"`  // "": octo/repo
	Outside    bool          `script:"outside"`     // who asks is no job of it
	NoWait     bool          `script:"no-wait"`     // who asks does not wait for the answer
	ReleaseJob bool          `script:"release-job"` // its last job gives the machines back
	Foreign    bool          `script:"foreign"`     // none of its jobs wants the machines
	Fails      int           `script:"fails"`       // of its jobs, so many fail by themselves in the first attempt
	Later      int           `script:"later"`       // more jobs, which need the others
	Deploy     time.Duration `script:"deploy"`      // a last job on a runner of GitHub's takes so long, and needs the others
	Approval   time.Duration `script:"approval"`    // those wait so long for one
	Also       int           `script:"also"`        // machines and jobs of a second request for it, <id>-b

	Rerun      string        `script:"rerun"`       // all or failed: it is run again once it is over
	RerunAfter time.Duration `script:"rerun-after"` // so long after it is over
	Reruns     int           `script:"reruns"`      // how often; 0: once
	Jumps      bool          `script:"jumps"`       // each time it is cancelled at once, and run again
}

// What a run at GitHub may be run again with.
const (
	rerunAll    = "all"
	rerunFailed = "failed"
)

// repositoryOfRuns is the one of runs that name no other.
const repositoryOfRuns = "octo/repo"

// number is that of the run at GitHub.
func (f Workflow) number() int64 {
	id, _, _ := strings.Cut(f.ID, "-")
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// check refuses what no run at GitHub is.
func (f Workflow) checkGitHub() error {
	switch {
	case !f.GitHub && f.AtGitHub != (AtGitHub{}):
		return errors.New("github: is missing, must be there for what is of a run at GitHub")
	case !f.GitHub:
		return nil
	case f.number() < 1 || strings.Contains(f.ID, "-"):
		return fmt.Errorf("id: got %q, must be a whole number, at least 1, of a run at GitHub", f.ID)
	case f.Jobs+f.Early == 0:
		return errors.New("jobs, early: got none, must be at least 1 of a run at GitHub")
	case f.Attempt > 1:
		return errors.New("attempt: must be left out of a run at GitHub: it is run again with rerun")
	case f.Fails > f.Jobs+f.Early:
		return fmt.Errorf("fails: got %d, must be at most jobs and early", f.Fails)
	case f.Repository != "" && !store.ValidRepository(f.Repository):
		return fmt.Errorf("repository: got %q, must be owner/name", f.Repository)
	case f.Rerun == "" && (f.Reruns > 0 || f.RerunAfter > 0 || f.Jumps):
		return fmt.Errorf("rerun: is missing, must be %s or %s", rerunAll, rerunFailed)
	}
	return oneOf("rerun", f.Rerun, "", rerunAll, rerunFailed)
}

// names says which run at GitHub a request is for.
func (f *workflow) names(r *store.RunRequest) {
	if f.GitHub {
		r.Repository, r.WorkflowRun, r.WorkflowAttempt, r.NoWait = f.repository(), f.number(), f.Attempt, f.NoWait
	}
}

func (f Workflow) repository() string {
	if f.Repository != "" {
		return f.Repository
	}
	return repositoryOfRuns
}

// Keys of a run's jobs. Those that want machines are numbered.
const (
	keyProvision = "provision"
	keyRelease   = "release"
	keyFails     = "fails"
	keyLater     = "later"
	keyDeploy    = "deploy"
)

// spec is the run as GitHub knows it: who asks, the jobs of each request, those that need them, and who gives back.
func (f Workflow) spec() githubsim.RunSpec {
	s := githubsim.RunSpec{ID: f.number(), Repository: f.repository()}
	var all []string
	add := func(j githubsim.JobSpec) {
		s.Jobs = append(s.Jobs, j)
		all = append(all, j.Key)
	}
	for _, r := range f.requests() {
		var needs []string
		if !f.Outside {
			add(githubsim.JobSpec{Key: keyProvision + r.suffix(), Hosted: true, Held: true})
			needs = []string{keyProvision + r.suffix()}
		}
		for n := range r.Early + r.Jobs {
			j := githubsim.JobSpec{Key: fmt.Sprintf("job%s-%d", r.suffix(), n), Label: f.label(r.ID), Seconds: f.Job.Seconds(), Needs: needs, Hosted: f.Foreign}
			if n < r.Fails {
				j.Key = keyFails + strings.TrimPrefix(j.Key, "job")
			}
			if n < r.Early {
				j.Needs = nil
			}
			add(j)
		}
	}
	if f.Later > 0 {
		j := githubsim.JobSpec{
			Key: keyLater, Label: f.label(f.ID), Seconds: f.Job.Seconds(), Needs: all, Hosted: f.Foreign, Approval: f.Approval > 0,
		}
		for n := range f.Later {
			j.Matrix = append(j.Matrix, strconv.Itoa(n))
		}
		add(j)
	}
	if f.Deploy > 0 {
		add(githubsim.JobSpec{Key: keyDeploy, Hosted: true, Needs: all, Seconds: f.Deploy.Seconds()})
	}
	if f.ReleaseJob {
		add(githubsim.JobSpec{Key: keyRelease, Hosted: true, Held: true, Needs: all, Always: true})
	}
	return s
}

// label is that of jobs that want the machines of a request.
func (f Workflow) label(request string) string {
	if f.Foreign {
		return "" // GitHub's own
	}
	return request
}

// fails reports whether a job fails by itself.
func fails(j githubsim.Job) bool { return strings.HasPrefix(j.Name, keyFails) && j.RunAttempt == 1 }

// requests are those for the run, the second one under another id.
func (f Workflow) requests() []Workflow {
	out := []Workflow{f}
	if f.Also > 0 {
		b := f
		b.ID, b.Count, b.Jobs, b.Early, b.Fails = f.ID+"-b", f.Also, f.Also, 0, 0
		out = append(out, b)
	}
	return out
}

func (f Workflow) suffix() string {
	_, after, found := strings.Cut(f.ID, "-")
	if !found {
		return ""
	}
	return "-" + after
}

// githubRun is a run at GitHub under way: what people there do with it, and what its jobs on GitHub's runners do.
type githubRun struct {
	Workflow

	w   *World
	ctx context.Context //nolint:containedctx // until the world ends

	mu     sync.Mutex
	played map[int64]bool // jobs of GitHub's runners that are under way, or over
	over   bool           // nothing comes of it any more
	acted  time.Duration  // when it was
}

// startAtGitHub begins a run at GitHub.
func (fs *workflows) startAtGitHub(f Workflow) {
	ctx, cancel := context.WithCancel(context.Background())
	g := &githubRun{Workflow: f, w: fs.w, ctx: ctx, played: map[int64]bool{}}
	fs.mu.Lock()
	fs.atGitHub = append(fs.atGitHub, g)
	fs.mu.Unlock()
	fs.w.running.Go(func() { <-fs.w.ended; cancel() })
	if _, err := fs.w.hub.Workflows().Start(f.spec()); err != nil {
		fs.w.verdicts.broke("jobs", "start run %s: %v", f.ID, err)
		return
	}
	for _, r := range f.requests() {
		if f.Outside {
			fs.w.running.Go(func() { g.provision(r, 1, 0) })
		}
	}
	fs.w.running.Go(g.play)
	fs.w.running.Go(g.live)
	if f.CancelAfter > 0 {
		fs.w.later(f.CancelAfter, func(context.Context) { g.cancel() })
	}
}

// cancel is somebody's who cancels the run, if it is not over.
func (g *githubRun) cancel() {
	if err := g.w.hub.Workflows().Cancel(g.number()); err == nil {
		g.w.transcript.tellf("run %s is cancelled", g.ID)
	}
}

// live lets the run come to its end, and runs it again as often as it is to be.
func (g *githubRun) live() {
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.over, g.acted = true, g.w.since()
	}()
	for range g.times() - 1 {
		if !g.end() || wait(g.ctx, g.RerunAfter) != nil || !g.again() {
			return
		}
		if g.Jumps {
			g.cancel()
			if !g.end() || !g.again() {
				return
			}
		}
	}
	g.end()
}

// state returns whether nothing comes of the run any more, and since when.
func (g *githubRun) state() (over bool, acted time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.over, g.acted
}

// times is how often it runs.
func (f Workflow) times() int {
	if f.Rerun == "" {
		return 1
	}
	return 1 + max(f.Reruns, 1)
}

// limit is how long one attempt of it may take, before somebody cancels it.
func (g *githubRun) limit() time.Duration {
	r := (&workflow{Workflow: g.Workflow, w: g.w, proc: &process{clk: g.w.clock}}).request()
	return r.Timeout.Duration() + r.MaxRuntime.Duration() + g.Approval + g.w.o.paced(5*time.Minute)
}

// end waits until the run is over; one that takes too long is cancelled. It reports whether the story goes on.
func (g *githubRun) end() bool {
	patient, cancel := context.WithTimeout(g.ctx, g.limit())
	defer cancel()
	if _, err := g.w.hub.Workflows().Wait(patient, g.number()); err == nil {
		return true
	}
	g.cancel()
	_, err := g.w.hub.Workflows().Wait(g.ctx, g.number())
	return err == nil
}

// again runs the run again, and reports whether that could be done.
func (g *githubRun) again() bool {
	err := g.w.hub.Workflows().Rerun(g.number(), githubsim.Again{Failed: g.Rerun == rerunFailed})
	if err != nil {
		return false // none of its jobs failed, or the controller was quicker
	}
	g.w.transcript.tellf("run %s is run again: %s", g.ID, g.Rerun)
	return true
}

// play does what GitHub's own runners do, and who approves.
func (g *githubRun) play() {
	for {
		var job githubsim.RunJob
		var attempt int
		if g.w.hub.Until(g.ctx, func() bool {
			var found bool
			job, attempt, found = g.next()
			return found
		}) != nil {
			return
		}
		g.mu.Lock()
		g.played[job.ID] = true
		g.mu.Unlock()
		switch {
		case job.Status == githubapi.StatusWaiting:
			g.w.later(g.Approval, func(context.Context) {
				if g.w.hub.Workflows().Approve(g.number()) == nil {
					g.w.transcript.tellf("run %s is approved", g.ID)
				}
			})
		case job.Key == keyRelease:
			g.w.running.Go(func() { g.finish(job, g.release(attempt, job.ID)) })
		default:
			for _, r := range g.requests() {
				if job.Key == keyProvision+r.suffix() {
					g.w.running.Go(func() { g.finish(job, g.provision(r, attempt, job.ID)) })
				}
			}
		}
	}
}

// next returns a job that waits for an approval, or for what one of GitHub's runners does.
func (g *githubRun) next() (job githubsim.RunJob, attempt int, found bool) {
	run, err := g.w.hub.Workflows().Run(g.number())
	if err != nil {
		return job, 0, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, j := range run.Jobs {
		held := j.Status == githubapi.StatusInProgress && (j.Key == keyRelease || strings.HasPrefix(j.Key, keyProvision))
		if (held || j.Status == githubapi.StatusWaiting) && !g.played[j.ID] {
			return j, run.Attempt, true
		}
	}
	return job, 0, false
}

// finish ends a job of GitHub's runners, unless somebody else has.
func (g *githubRun) finish(job githubsim.RunJob, ok bool) {
	c := githubsim.Success
	if !ok {
		c = githubsim.Failure
	}
	_ = g.w.hub.Workflows().Finish(job.ID, c) // it was cancelled
}

// client plays a program that asks or gives back in an attempt of the run, as long as the job that it is, if it is one, runs. It
// reports whether it could.
func (g *githubRun) client(r Workflow, attempt int, job int64, name string, do func(ctx context.Context, f *workflow) bool) bool {
	r.Attempt, r.CancelAfter = attempt, 0
	p := g.w.newProcess(Client, fmt.Sprintf("%s-%s.%d", name, r.ID, attempt))
	f := &workflow{Workflow: r, w: g.w, proc: p, store: g.w.store(p), began: g.w.clock.Now(), own: attempt}
	f.note(func() { g.w.workflows.all = append(g.w.workflows.all, f) })
	defer f.note(func() { f.over = true })
	defer context.AfterFunc(g.ctx, p.kill)()
	ctx, cancel := context.WithCancel(g.ctx)
	defer cancel()
	if job > 0 {
		g.w.running.Go(func() {
			if g.w.hub.Until(ctx, func() bool { return !g.runs(job) }) == nil {
				p.end()
			}
		})
	}
	return do(p.ctx, f) && p.alive()
}

// runs reports whether a job of the latest attempt runs.
func (g *githubRun) runs(job int64) bool {
	run, err := g.w.hub.Workflows().Run(g.number())
	return err == nil && slices.ContainsFunc(run.Jobs, func(j githubsim.RunJob) bool { return j.ID == job && j.Status == githubapi.StatusInProgress })
}

// provision asks for machines, and waits for them if it is to.
func (g *githubRun) provision(r Workflow, attempt int, job int64) bool {
	return g.client(r, attempt, job, "client", func(ctx context.Context, f *workflow) bool {
		if f.NoWait {
			return f.ask(ctx)
		}
		return f.provision(ctx)
	})
}

// release gives the machines of an attempt back.
func (g *githubRun) release(attempt int, job int64) bool {
	for _, r := range g.requests() {
		if !g.client(r, attempt, job, "release", func(ctx context.Context, f *workflow) bool { return f.release(ctx, f.store, store.ReleaseDrain) }) {
			return false
		}
	}
	return true
}
