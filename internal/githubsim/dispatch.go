package githubsim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
)

// dispatcher gives jobs to runners, and decides what becomes of either when the other, the session between them or
// the time of one ends.
type dispatcher struct {
	opts     Options
	monitor  *monitor
	jobs     *jobs
	registry *registry
	sessions *sessions
	hosted   *hosted
	evicted  map[string]eviction // by session
}

// eviction is a job whose runner is registered no more, and how long the service waits for its end.
type eviction struct {
	job   *job
	until time.Time
}

// view takes the lock and runs f, without counting a call.
func (d *dispatcher) view(f func(now time.Time)) {
	d.monitor.with(func(now time.Time) {
		d.sweep(now)
		f(now)
	})
}

// act does something to a registered runner.
func (d *dispatcher) act(runnerID int64, f func(r *runner, now time.Time)) error {
	var err error
	d.view(func(now time.Time) {
		r := d.registry.get(runnerID)
		if r == nil {
			err = fmt.Errorf("runner %d: %w", runnerID, ErrRunnerGone)
			return
		}
		f(r, now)
		d.monitor.broadcast()
	})
	return err
}

// submit queues a new job.
func (d *dispatcher) submit(j *job, now time.Time) {
	j.State, j.QueuedAt = Queued, now.UTC()
	d.jobs.byID[j.ID] = j
	d.jobs.order = append(d.jobs.order, j)
	d.enqueue(j, now)
}

// cancel ends a queued job, and asks the runner of a running one to end it.
func (d *dispatcher) cancel(j *job, now time.Time) {
	switch {
	case j.State == Queued:
		d.jobs.dequeue(j)
		j.end(Cancelled, "cancelled while queued", now)
	case j.State == Running && !j.cancel:
		j.cancel = true
		if r := d.registry.get(j.RunnerID); r != nil && r.session != nil { // neither if it was evicted
			r.session.push(MessageCancel, j.Job)
		}
	}
}

// enqueue queues a job and hands it over at once if a runner waits for one.
func (d *dispatcher) enqueue(j *job, now time.Time) {
	d.jobs.enqueue(j)
	if r := d.registry.waiting(j.Label); r != nil {
		d.match(r, now)
	}
}

// match hands the oldest queued job with one of r's labels to r, if r waits for one.
func (d *dispatcher) match(r *runner, now time.Time) {
	if !r.waits() {
		return
	}
	j := d.jobs.oldest(r.keys())
	if j == nil {
		return
	}
	d.jobs.dequeue(j)
	j.State, j.StartedAt = Running, now.UTC()
	j.Runner, j.RunnerID, j.InstanceID = r.Name, r.ID, InstanceOf(r.Name)
	r.job, r.busyAt = j, now
	r.Jobs = append(r.Jobs, j.ID)
	r.session.push(MessageJob, j.Job)
}

// finish completes a job and frees its runner; an ephemeral one is removed.
func (d *dispatcher) finish(j *job, c Conclusion, detail string, now time.Time) {
	j.end(c, detail, now)
	r := d.registry.get(j.RunnerID)
	if r == nil || r.job != j {
		return
	}
	r.job, r.busyAt, r.idleFrom = nil, now, now
	if r.session != nil {
		r.session.drop(j.ID)
	}
	if r.Ephemeral {
		d.remove(r, RemovedUsed, now)
		return
	}
	d.match(r, now)
}

// requeue takes back a job that its runner never acknowledged.
func (d *dispatcher) requeue(j *job, now time.Time) {
	if r := d.registry.get(j.RunnerID); r != nil && r.job == j {
		r.job, r.busyAt, r.idleFrom = nil, now, now
		r.Jobs = slices.DeleteFunc(r.Jobs, func(id string) bool { return id == j.ID })
	}
	j.State, j.StartedAt = Queued, time.Time{}
	j.Runner, j.RunnerID, j.InstanceID = "", 0, ""
	d.enqueue(j, now)
}

// remove ends a registration and its session. A job of its own fails.
func (d *dispatcher) remove(r *runner, why string, now time.Time) {
	if r.session != nil {
		d.closeSession(r.session, ErrRunnerGone, now)
	}
	d.registry.remove(r, why, now)
}

// removeIdle removes the runner of an id, if there is one; one that runs a job is githubapi.ErrBusy.
func (d *dispatcher) removeIdle(id int64, why string, now time.Time) (found bool, err error) {
	r := d.registry.get(id)
	if r == nil {
		return false, nil
	}
	if r.job != nil {
		return true, fmt.Errorf("runner %d %s: %w", id, r.Name, githubapi.ErrBusy)
	}
	d.remove(r, why, now)
	return true, nil
}

// evict removes a runner, but lets it report the end of its job.
func (d *dispatcher) evict(r *runner, now time.Time) {
	if s := r.session; s != nil && r.job != nil {
		d.evicted[s.id] = eviction{r.job, now.Add(d.opts.SessionTimeout)}
		d.monitor.dueBy(now.Add(d.opts.SessionTimeout))
		r.job = nil
	}
	d.remove(r, RemovedDeleted, now)
}

// finishEvicted completes the job of an evicted runner, if it is that of this session.
func (d *dispatcher) finishEvicted(sessionID, jobID string, c Conclusion, now time.Time) bool {
	e, ok := d.evicted[sessionID]
	if !ok || e.job.ID != jobID {
		return false
	}
	delete(d.evicted, sessionID)
	d.finish(e.job, c, "", now)
	return true
}

// open returns an open session. The id begins with the runner's, so that a runner that is gone can
// be told so after its session was forgotten.
func (d *dispatcher) open(id string) (*session, error) {
	if s := d.sessions.open[id]; s != nil {
		return s, nil
	}
	prefix, _, _ := strings.Cut(id, ".")
	if n, err := strconv.ParseInt(prefix, 10, 64); err == nil && d.registry.get(n) == nil {
		return nil, ErrRunnerGone
	}
	return nil, ErrSessionGone
}

// running returns the job of an open session's runner, if it is that one.
func (d *dispatcher) running(session, jobID string) (*job, error) {
	live, err := d.open(session)
	if err != nil {
		return nil, err
	}
	if j := live.runner.job; j != nil && j.ID == jobID {
		return j, nil
	}
	return nil, fmt.Errorf("job %s: %w", jobID, ErrNoJob)
}

// closeSession ends a session for the given reason.
func (d *dispatcher) closeSession(s *session, why error, now time.Time) {
	s.over = why
	s.wake()
	delete(d.sessions.open, s.id)
	r := s.runner
	r.session, r.lastSeen = nil, now
	j := r.job
	switch {
	case j == nil:
	case j.cancel:
		d.finish(j, Cancelled, "cancelled; the runner ended its session meanwhile", now)
	case s.seen < s.jobMsg:
		d.requeue(j, now)
	default:
		d.finish(j, Failure, "the runner ended its session while the job ran", now)
	}
	d.registry.mayEnd(r)
}
