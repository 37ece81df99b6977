package reconciler

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/store"
)

// noted are entries of a history that no write has carried yet. They are lost with the process, and only they.
type noted []store.Entry

// add notes an entry. What would not be kept anyway is dropped.
func (n *noted) add(e store.Entry) {
	*n = append(*n, e)
	if extra := len(*n) - store.MaxHistory; extra > 0 {
		*n = slices.Clone((*n)[extra:])
	}
}

// onto adds the entries to a stored history.
func (n noted) onto(h store.History, begun store.Time) store.History {
	for _, e := range n {
		h = h.With(begun, e)
	}
	return h
}

// without drops the entries that a write has carried.
func (n noted) without(written noted) noted {
	if len(written) == 0 || len(n) == 0 {
		return n
	}
	last := written[len(written)-1]
	at := slices.Index(n, last)
	return n[at+1:]
}

// noteReports notes what the last read of an agent's reports says for the first time. was is what was known before.
func (in *instance) noteReports(was vitals, now time.Time) {
	is := in.vitals
	if is.beat.UpdatedAt.IsZero() {
		return
	}
	if was.beat.UpdatedAt.IsZero() && in.record.Assignment == 1 {
		in.noteOnce(store.CodeBooted, "", now)
	}
	if v := is.signal.Value; v.ScriptSeconds > 0 && in.record.Assignment == 1 && v.RunID == in.record.RunID {
		in.noteScript(v.ScriptSeconds.Duration(), now)
	}
	if e, says := is.signal.Value.Entry(in.record, now); says && (is.signal.Value != was.signal.Value || was.readAt.IsZero()) {
		in.noteOnce(e.Code, e.Detail, now)
	}
	in.noteJobs(was, now)
}

// noteJobs notes that a job began or ended, when the agent says it did: a job may be over before its agent is read again.
func (in *instance) noteJobs(was vitals, now time.Time) {
	had, has := was.beat.Beat, in.vitals.beat.Beat
	serving := in.snapshot().serving()
	began, ended := serving && !had.Busy, !has.Busy && had.Busy // all that agents of earlier versions say
	if !has.JobBegan.IsZero() {
		began, ended = !has.JobBegan.Equal(had.JobBegan), !has.JobEnded.Equal(had.JobEnded)
	}
	between := func(told store.Time) time.Time { // its clock may be another
		if told.IsZero() || told.After(now) {
			return now
		}
		return later(told.Time, was.readAt)
	}
	switch {
	case was.readAt.IsZero() && serving: // another leader may have noted it
		in.noteOnce(store.CodeJobBegan, "", between(has.JobBegan))
	case was.readAt.IsZero():
	default:
		if began {
			in.noted.add(store.Entry{At: between(has.JobBegan), Code: store.CodeJobBegan})
		}
		if ended {
			in.noted.add(store.Entry{At: between(has.JobEnded), Code: store.CodeJobEnded})
		}
	}
}

// noteScript notes when the script had passed, reckoned from when the agent was first read: its own report of that may have been
// replaced by the next before it was read.
func (in *instance) noteScript(took time.Duration, now time.Time) {
	for _, e := range append(in.record.History.Entries(in.record.CreatedAt), in.noted...) {
		if at := e.At.Add(took); e.Code == store.CodeBooted && at.Before(now) {
			now = at
		}
	}
	in.noteOnce(store.CodeScript, "", now)
}

// noteOnce notes an entry unless the history has it since the instance was last assigned.
func (in *instance) noteOnce(code store.Code, detail string, now time.Time) {
	if in.noted.onto(in.record.History, in.record.CreatedAt).Noted(code) {
		return
	}
	in.noted.add(store.Entry{At: now, Code: code, Detail: detail})
}

// note notes an entry in the history of a request, which its next write carries.
func (c *cache) note(id store.RequestID, code store.Code, format string, args ...any) {
	e := store.Entry{At: c.clock.Now(), Code: code, Detail: strings.TrimSpace(fmt.Sprintf(format, args...))}
	c.requests.withRun(id, func(r *run) { r.noted.add(e) })
}
