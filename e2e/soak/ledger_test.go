package soak

import (
	"slices"
	"sync"
	"time"
)

// ledger is what was done, to whom, and how long things took.
type ledger struct {
	mu       sync.Mutex
	backend  string
	counts   map[string]int
	struck   map[string]bool // machines that were struck themselves
	windows  []window
	restarts []restart
	reads    []time.Duration // of the whole table
	answers  []time.Duration // of requests, from the command's start to its end
}

// window is a time in which a disk was full.
type window struct {
	what     string
	from, to time.Time // to zero: still
}

// restart is how long the answer to a kill of the leader took, each from the kill on.
type restart struct {
	both               bool          // the standby was killed with it
	beside             bool          // there was another fault meanwhile
	lead, claim, ready time.Duration // somebody led; owned the instance of a request made after the kill; answered it
}

func (l *ledger) init(backend string) {
	l.backend, l.counts, l.struck = backend, map[string]int{}, map[string]bool{}
}

func (l *ledger) do(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

func (l *ledger) count(what string)           { l.do(func() { l.counts[what]++ }) }
func (l *ledger) read(took time.Duration)     { l.do(func() { l.reads = append(l.reads, took) }) }
func (l *ledger) answered(took time.Duration) { l.do(func() { l.answers = append(l.answers, took) }) }
func (l *ledger) restarted(r restart)         { l.do(func() { l.restarts = append(l.restarts, r) }) }

// faulted notes that a machine was struck itself, so that its job may be lost.
func (l *ledger) faulted(id string) { l.do(func() { l.struck[id] = true }) }

func (l *ledger) counted(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts[what]
}

func (l *ledger) wasFaulted(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.struck[id]
}

// open begins a window; the function it returns ends it.
func (l *ledger) open(what string) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := len(l.windows)
	l.windows = append(l.windows, window{what: what, from: time.Now()})
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.windows[i].to = time.Now()
	}
}

// meets reports whether a window of a disk, of any for "", lay in the time from one instant to another.
func (l *ledger) meets(what string, from, to time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.windows, func(w window) bool {
		return (what == "" || what == w.what) && !w.from.After(to) && (w.to.IsZero() || !w.to.Before(from))
	})
}
