package reconciler

import (
	"sync/atomic"
	"time"

	"github.com/remuda-run/remuda/store"
)

// NotReady is one word why an operator can neither lead nor take over at a moment. Empty: it can.
type NotReady string

// Reasons. The store is always the one of the configuration; see docs/leadership.md for the words.
const (
	NotStarted       NotReady = "not_started"       // it has not asked for the lease yet
	StoreUnreachable NotReady = "store_unreachable" // a standby could not read the lease for as long as it takes to become free
	NoTrust          NotReady = "no_trust"          // a leader could not renew the lease in time: it keeps still
	ReadingRecords   NotReady = "reading_records"   // a leader begins, and has not read every record yet
	Stopping         NotReady = "stopping"
)

// Leadership is the part of an operator in an installation at one moment.
type Leadership struct {
	Leads    bool
	Term     int64 // its own, or that of the lease as last read; 0: not known
	NotReady NotReady
}

// Leadership returns the part that the operator has now. It calls nothing.
func (op *Operator) Leadership() Leadership {
	l := op.elector
	read := l.shown.read.Load()
	out := Leadership{Leads: l.shown.leads.Load(), Term: l.shown.term.Load()}
	switch m := op.manager.Load(); {
	case op.stopping.Load():
		out.NotReady = Stopping
	case out.Leads && !l.trust():
		out.NotReady = NoTrust
	case out.Leads && (m == nil || !m.scanner.loaded.Load()):
		out.NotReady = ReadingRecords
	case out.Leads:
	case read == nil:
		out.NotReady = NotStarted
	case l.clock.Since(*read) > l.ttl+l.request: // also if it never was
		out.NotReady = StoreUnreachable
	}
	return out
}

// stallGrace is how much longer than its calls may take one turn of the lease's loop is allowed. Back ends end a call late
// that waits for a lock (sqlitedb.BusyTimeout: 15 s), and a machine may be overloaded: a false alarm ends the process.
const stallGrace = 30 * time.Second

// Stalled reports whether the loop that holds the lease, or waits for it, has stopped turning: then this process can neither
// lead nor stop leading in order, and only another start helps. The loop waits for no call longer than lease.requestTimeout,
// so a store that does not answer is no reason. It says nothing of the work on single requests and instances, which may wait
// for others as long as their deadlines allow. False before Run and after it.
func (op *Operator) Stalled() bool {
	l := op.elector
	turned := l.shown.turned.Load()
	// A renewal is at most four calls: write, read, write again, read who succeeded.
	return turned != nil && l.clock.Since(*turned) > l.ttl/4+4*l.request+stallGrace
}

// shown is what an elector shows of itself, at any time.
type shown struct {
	budget atomic.Pointer[store.Budget] // the budget in the lease before the present write
	turned atomic.Pointer[time.Time]    // when the loop last ran; nil: it is not running
	read   atomic.Pointer[time.Time]    // the last read of the lease while waiting; nil: no attempt yet; zero: no read succeeded
	leads  atomic.Bool
	term   atomic.Int64 // of the lease, as last read or taken
}

func (s *shown) turn(now time.Time) { s.turned.Store(&now) }

func (s *shown) lead(term int64) {
	s.term.Store(term)
	s.leads.Store(true)
}

// follow ends a tenure: it was the store that said so, unless the process stops.
func (s *shown) follow(now time.Time) {
	s.read.Store(&now)
	s.leads.Store(false)
}
