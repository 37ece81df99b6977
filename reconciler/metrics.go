package reconciler

import (
	"sync"

	"github.com/remuda-run/remuda/statemachine"
)

// Metrics counts what happened, for the life of the process. It is safe for concurrent use.
type Metrics struct {
	mu          sync.Mutex
	transitions map[TransitionLabel]int64
	requests    map[statemachine.RequestEvent]int64
	looks       int64
	calls       int64
	asked       int64
	launched    int64
}

// TransitionLabel is one row of the state table.
type TransitionLabel struct {
	From  statemachine.State
	Event statemachine.Event
	To    statemachine.State
}

// Counts is a copy of Metrics.
type Counts struct {
	Transitions map[TransitionLabel]int64
	Requests    map[statemachine.RequestEvent]int64
	Looks       int64 // at requests
	LaunchCalls int64 // launches that have an outcome
	Asked       int64 // instances asked for by them
	Launched    int64 // instances that came
}

// NewMetrics returns counters at zero.
func NewMetrics() *Metrics {
	return &Metrics{transitions: map[TransitionLabel]int64{}, requests: map[statemachine.RequestEvent]int64{}}
}

func (m *Metrics) transition(from statemachine.State, on statemachine.Event, to statemachine.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.transitions[TransitionLabel{from, on, to}]++
}

func (m *Metrics) request(on statemachine.RequestEvent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[on]++
}

func (m *Metrics) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks++
}

func (m *Metrics) launch(asked, came int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	m.asked += int64(asked)
	m.launched += int64(came)
}

// Counts returns the present values.
func (m *Metrics) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := Counts{
		Transitions: make(map[TransitionLabel]int64, len(m.transitions)),
		Requests:    make(map[statemachine.RequestEvent]int64, len(m.requests)),
		Looks:       m.looks, LaunchCalls: m.calls, Asked: m.asked, Launched: m.launched,
	}
	for k, v := range m.transitions {
		out.Transitions[k] = v
	}
	for k, v := range m.requests {
		out.Requests[k] = v
	}
	return out
}
