// Package agenttest provides a runner and a machine without processes, for tests of the agent and
// of what talks to it. They belong to the machine, not to the agent: a second agent on the same
// Runner finds the listeners of the first. What is around an agent on EC2, and processes for those
// that need some, it provides too.
package agenttest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// Runner is an agent.Runner whose listeners do what the test says. Its fields are set before use.
type Runner struct {
	Latency time.Duration // from Start until a listener is online
	StopFor time.Duration // how long Stop takes
	// StartFunc, if set, is called first; an error of it is Start's. It may block.
	StartFunc func(ctx context.Context, reg store.Registration, label string) error
	// OnOnline and OnOffline are told when a listener begins and ceases to take jobs.
	OnOnline  func(name, label string)
	OnOffline func(name string)
	// OnStop is called when Stop is, before anything else.
	OnStop func(l *Listener)

	mu        sync.Mutex
	next      int
	listeners []*Listener
	most      int
}

// Start starts a listener.
func (r *Runner) Start(ctx context.Context, reg store.Registration, label string) (agent.Listener, error) {
	if r.StartFunc != nil {
		if err := r.StartFunc(ctx, reg, label); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	r.next++
	l := &Listener{
		runner: r, reg: reg, label: label, ref: process.Ref{PID: 1<<30 + r.next, Start: 1},
		changed: make(chan struct{}, 1), gone: make(chan struct{}),
		status: agent.Status{State: agent.Starting, RunnerID: reg.RunnerID},
	}
	r.listeners = append(r.listeners, l)
	r.most = max(r.most, len(r.alive()))
	r.mu.Unlock()
	if r.Latency == 0 {
		l.online()
	} else {
		time.AfterFunc(r.Latency, l.online)
	}
	return l, nil
}

// Adopt returns the live listener ref and ends all others.
func (r *Runner) Adopt(_ context.Context, ref process.Ref, _ string) (agent.Listener, error) {
	var found agent.Listener
	for _, l := range r.Alive() {
		if l.ref == ref {
			found = l
		} else {
			l.Kill()
		}
	}
	return found, nil
}

// Alive returns the listeners that have not ended, in the order of their start.
func (r *Runner) Alive() []*Listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.alive()
}

func (r *Runner) alive() []*Listener {
	return slices.DeleteFunc(slices.Clone(r.listeners), (*Listener).ended)
}

// Started returns every listener ever started, in order.
func (r *Runner) Started() []*Listener {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.listeners)
}

// Most returns the greatest number of listeners that were alive at once.
func (r *Runner) Most() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.most
}
