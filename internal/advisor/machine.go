package advisor

import (
	"container/heap"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/statemachine"
)

// machine is one in a replay.
type machine struct {
	class     *class
	ticket    pool.Ticket
	state     statemachine.State
	began     time.Time
	since     time.Time // its last event
	threshold time.Time
	due       time.Time // when its floor looks at it next; zero: it does not
}

// span is how much of a time lies between from and to.
func span(begin, end, from, to time.Time) time.Duration {
	if begin.Before(from) {
		begin = from
	}
	if end.After(to) {
		end = to
	}
	return max(0, end.Sub(begin))
}

// virtual is a clock that stands where the replay is.
type virtual struct {
	clock.WithTicker // none: nothing waits
	now              time.Time
}

func (v *virtual) Now() time.Time { return v.now }

// event is something that is due.
type event struct {
	at    time.Time
	order int // of those at one instant
	do    func()
}

// events is a heap of what is due.
type events []event

// Len is part of heap.Interface, as are Less, Swap, Push and Pop.
func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push appends an event.
func (e *events) Push(x any) { *e = append(*e, x.(event)) }

// Pop removes the last event.
func (e *events) Pop() any {
	last := len(*e) - 1
	out := (*e)[last]
	(*e)[last] = event{}
	*e = (*e)[:last]
	return out
}

// at has something done at an instant.
func (w *world) at(t time.Time, do func()) {
	w.order++
	heap.Push(&w.events, event{t, w.order, do})
}

// run does what is due until the time that counts is over, and adds up the machines that live then.
func (w *world) run() {
	for len(w.events) > 0 && w.err == nil {
		e := heap.Pop(&w.events).(event)
		if !e.at.Before(w.demand.To) {
			break
		}
		w.clock.now = e.at
		e.do()
	}
	for m := range w.alive {
		m.class.figures.spend(m.state, span(m.since, w.demand.To, w.demand.From, w.demand.To))
	}
}
