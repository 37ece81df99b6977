package sim

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// line is one line of the transcript.
type line struct {
	at   time.Duration
	text string
}

// transcript is what happened in a story, for people. It is kept if somebody wants to read it.
type transcript struct {
	w *World

	mu    sync.Mutex
	lines []line
}

// tellf adds a line to the transcript: what changed, for people.
func (t *transcript) tellf(format string, args ...any) {
	if t.w.o.Story != nil {
		t.tellAt(t.w.since(), format, args...)
	}
}

func (t *transcript) tellAt(at time.Duration, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line{at, short(fmt.Sprintf(format, args...))})
}

// jobs tells what GitHub alone knows.
func (t *transcript) jobs() {
	for _, j := range t.w.hub.Jobs() {
		if j.StartedAt.IsZero() {
			continue
		}
		name := j.ID
		if j.RunAttempt > 0 {
			name = fmt.Sprintf("%s of run %s #%d", j.Name, j.RunID, j.RunAttempt)
		}
		t.tellAt(j.StartedAt.Sub(t.w.begin), "job %s starts on %s", name, j.InstanceID)
		if j.State == githubsim.Completed {
			t.tellAt(j.FinishedAt.Sub(t.w.begin), "job %s ends: %s", name, j.Conclusion)
		}
	}
	for _, r := range t.w.hub.Workflows().List() {
		all, err := t.w.hub.Workflows().Attempts(r.ID)
		if err != nil {
			t.tellf("run %d: %v", r.ID, err)
		}
		for _, one := range all {
			if one.Status == githubapi.StatusCompleted {
				t.tellAt(ended(one).Sub(t.w.begin), "run %d #%d is over: %s", one.ID, one.Attempt, one.Conclusion)
			}
		}
	}
}

// publish writes the transcript, in the order of time.
func (t *transcript) publish() {
	if t.w.o.Story == nil {
		return
	}
	t.jobs()
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortStableFunc(t.lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	for _, l := range t.lines {
		_, _ = fmt.Fprintf(t.w.o.Story, "%.1fs %s\n", l.at.Seconds(), l.text) // for people
	}
}

var longID = regexp.MustCompile(`\bi-0*([0-9a-f]+)`)

// short takes the zeros out of the ids of machines.
func short(text string) string { return longID.ReplaceAllString(text, "i-$1") }

// instance tells of a change of an instance.
func (t *transcript) instance(was, in store.Instance) {
	if t.w.o.Story == nil {
		return
	}
	var whose string
	if in.RunID != "" {
		whose = fmt.Sprintf(" (%s/%d)", in.RunID, in.Attempt)
	}
	switch {
	case was.State == statemachine.None:
		t.tellf("%s %s%s", in.ID, in.State, whose)
	case was.State != in.State && in.State == statemachine.Terminated:
		t.tellf("%s %s -> %s: %s", in.ID, was.State, in.State, in.Reason)
	case was.State != in.State || was.RunID != in.RunID:
		t.tellf("%s %s -> %s%s", in.ID, was.State, in.State, whose)
	case was.PooledAt.IsZero() && !in.PooledAt.IsZero():
		t.tellf("%s pooled", in.ID)
	}
}

// status tells of a change of a request's phase.
func (t *transcript) status(was, st store.RunStatus) {
	if t.w.o.Story == nil || was.Phase == st.Phase && was.Attempt == st.Attempt {
		return
	}
	var more string
	switch st.Phase {
	case statemachine.Ready:
		var ids []string
		for _, seat := range st.Instances {
			ids = append(ids, string(seat.InstanceID))
		}
		more = ": " + strings.Join(ids, " ")
	case statemachine.Failed:
		more = ": " + st.Reason
	case statemachine.Pending, statemachine.PhaseReleased, statemachine.Unseen:
	}
	t.tellf("request %s/%d %s%s", st.ID, st.Attempt, st.Phase, more)
}

// request tells what a client asked for or gave back.
func (t *transcript) request(id store.RequestID, was, r store.RunRequest) {
	who := ""
	if r.ByController() {
		who = ", in place of a client"
	}
	switch {
	case was.Attempt != r.Attempt:
		t.tellf("request %s/%d asks for %d%s", id, r.Attempt, r.Count, who)
	case !was.Released() && r.Released() && r.ReleaseReason != "":
		t.tellf("request %s/%d given back: %s, %s", id, r.Attempt, r.Release, r.ReleaseReason)
	case !was.Released() && r.Released():
		t.tellf("request %s/%d given back: %s", id, r.Attempt, r.Release)
	case was.ByController() && !r.ByController():
		t.tellf("request %s/%d is taken over, for %d", id, r.Attempt, r.Count)
	case was.Count != r.Count:
		t.tellf("request %s/%d asks for %d%s", id, r.Attempt, r.Count, who)
	}
}

// launch tells that a launch was written down.
func (t *transcript) launch(was bool, l store.Launch) {
	if was || t.w.o.Story == nil {
		return
	}
	var whose []string
	for _, s := range l.Seats {
		whose = append(whose, fmt.Sprintf("%s/%d", s.RequestID, s.Attempt))
	}
	t.tellf("launch of %d %s (%s)", l.Count, l.ResourceClass, strings.Join(whose, " "))
}

// lease tells who leads.
func (t *transcript) lease(was, l store.Lease) {
	switch {
	case was.Holder == l.Holder:
	case l.Holder == "":
		t.tellf("%s gives up the lease", was.Holder)
	default:
		t.tellf("%s leads, term %d", l.Holder, l.Term)
	}
}

// summary is the last line of a transcript.
func (r Report) summary() string {
	return fmt.Sprintf("%s, %d ready, %d failed; %s, %s done; %s of a controller, %s; at rest after %s; %s",
		count(r.Requests, "request"), r.Ready, r.Failed, count(r.Launched, "machine"), count(r.Jobs, "job"),
		count(r.Restarts, "restart"), count(len(r.Fired), "fault"), writeDuration(r.Settled.Round(time.Second)), count(len(r.Violations), "violation"))
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
