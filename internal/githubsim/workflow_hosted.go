package githubsim

import (
	"slices"
	"time"
)

// hosted are the jobs that GitHub's own runners have and end by themselves.
type hosted struct {
	monitor *monitor
	running []*task
}

// begin gives a job to a runner of GitHub's.
func (h *hosted) begin(t *task, now time.Time) {
	t.State, t.QueuedAt, t.StartedAt = Running, now.UTC(), now.UTC()
	t.Runner = "GitHub Actions"
	if !t.spec.Held {
		t.endsAt = now.Add(seconds(t.spec.Seconds))
		h.running = append(h.running, t)
		h.monitor.dueBy(t.endsAt)
	}
}

// end completes a job before its time.
func (h *hosted) end(t *task, c Conclusion, detail string, now time.Time) {
	h.running = slices.DeleteFunc(h.running, func(o *task) bool { return o == t })
	t.end(c, detail, now)
}

// first returns the job that ends first, or nil.
func (h *hosted) first() *task {
	if len(h.running) == 0 {
		return nil
	}
	return slices.MinFunc(h.running, func(a, b *task) int { return a.endsAt.Compare(b.endsAt) })
}

// next returns when the first of them ends; zero: none does.
func (h *hosted) next() time.Time {
	if t := h.first(); t != nil {
		return t.endsAt
	}
	return time.Time{}
}

// finish completes the first one whose time is over, and reports whether there was one.
func (h *hosted) finish(now time.Time) bool {
	t := h.first()
	if t == nil {
		return false
	}
	if now.Before(t.endsAt) {
		h.monitor.dueBy(t.endsAt)
		return false
	}
	c := t.spec.Conclusion
	if c == "" {
		c = Success
	}
	h.end(t, c, "", t.endsAt)
	return true
}
