package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Workflow is one workflow run: it asks, waits, runs its jobs and gives back.
type Workflow struct {
	ID      string   `script:"id,first"`
	Attempt int      `script:"attempt"` // from 1; 0 is 1
	Count   int      `script:"count"`
	Class   string   `script:"class"` // "" is small
	Types   []string `script:"types"` // patterns; none: all
	Usage   []string `script:"usage"` // none: spot

	Early   int           `script:"early"`   // jobs that need nothing: submitted at once
	Jobs    int           `script:"jobs"`    // submitted once it is Ready
	Job     time.Duration `script:"job"`     // how long each runs
	Lingers time.Duration `script:"lingers"` // how long a job goes on once it is cancelled
	Hold    time.Duration `script:"hold"`    // it keeps its machines so long after the last job
	Timeout time.Duration `script:"timeout"` // 0: 10 min
	Max     time.Duration `script:"max"`     // max runtime; 0: 30 min

	CancelAfter  time.Duration `script:"cancel"`  // the run is cancelled so long after its beginning; 0: never
	VanishAfter  time.Duration `script:"vanish"`  // its computer is gone so long after its beginning; 0: never
	ReleaseAfter time.Duration `script:"release"` // somebody gives its machines back so long after its beginning; 0: never
	Forgets      bool          `script:"forgets"` // it never gives back
	Garbled      bool          `script:"garbled"` // what it writes as its repository is none

	AtGitHub
}

// workflow is a Workflow under way.
type workflow struct {
	Workflow

	w        *World
	proc     *process
	store    *store.Store
	began    time.Time
	own      int           // attempt that the store gave it; guarded by workflows.mu
	answered time.Duration // when its client read the answer; guarded by workflows.mu
	outlived bool          // its jobs were cancelled because its time was over; guarded by workflows.mu
	unserved time.Duration // since when its jobs are cancelled because it was given no machines; 0: never; guarded by workflows.mu
	acted    time.Duration // when it last wanted something; guarded by workflows.mu
	over     bool          // it will do nothing any more; guarded by workflows.mu
}

// workflows are those that have begun.
type workflows struct {
	w *World

	mu       sync.Mutex
	all      []*workflow
	atGitHub []*githubRun
	cut      map[string]bool // jobs that a test wants to end before they are done: see Live
}

// clientPoll is how often a client reads its status, about as often as the action does.
const clientPoll = 500 * time.Millisecond

// start begins a workflow run.
func (fs *workflows) start(f Workflow) {
	if f.GitHub {
		fs.startAtGitHub(f)
		return
	}
	f.Attempt = max(f.Attempt, 1)
	p := fs.w.newProcess(Client, fmt.Sprintf("client-%s.%d", f.ID, f.Attempt))
	fl := &workflow{Workflow: f, w: fs.w, proc: p, store: fs.w.store(p), began: fs.w.clock.Now(), own: f.Attempt}
	fs.mu.Lock()
	fs.all = append(fs.all, fl)
	fs.mu.Unlock()
	fs.w.running.Go(func() {
		defer fl.note(func() { fl.over = true })
		fl.run(p.ctx)
	})
	if f.VanishAfter > 0 {
		fs.w.later(f.VanishAfter, func(context.Context) { p.crash() })
	}
	if f.ReleaseAfter > 0 {
		other := fs.w.newProcess(Client, p.name+"-other")
		fs.w.later(f.ReleaseAfter, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, fs.w.o.paced(time.Minute))
			defer cancel()
			fl.release(ctx, fs.w.store(other), store.ReleaseDrain)
		})
	}
}

func (f *workflow) run(ctx context.Context) {
	patient, cancel := ctx, context.CancelFunc(func() {})
	if f.CancelAfter > 0 {
		patient, cancel = context.WithTimeout(ctx, f.CancelAfter)
	}
	defer cancel()
	// Jobs have a time limit of their own: GitHub ends them once the machines may be gone.
	patient, enough := context.WithTimeout(patient, f.request().Timeout.Duration()+f.request().MaxRuntime.Duration()+f.w.o.paced(5*time.Minute))
	defer enough()
	f.queue(0, f.Early)
	mode := store.ReleaseDrain
	if !f.provision(patient) {
		f.note(func() { f.unserved = f.w.since() })
		f.cancelJobs(f.Early)
		mode = store.ReleaseNow
	} else if !f.work(patient) {
		mode = store.ReleaseNow
	}
	f.note(func() { f.acted, f.outlived = f.w.since(), errors.Is(patient.Err(), context.DeadlineExceeded) })
	if !f.Forgets {
		f.giveBack(ctx, mode)
	}
}

// note changes what workflows.mu guards.
func (f *workflow) note(change func()) {
	f.w.workflows.mu.Lock()
	defer f.w.workflows.mu.Unlock()
	change()
}

func (f *workflow) id() store.RequestID { return store.RequestID(f.ID) }

// request is what it asks for.
func (f *workflow) request() store.RunRequest {
	r := store.RunRequest{
		ID: f.id(), Attempt: f.Attempt, Count: f.Count, UsageClasses: f.Usage, AllowedInstanceTypes: f.Types,
		ResourceClass: cmp.Or(f.Class, "small"), MaxRuntime: store.SecondsOf(cmp.Or(f.Max, f.w.o.paced(30*time.Minute))),
		Timeout: store.SecondsOf(cmp.Or(f.Timeout, f.w.o.paced(10*time.Minute))), CreatedAt: store.At(f.proc.clk.Now()),
	}
	f.names(&r)
	if f.Garbled {
		r.Repository = "octo/" + strings.Repeat("\x00é", 120)
	}
	if len(r.UsageClasses) == 0 {
		r.UsageClasses = []string{store.Spot}
	}
	if len(r.AllowedInstanceTypes) == 0 {
		r.AllowedInstanceTypes = []string{"*"}
	}
	return r
}

// until repeats look until it says done, at most as long as ctx lives. Errors are looked away from, as a
// client with a time limit does.
func (f *workflow) until(ctx context.Context, look func(context.Context) (bool, error)) bool {
	for ctx.Err() == nil {
		ok, err := look(ctx)
		if ok || errors.Is(err, store.ErrOldAttempt) {
			return ok
		}
		_ = wait(ctx, f.w.o.paced(clientPoll)) // its end ends the loop
	}
	return false
}

// ask writes what it wants. It reports whether that is stored.
func (f *workflow) ask(ctx context.Context) bool {
	want := f.request()
	return f.until(ctx, func(ctx context.Context) (bool, error) {
		out, err := f.store.Submit(ctx, want)
		if err == nil {
			f.note(func() { f.own = out.Attempt })
		}
		return err == nil, err
	})
}

// provision asks and waits for an answer. It reports whether the run has its machines.
func (f *workflow) provision(ctx context.Context) bool {
	if !f.ask(ctx) {
		return false
	}
	ready := false
	var notified time.Time
	f.until(ctx, func(ctx context.Context) (bool, error) {
		st, err := f.store.Status(ctx, store.Eventual, f.id())
		if err == nil && st.Attempt == f.own && st.OriginalCount == 0 && st.Phase != statemachine.Pending {
			if ready = st.Phase == statemachine.Ready; ready {
				f.w.history.holding(f.id(), f.own, int64(f.began.Sub(f.w.begin)), st.Instances)
			}
			return true, nil
		}
		if f.w.clock.Since(notified) >= f.w.o.paced(3*time.Second) {
			notified = f.w.clock.Now()
			err = errors.Join(err, f.store.Seen(ctx, f.id(), f.own, f.proc.clk.Now()))
			if st.Attempt != f.own {
				err = errors.Join(err, f.store.Notify(ctx, f.id()))
			}
		}
		return false, err
	})
	if ctx.Err() == nil {
		f.note(func() { f.answered = f.w.since() })
	}
	return ready
}

// work lets GitHub run the jobs. It reports whether they came to their end.
func (f *workflow) work(ctx context.Context) bool {
	all := f.Early + f.Jobs
	f.queue(f.Early, all)
	for n := range all {
		if _, err := f.w.hub.Wait(ctx, f.job(n)); err != nil {
			f.cancelJobs(all)
			return false
		}
	}
	return wait(ctx, f.Hold) == nil
}

// queue submits the jobs from one to before another.
func (f *workflow) queue(from, to int) {
	for n := from; n < to; n++ {
		err := f.w.hub.Submit(githubsim.Job{ID: f.job(n), RunID: f.ID, Label: f.ID, Seconds: f.Job.Seconds()})
		if err != nil {
			f.w.verdicts.broke("jobs", "submit job %d of %s: %v", n, f.ID, err)
		}
	}
}

// job names a job.
func (f *workflow) job(n int) string { return fmt.Sprintf("%s.%d-%d", f.ID, f.Attempt, n) }

// owns reports whether a job is one of this attempt's.
func (f *workflow) owns(job string) bool {
	return strings.HasPrefix(job, fmt.Sprintf("%s.%d-", f.ID, f.Attempt))
}

// lingers is how long a job goes on once it is cancelled.
func (fs *workflows) lingers(job string) time.Duration {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.all {
		if f.owns(job) {
			return f.Lingers
		}
	}
	return 0
}

// waitsFor reports whether the client of an attempt lives and waits.
func (fs *workflows) waitsFor(id store.RequestID, attempt int) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.ContainsFunc(fs.all, func(f *workflow) bool {
		return f.id() == id && f.own == attempt && !f.over && f.proc.alive() && f.CancelAfter == 0
	})
}

// gaveUp reports whether somebody wanted a job to end: its run was cancelled, there or at GitHub, forgotten, given back or given
// no machines, its time was over, or a newer attempt took its place.
func (fs *workflows) gaveUp(j githubsim.JobRecord) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	newest := 0
	for _, f := range fs.all {
		if f.ID == j.Label {
			newest = max(newest, f.Attempt)
		}
	}
	return fs.cut[j.ID] || fs.w.truth.facts.runs.wanted(j) || slices.ContainsFunc(fs.all, func(f *workflow) bool {
		return f.ID == j.Label && f.owns(j.ID) &&
			(f.CancelAfter > 0 || f.VanishAfter > 0 || f.Forgets || f.Attempt < newest || f.outlived || f.unserved > 0 && j.FinishedAt.Sub(fs.w.begin) >= f.unserved)
	})
}

// lastWish is how long after an instant the last workflow was done with its jobs: what follows is for the
// installation to settle.
func (fs *workflows) lastWish(from time.Time) time.Duration {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	last := time.Duration(0)
	for _, f := range fs.all {
		last = max(last, f.acted-from.Sub(fs.w.begin))
	}
	for _, g := range fs.atGitHub {
		_, acted := g.state()
		last = max(last, acted-from.Sub(fs.w.begin))
	}
	return last
}

// longest is how long a run that nobody gives back may go on.
func (fs *workflows) longest() time.Duration {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var d time.Duration
	for _, f := range fs.all {
		d = max(d, f.Max, fs.w.o.paced(30*time.Minute))
	}
	for _, g := range fs.atGitHub {
		d = max(d, time.Duration(2*g.times())*(g.limit()+g.RerunAfter))
	}
	return d
}

// find returns the client of a workflow that is not over; nil if there is none of that name.
func (fs *workflows) find(client string) *process {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.all {
		if f.proc.name == client && !f.over {
			return f.proc
		}
	}
	return nil
}

// underWay names a workflow that is not over; "": all are.
func (fs *workflows) underWay() string {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, f := range fs.all {
		if !f.over {
			return f.ID
		}
	}
	for _, g := range fs.atGitHub {
		if over, _ := g.state(); !over {
			return g.ID
		}
	}
	return ""
}

// needsOthers reports whether a job of a run needs others, by its key: GitHub runs it again with them.
func (fs *workflows) needsOthers(run int64, key string) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.ContainsFunc(fs.atGitHub, func(g *githubRun) bool {
		return g.number() == run && (key == keyLater || key == keyRelease || key == keyDeploy)
	})
}

// end lets the test that drives a world end a job before it is done.
func (fs *workflows) end(job string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.cut[job] = true
}

// cancelJobs cancels the first n jobs.
func (f *workflow) cancelJobs(n int) {
	for i := range n {
		if err := f.w.hub.Cancel(f.job(i)); err != nil {
			f.w.verdicts.broke("jobs", "cancel job %d of %s: %v", i, f.ID, err)
		}
	}
}

// giveBack releases and waits until nothing is held.
func (f *workflow) giveBack(ctx context.Context, mode store.ReleaseMode) {
	f.release(ctx, f.store, mode)
	f.until(ctx, func(ctx context.Context) (bool, error) {
		st, err := f.store.Status(ctx, store.Eventual, f.id())
		return errors.Is(err, store.ErrNotFound) || err == nil && (st.Attempt != f.own || st.Phase == statemachine.PhaseReleased), err
	})
}

// release gives back, and reports whether that is stored.
func (f *workflow) release(ctx context.Context, s *store.Store, mode store.ReleaseMode) bool {
	f.w.truth.facts.gaveBack(f.id(), f.Attempt)
	return f.until(ctx, func(ctx context.Context) (bool, error) {
		_, err := s.Release(ctx, f.id(), f.Attempt, mode)
		if err == nil && mode == store.ReleaseNow {
			f.w.truth.facts.hurry(f.id(), f.Attempt)
		}
		return err == nil || errors.Is(err, store.ErrNotFound), err
	})
}
