package githubsim_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// jumpClock is a clock on which every wait is over at once and takes its time nevertheless, so that
// a single goroutine can do everything.
type jumpClock struct{ *clocktesting.FakeClock }

func (c jumpClock) NewTimer(d time.Duration) clock.Timer {
	t := c.FakeClock.NewTimer(d)
	c.Step(d)
	return t
}

// The model's limits.
const (
	mOnline  = 5 * time.Second
	mTimeout = 20 * time.Second
	mPoll    = time.Second
	mLapse   = time.Minute
)

type mRunner struct {
	id        int64
	name      string
	labels    []string
	jit, once bool
	cred      githubsim.Credentials
	session   *githubsim.Session // nil: none
	seenAt    time.Time
	idleFrom  time.Time
	job       *mJob
	jobMsg    int64 // message that handed the job over
	seen      int64
	messages  int64
}

type mJob struct {
	id, label  string
	state      githubsim.JobState
	conclusion githubsim.Conclusion
	runner     *mRunner
	cancel     bool
}

// model is what the documentation of Hub says, for one goroutine.
type model struct {
	hub     *githubsim.Hub
	clock   jumpClock
	ctx     context.Context //nolint:containedctx // of one check
	runners []*mRunner      // registered, by id
	jobs    []*mJob         // in the order of submission
	names   int
	token   string
}

func (m *model) remove(r *mRunner) {
	m.runners = slices.DeleteFunc(m.runners, func(o *mRunner) bool { return o == r })
	r.session = nil
}

func (m *model) finish(r *mRunner, c githubsim.Conclusion, at time.Time) {
	r.job.state, r.job.conclusion = githubsim.Completed, c
	r.job, r.idleFrom = nil, at
	if r.once {
		m.remove(r)
	}
}

// expire does what time alone does.
func (m *model) expire() {
	now := m.clock.Now()
	for _, r := range slices.Clone(m.runners) {
		if at := r.seenAt.Add(mTimeout); r.session != nil && !now.Before(at) {
			r.session = nil
			if r.job != nil && r.job.cancel {
				m.finish(r, githubsim.Cancelled, at)
			} else if r.job != nil {
				m.finish(r, githubsim.Failure, at)
			}
		}
	}
	for _, r := range slices.Clone(m.runners) {
		if r.jit && r.job == nil && !now.Before(r.idleFrom.Add(mLapse)) {
			m.remove(r)
		}
	}
}

func (m *model) newRunner(t *rapid.T, jit bool) {
	m.names++
	r := &mRunner{name: fmt.Sprintf("i-%d-%d", m.names%3, m.names), jit: jit, once: jit, labels: []string{anyLabel(t)}}
	if jit {
		j, err := m.hub.JITConfig(m.ctx, r.name, r.labels[0])
		check(t, err)
		r.cred, err = githubsim.DecodeJIT(j.Config)
		check(t, err)
	} else {
		if second := anyLabel(t); !strings.EqualFold(second, r.labels[0]) {
			r.labels = append(r.labels, second)
		}
		r.once = rapid.Bool().Draw(t, "ephemeral")
		var err error
		q := githubsim.RegisterRequest{Name: r.name, Labels: r.labels, Ephemeral: r.once}
		r.cred, err = m.hub.Register(m.ctx, m.token, q)
		check(t, err)
	}
	r.id, r.idleFrom = r.cred.RunnerID, m.clock.Now()
	m.runners = append(m.runners, r)
}

func anyLabel(t *rapid.T) string {
	return rapid.SampledFrom([]string{"run-a", "RUN-A", "run-b", "run-c"}).Draw(t, "label")
}

func (m *model) anyRunner(t *rapid.T, want func(*mRunner) bool) *mRunner {
	all := slices.DeleteFunc(slices.Clone(m.runners), func(r *mRunner) bool { return !want(r) })
	if len(all) == 0 {
		t.Skip("no such runner")
	}
	return rapid.SampledFrom(all).Draw(t, "runner")
}

func connected(r *mRunner) bool { return r.session != nil }
func registered(*mRunner) bool  { return true }

func (m *model) connect(t *rapid.T) {
	r := m.anyRunner(t, registered)
	s, err := m.hub.Connect(m.ctx, r.cred)
	if r.session != nil {
		expect(t, "second Connect()", err, githubsim.ErrSessionConflict)
		return
	}
	check(t, err)
	now := m.clock.Now()
	*r = mRunner{
		id: r.id, name: r.name, labels: r.labels, jit: r.jit, once: r.once, cred: r.cred,
		session: s, seenAt: now, idleFrom: now,
	}
}

// poll is where jobs are handed over, and nowhere else, since no poll is ever in progress meanwhile.
func (m *model) poll(t *rapid.T) {
	r := m.anyRunner(t, connected)
	if rapid.Bool().Draw(t, "acknowledge") {
		r.seen = r.messages
	}
	want := githubsim.Message{}
	if r.job == nil {
		for _, j := range m.jobs {
			if j.state == githubsim.Queued && slices.ContainsFunc(r.labels, func(l string) bool { return strings.EqualFold(l, j.label) }) {
				r.job, j.runner, j.state = j, r, githubsim.Running
				r.messages++
				r.jobMsg = r.messages
				break
			}
		}
	}
	switch {
	case r.job != nil && r.seen < r.jobMsg:
		want = githubsim.Message{ID: r.jobMsg, Kind: githubsim.MessageJob}
	case r.job != nil && r.job.cancel && r.seen < r.messages:
		want = githubsim.Message{ID: r.messages, Kind: githubsim.MessageCancel}
	}
	start := m.clock.Now()
	got, err := r.session.Next(m.ctx, r.seen)
	check(t, err)
	if got.ID != want.ID || got.Kind != want.Kind || got.ID != 0 && got.Job.ID != r.job.id {
		t.Fatalf("Next(%s, %d) = %+v, want %+v of the runner's job", r.name, r.seen, got, want)
	}
	if took := m.clock.Now().Sub(start); (took == 0) != (got.ID != 0) {
		t.Fatalf("Next() took %s for message %d", took, got.ID)
	}
	r.seenAt = m.clock.Now()
}

func (m *model) complete(t *rapid.T) {
	r := m.anyRunner(t, connected)
	c := rapid.SampledFrom([]githubsim.Conclusion{githubsim.Success, githubsim.Failure, githubsim.Cancelled}).Draw(t, "conclusion")
	if r.job == nil {
		expect(t, "Complete() without a job", r.session.Complete(m.ctx, "none", c), githubsim.ErrNoJob)
		return
	}
	check(t, r.session.Complete(m.ctx, r.job.id, c))
	r.seen = max(r.seen, r.jobMsg)
	m.finish(r, c, m.clock.Now())
}

func (m *model) hangUp(t *rapid.T) {
	r := m.anyRunner(t, connected)
	r.session.Close()
	r.session = nil
	switch j := r.job; {
	case j == nil:
	case j.cancel:
		m.finish(r, githubsim.Cancelled, m.clock.Now())
	case r.seen < r.jobMsg:
		j.state, j.runner = githubsim.Queued, nil
		r.job, r.idleFrom = nil, m.clock.Now()
	default:
		m.finish(r, githubsim.Failure, m.clock.Now())
	}
}

func (m *model) deleteRunner(t *rapid.T) {
	r := m.anyRunner(t, registered)
	err := m.hub.DeleteRunner(m.ctx, r.id)
	if r.job != nil {
		expect(t, "DeleteRunner() with a job", err, githubapi.ErrBusy)
		return
	}
	check(t, err)
	session := r.session
	m.remove(r)
	if session != nil {
		expect(t, "Next() after the deletion", errorOf(session.Next(m.ctx, 0)), githubsim.ErrRunnerGone)
	}
	expect(t, "Connect() after the deletion", errorOf(m.hub.Connect(m.ctx, r.cred)), githubsim.ErrRunnerGone)
}

func (m *model) submit(t *rapid.T) {
	j := &mJob{id: fmt.Sprintf("j%d", len(m.jobs)), label: anyLabel(t), state: githubsim.Queued}
	check(t, m.hub.Submit(githubsim.Job{ID: j.id, Label: j.label}))
	m.jobs = append(m.jobs, j)
	m.clock.Step(1) // no two jobs at one instant: their order would be that of submission anyway
}

func (m *model) cancel(t *rapid.T) {
	if len(m.jobs) == 0 {
		t.Skip("no job")
	}
	j := rapid.SampledFrom(m.jobs).Draw(t, "job")
	check(t, m.hub.Cancel(j.id))
	switch {
	case j.state == githubsim.Queued:
		j.state, j.conclusion = githubsim.Completed, githubsim.Cancelled
	case j.state == githubsim.Running && !j.cancel:
		j.cancel = true
		j.runner.messages++
	}
}

// check compares everything that can be seen.
func (m *model) check(t *rapid.T) {
	now := m.clock.Now()
	runners, err := m.hub.Runners(m.ctx)
	if err != nil || len(runners) != len(m.runners) {
		t.Fatalf("Runners() = %+v, %v, want %d", runners, err, len(m.runners))
	}
	for i, r := range m.runners {
		online := r.session != nil && now.Before(r.seenAt.Add(mOnline))
		got := runners[i]
		if got.ID != r.id || got.Name != r.name || got.Online != online || got.Busy != (r.job != nil) || !slices.Equal(got.Labels, r.labels) {
			t.Fatalf("runner = %+v, want %s online %v busy %v", got, r.name, online, r.job != nil)
		}
	}
	records := m.hub.Jobs()
	for i, j := range m.jobs {
		got := records[i]
		if got.ID != j.id || got.State != j.state || got.Conclusion != j.conclusion {
			t.Fatalf("job = %+v, want %s %s", got, j.state, j.conclusion)
		}
		if j.state == githubsim.Running {
			// S15: whatever happened, a job runs only where its label is.
			if got.Runner != j.runner.name || got.InstanceID != githubsim.InstanceOf(j.runner.name) ||
				!slices.ContainsFunc(j.runner.labels, func(l string) bool { return strings.EqualFold(l, got.Label) }) {
				t.Fatalf("job %+v runs on %s with labels %v", got, j.runner.name, j.runner.labels)
			}
		}
	}
	for _, reg := range m.hub.Registrations() {
		if reg.Ephemeral && len(reg.Jobs) > 1 {
			t.Fatalf("ephemeral runner had more than one job: %+v", reg)
		}
	}
}

// S15: random registrations, sessions, jobs and deletions against the documented rules.
func TestModel_S15_JobsOnlyWhereTheirLabelIs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clk := jumpClock{clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
		m := &model{clock: clk, ctx: t.Context(), hub: githubsim.New(githubsim.Options{
			Clock: clk, OnlineFor: mOnline, SessionTimeout: mTimeout, PollWait: mPoll, JITLapse: mLapse,
		})}
		renew := func() {
			tok, err := m.hub.RegistrationToken(m.ctx)
			check(rt, err)
			m.token = tok.Value
		}
		renew()
		act := func(f func(*rapid.T)) func(*rapid.T) {
			return func(t *rapid.T) { m.expire(); f(t); m.expire() }
		}
		rt.Repeat(map[string]func(*rapid.T){
			"jit":      act(func(t *rapid.T) { m.newRunner(t, true) }),
			"register": act(func(t *rapid.T) { renew(); m.newRunner(t, false) }),
			"connect":  act(m.connect),
			"poll":     act(m.poll),
			"poll2":    act(m.poll), // the heart of it, twice as often
			"complete": act(m.complete),
			"close":    act(m.hangUp),
			"delete":   act(m.deleteRunner),
			"submit":   act(m.submit),
			"cancel":   act(m.cancel),
			"time": act(func(t *rapid.T) {
				d := rapid.SampledFrom([]time.Duration{1, time.Second, mOnline - 1, mOnline, mTimeout - 1, mTimeout, mLapse}).Draw(t, "step")
				clk.Step(d)
			}),
			"": m.check,
		})
	})
}
