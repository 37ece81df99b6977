package sim

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// olderBy is how much older a request is that goes first, at pace 1: two of the same seconds are served in any order.
const olderBy = 5 * time.Second

// demand are the laws on what comes for requests: no more machines than needed, and warm ones to who waits longest.
type demand struct {
	w       *World
	records *records
	facts   *facts
	floors  *floorLaws

	tokens map[string]string // launch of each machine
}

func newDemand(w *World, r *records, f *facts, floors *floorLaws) *demand {
	return &demand{w: w, records: r, facts: f, floors: floors, tokens: map[string]string{}}
}

// launched: a machine comes of a launch that was written down before (H01, H32), and only while those that came before
// it do not suffice (H02, H33). Launches that several requests share are not counted: nobody knows yet whose it is.
func (d *demand) launched(fm fleet.Machine) {
	d.records.mu.Lock()
	defer d.records.mu.Unlock()
	l, known := d.records.launches[fm.LaunchToken]
	if !known {
		d.w.verdicts.broke(Known, "machine %s was launched as %s, of which there is no record", fm.ID, fm.LaunchToken)
		return
	}
	d.tokens[fm.ID] = fm.LaunchToken
	d.facts.counted(l)
	d.floors.capped(fm.ID, l)
	if len(l.Seats) != 1 {
		return
	}
	seat, good := l.Seats[0], 0
	for id, token := range d.tokens {
		other := d.records.launches[token]
		in, recorded := d.records.instances[store.InstanceID(id)]
		switch {
		case recorded && in.State.Owned() && in.RunID == seat.RequestID && in.Attempt == seat.Attempt:
			good++
		case !recorded && len(other.Seats) == 1 && other.Seats[0].RequestID == seat.RequestID && other.Seats[0].Attempt == seat.Attempt && d.w.machines.lives(id):
			good++
		}
	}
	if class, floor := seat.RequestID.Floor(); floor {
		d.floors.launched(fm.ID, class, l, good-1)
		return
	}
	if want := d.records.requests[seat.RequestID][seat.Attempt].most; good > want {
		d.w.verdicts.broke(Needed, "%s is the %dth machine at once for %d seats of %s/%d", fm.ID, good, want, seat.RequestID, seat.Attempt)
	}
}

// cameBefore notes for whom a machine came that was there before.
func (d *demand) cameBefore(fm fleet.Machine) {
	d.records.mu.Lock()
	defer d.records.mu.Unlock()
	d.tokens[fm.ID] = fm.LaunchToken
	if l, known := d.records.launches[fm.LaunchToken]; known {
		d.facts.counted(l)
	}
}

// launchedNeeded: at most so many machines come for one attempt, and one more for each leader that may have replaced one for
// GitHub's sake.
func (d *demand) launchedNeeded(l store.Launch) {
	for _, seat := range l.Seats {
		if _, floor := seat.RequestID.Floor(); floor {
			continue // it launches for as long as it is configured
		}
		got := 0
		for _, other := range d.records.launches {
			for _, s := range other.Seats {
				if s.RequestID == seat.RequestID && s.Attempt == seat.Attempt {
					got += len(s.Instances)
				}
			}
		}
		want := d.records.requests[seat.RequestID][seat.Attempt].most
		if budget := leastBudget(want) + len(d.facts.spared[seat.RequestID][seat.Attempt]); got > budget {
			d.w.verdicts.broke(Needed, "%d machines were launched for %d seats of %s/%d, at most %d may be", got, want, seat.RequestID, seat.Attempt, budget)
		}
	}
}

// inLine: warm machines go to the oldest request that waits for such. Only clear cases count: an older request
// that asks for the same, for no more, and has not even a launch.
func (d *demand) inLine(was, st store.RunStatus) {
	if st.Phase != statemachine.Ready || was.Phase == statemachine.Ready || st.Attempt != 1 {
		return
	}
	mine := d.records.requests[st.ID][1]
	for _, seat := range st.Instances {
		if d.records.instances[seat.InstanceID].Assignment <= 1 {
			return // launched for it
		}
	}
	for id, older := range d.records.status {
		theirs := d.records.requests[id][1]
		if older.Phase != statemachine.Pending || older.Attempt != 1 || len(d.records.requests[id]) > 1 || theirs.Released() ||
			st.PendingAt.Sub(older.PendingAt.Time) < d.w.o.paced(olderBy) ||
			theirs.Count > mine.Count || theirs.ResourceClass != mine.ResourceClass ||
			!slices.Equal(theirs.UsageClasses, mine.UsageClasses) || !slices.Equal(theirs.AllowedInstanceTypes, mine.AllowedInstanceTypes) {
			continue
		}
		if !d.records.served(id) {
			d.w.verdicts.broke(Answered, "request %s got warm machines %s after %s, which waits for the same and has nothing",
				st.ID, st.PendingAt.Sub(older.PendingAt.Time), id)
		}
	}
}
