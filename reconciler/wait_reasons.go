package reconciler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/store"
)

// wait is what a pending request waits for, as its status says it: without durations, which readers compute.
type wait struct {
	reason string    // one of the Reason constants
	object string    // what it waits for
	beside string    // what may change all the time: its place in line, who holds what
	since  time.Time // zero: since reason came to be
	record bool      // since is of the record that it waits for, of which another may follow for the same reason
}

// message is the sentence for people.
func (w wait) message() string {
	return strings.TrimSuffix(w.object+"; "+w.beside, "; ")
}

// start is since when a request waits for it that began to wait itself with its status.
func (w wait) start(st *store.RunStatus) time.Time {
	return store.At(later(w.since, st.PendingAt.Time)).Time
}

// How often what a pending request waits for is written, which is for people: each write costs.
const (
	// progressEvery bounds writes of another reason, object or count.
	progressEvery = time.Second
	// besideEvery bounds writes of nothing but another place in line, or other holders: a line of a thousand moves with
	// each machine.
	besideEvery = 15 * time.Second
)

// lookingInWords is what a request waits for that was just taken up.
const lookingInWords = "it looks for idle instances"

// reasons finds out what pending requests wait for.
type reasons struct {
	*tenure
	cache   *cache
	batch   *batch
	waiting *waiting
	outages *outages
	refused *exclusions

	mu        sync.Mutex
	holders   string    // who holds the most machines
	holdersAt time.Time // when that was found out
}

// of returns what a pending request waits for. What keeps all others from it comes first: then what its empty seats
// wait for, then the seat that is furthest from being ready.
func (w *reasons) of(r run, now time.Time) wait {
	held := w.cache.instances.heldBy(r.id)
	own := held[:0]
	for _, s := range held {
		if s.Attempt < r.status.Attempt {
			return wait{reason: ReasonOlderAttempt, object: fmt.Sprintf("the instances of attempt %d are still on their way back", s.Attempt)}
		}
		if !s.ready(now) {
			own = append(own, s)
		}
	}
	if one, waits := w.waiting.get(r.id); waits && one.short > 0 {
		return w.forSeats(r, one, now)
	}
	if l, open := w.cache.launches.openFor(r.id, r.status.Attempt); open {
		if down, is := w.outage(serviceFleet); is {
			return down
		}
		return wait{
			reason: ReasonLaunching, since: l.CreatedAt.Time, record: true,
			object: fmt.Sprintf("a launch of %d %s instances is under way", l.Count, l.UsageClass),
		}
	}
	if w.batch.writing(r.id, r.status.Attempt) > 0 {
		return wait{reason: ReasonLaunching, object: "the record of a launch is being written"}
	}
	if len(own) == 0 {
		return wait{reason: ReasonLooking, object: lookingInWords, since: r.status.PendingAt.Time}
	}
	furthest := w.forInstance(own[0])
	for _, s := range own[1:] {
		if other := w.forInstance(s); slices.Index(stages, other.reason) < slices.Index(stages, furthest.reason) {
			furthest = other
		}
	}
	if n := len(own); n > 1 {
		furthest.beside = fmt.Sprintf("%d instances are not ready yet", n)
	}
	return furthest
}

// forSeats returns what a request waits for that has seats for which no machine is on its way.
func (w *reasons) forSeats(r run, one waiter, now time.Time) wait {
	refused := now.Before(r.launching.retry)
	place, first := w.waiting.place(one)
	left := w.cache.capacity.left(r.id, one.query.ResourceClass)
	down, isDown := w.outage(serviceFleet)
	switch {
	case place > 0 && left < one.short:
		return wait{
			reason: ReasonBehind, object: "it is in line behind older requests of its class",
			beside: fmt.Sprintf("%s ahead, the first is request %s", placeInWords(place), first),
		}
	case left <= 0:
		return wait{reason: ReasonCap, object: w.capInWords(one.query.ResourceClass), beside: w.holding(now)}
	case isDown:
		return down
	case refused:
		if zones := w.refused.zones(one.query); len(zones) > 0 {
			return wait{reason: ReasonCapacity, object: "the fleet has no capacity: " + strings.Join(zones, ", ")}
		}
		return wait{reason: ReasonRefused, object: "the fleet refuses: " + store.Head(r.lastProblem, store.MaxMessage)}
	case w.batch.pending(r.id) > 0:
		return wait{reason: ReasonLaunching, object: "a launch is being prepared"}
	}
	return wait{reason: ReasonReturning, object: "instances that it can use are on their way back to the pool"}
}

// placeInWords says how many are ahead: exactly up to 10.
func placeInWords(ahead int) string {
	switch {
	case ahead > 100:
		return "more than 100"
	case ahead > 10:
		return "more than 10"
	}
	return fmt.Sprint(ahead)
}

// capInWords names the cap that is reached.
func (w *reasons) capInWords(class string) string {
	setting, allows := w.cache.capacity.tightest(class)
	return fmt.Sprintf("%s is reached: it allows %d", setting, allows)
}

// holding says who holds the most machines, at most as old as a poll: it is the same for all who wait.
func (w *reasons) holding(now time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holdersAt.IsZero() || now.Sub(w.holdersAt) >= w.cfg.HotPoll {
		w.holders, w.holdersAt = w.cache.instances.mostHeld(), now
	}
	return w.holders
}

// stages are the reasons of machines, the furthest from ready first.
var stages = []string{
	ReasonBoot, ReasonScript, ReasonLastJob, ReasonGitHubLocal, ReasonGitHubRefuses, ReasonGitHubThrottled, ReasonGitHubDown, ReasonRegistration, ReasonListener,
}

// forInstance returns what an instance waits for that is not ready.
func (w *reasons) forInstance(s snapshot) wait {
	github := waitsForGitHub(s)
	down, isDown := w.outage(serviceGitHub)
	switch {
	case !s.bootProven() && s.vitals.beat.UpdatedAt.IsZero():
		return wait{reason: ReasonBoot, object: fmt.Sprintf("instance %s boots", s.ID), since: s.CreatedAt.Time, record: true}
	case !s.bootProven():
		return wait{reason: ReasonScript, object: fmt.Sprintf("the script of instance %s runs", s.ID)}
	case s.draining():
		return wait{reason: ReasonLastJob, object: fmt.Sprintf("a job of the last run still runs on instance %s", s.ID)}
	case isDown:
		return down
	case github != "":
		return wait{reason: ReasonGitHubDown, object: store.Head(fmt.Sprintf("instance %s: %s", s.ID, github), maxOutageText)}
	case s.Registration.Assignment != s.Assignment || s.wantsNext():
		return wait{reason: ReasonRegistration, object: fmt.Sprintf("instance %s waits for its registration at GitHub", s.ID)}
	}
	return wait{reason: ReasonListener, object: fmt.Sprintf("the runner of instance %s is not online yet", s.ID)}
}

// outage returns the wait for a service that does not serve.
func (w *reasons) outage(service string) (wait, bool) {
	down, is := w.outages.of(service)
	if !is {
		return wait{}, false
	}
	return wait{reason: down.reason, object: down.text, since: down.since}, true
}

// due says whether what a request waits for is to be written, and in how long.
func (w *reasons) due(r run, is wait, counts store.Counts, now time.Time) (time.Duration, bool) {
	last := later(r.status.PendingAt.Time, r.progressAt)
	switch {
	case is.reason != r.status.Reason, is.record && !is.start(r.status).Equal(r.status.ReasonSince.Time), !strings.HasPrefix(r.status.Message, is.object), counts != r.status.Counts:
		return last.Add(progressEvery).Sub(now), true
	case is.message() != r.status.Message:
		return last.Add(besideEvery).Sub(now), true
	}
	return 0, false
}

// run keeps the statuses of pending requests true until ctx ends.
func (w *reasons) run(ctx context.Context) error {
	ticker := w.clock.NewTicker(w.cfg.HotPoll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			w.refresh()
		}
	}
}

// refresh has those pending requests looked at whose status no longer says what they wait for: who waits does not look by
// itself (ADR 0017).
func (w *reasons) refresh() {
	now := w.clock.Now()
	for _, id := range w.cache.requests.pendingIDs() {
		r, ok := w.cache.requests.getRun(id)
		if !ok || r.status == nil || r.request == nil {
			continue
		}
		if in, due := w.due(r, w.of(r, now), r.status.Counts, now); due && in <= 0 {
			w.queues.requests.Add(id)
		}
	}
}
