package sim

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// line is one line of the transcript.
type line struct {
	at   time.Duration
	text string
}

// tellf adds a line to the transcript: what changed, for people.
func (w *World) tellf(format string, args ...any) {
	if w.o.Story != nil {
		w.tellAt(w.since(), format, args...)
	}
}

func (w *World) tellAt(at time.Duration, format string, args ...any) {
	w.transcriptMu.Lock()
	defer w.transcriptMu.Unlock()
	w.transcript = append(w.transcript, line{at, short(fmt.Sprintf(format, args...))})
}

// tellJobs tells what GitHub alone knows.
func (w *World) tellJobs() {
	for _, j := range w.hub.Jobs() {
		if j.StartedAt.IsZero() {
			continue
		}
		w.tellAt(j.StartedAt.Sub(w.begin), "job %s starts on %s", j.ID, j.InstanceID)
		if j.State == githubsim.Completed {
			w.tellAt(j.FinishedAt.Sub(w.begin), "job %s ends: %s", j.ID, j.Conclusion)
		}
	}
}

// publish writes the transcript, in the order of time.
func (w *World) publish() {
	if w.o.Story == nil {
		return
	}
	w.tellJobs()
	w.transcriptMu.Lock()
	defer w.transcriptMu.Unlock()
	slices.SortStableFunc(w.transcript, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	for _, l := range w.transcript {
		_, _ = fmt.Fprintf(w.o.Story, "%.1fs %s\n", l.at.Seconds(), l.text) // for people
	}
}

var longID = regexp.MustCompile(`\bi-0*([0-9a-f]+)`)

// short takes the zeros out of the ids of machines.
func short(text string) string { return longID.ReplaceAllString(text, "i-$1") }

// tellInstance tells of a change of an instance.
func (w *World) tellInstance(was, in store.Instance) {
	if w.o.Story == nil {
		return
	}
	var whose string
	if in.RunID != "" {
		whose = fmt.Sprintf(" (%s/%d)", in.RunID, in.Attempt)
	}
	switch {
	case was.State == statemachine.None:
		w.tellf("%s %s%s", in.ID, in.State, whose)
	case was.State != in.State && in.State == statemachine.Terminated:
		w.tellf("%s %s -> %s: %s", in.ID, was.State, in.State, in.Reason)
	case was.State != in.State || was.RunID != in.RunID:
		w.tellf("%s %s -> %s%s", in.ID, was.State, in.State, whose)
	case was.PooledAt.IsZero() && !in.PooledAt.IsZero():
		w.tellf("%s pooled", in.ID)
	}
}

// tellStatus tells of a change of a request's phase.
func (w *World) tellStatus(was, st store.RunStatus) {
	if w.o.Story == nil || was.Phase == st.Phase && was.Attempt == st.Attempt {
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
	w.tellf("request %s/%d %s%s", st.ID, st.Attempt, st.Phase, more)
}

// tellRequest tells what a client asked for or gave back.
func (w *World) tellRequest(id store.RequestID, was, r store.RunRequest) {
	switch {
	case was.Attempt != r.Attempt:
		w.tellf("request %s/%d asks for %d", id, r.Attempt, r.Count)
	case !was.Released() && r.Released():
		w.tellf("request %s/%d given back: %s", id, r.Attempt, r.Release)
	}
}

// tellLaunch tells that a launch was written down.
func (w *World) tellLaunch(was bool, l store.Launch) {
	if was || w.o.Story == nil {
		return
	}
	var whose []string
	for _, s := range l.Seats {
		whose = append(whose, fmt.Sprintf("%s/%d", s.RequestID, s.Attempt))
	}
	w.tellf("launch of %d %s (%s)", l.Count, l.ResourceClass, strings.Join(whose, " "))
}

// tellLease tells who leads.
func (w *World) tellLease(was, l store.Lease) {
	switch {
	case was.Holder == l.Holder:
	case l.Holder == "":
		w.tellf("%s gives up the lease", was.Holder)
	default:
		w.tellf("%s leads, term %d", l.Holder, l.Term)
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
