package sim

import (
	"strings"
	"sync"
	"time"
)

// disturbances knows when anything was out of order: only once that has been over for a while the laws expect that what is due
// happens soon.
type disturbances struct {
	w *World

	mu           sync.Mutex
	last         time.Duration // until when anything was out of order, or a call met a fault
	lastButDeath time.Duration // the same, but for deaths of controllers
}

// disturbs reports whether an action puts anything out of order. What runs, operators and the fleet's offer ask for, and what GitHub shows of runs late, is everyday.
func disturbs(a Action) bool {
	switch a.(type) {
	case Workflow, drain, template, capacity, scarce, orphanMachine, githubView, noPrices, refuseItem, spoil, deaf:
		return false
	}
	return true
}

// killsLeader reports whether an action is the death of a controller.
func killsLeader(a Action) bool {
	k, ok := a.(kill)
	return ok && strings.HasPrefix(k.Who, string(Controller))
}

// note notes that something is out of order for so long from now on. A controller that died leaves all to the next one.
func (d *disturbances) note(lasting time.Duration, died bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	until := d.w.since() + lasting
	d.last = max(d.last, until)
	if !died {
		d.lastButDeath = max(d.lastButDeath, until)
	}
}

// calmSince returns the time of the story since which nothing is out of order; later than now: something is. A story in which
// nothing ever was has been calm for longer than it lasts.
func (d *disturbances) calmSince() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.since(d.last)
}

// succeedsSince is calmSince, for what a controller makes good at once that takes over from one that died.
func (d *disturbances) succeedsSince() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.since(d.lastButDeath)
}

func (d *disturbances) since(last time.Duration) time.Duration {
	if last == 0 {
		return -d.w.o.paced(time.Hour)
	}
	return last
}

const (
	settles   = 4 * time.Minute  // a scan, and what follows from what it finds
	callsTake = 10 * time.Second // what has no pace: GitHub and EC2 answer in up to 3 s
)

// late reports whether something that was due since an instant, within a bound at pace 1, has not happened though nothing
// kept it: what was out of order may have hidden it until the next scan.
func (d *disturbances) late(since time.Time, within time.Duration) bool {
	return d.overdue(since, d.w.o.paced(within)+callsTake, d.calmSince())
}

// overdue reports whether something is late that nothing keeps since an instant of the story.
func (d *disturbances) overdue(since time.Time, within, calm time.Duration) bool {
	from := since.Sub(d.w.begin)
	if calm+d.w.o.paced(settles) > from {
		from = max(from, calm) + d.w.o.paced(settles)
	}
	return d.w.since()-from > within
}

// calm reports whether nothing has been out of order for so long that nothing hides from the leader.
func (d *disturbances) calm() bool { return d.calmSince() <= d.w.since()-d.w.o.paced(settles) }
