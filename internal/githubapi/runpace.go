package githubapi

import (
	"slices"
	"time"

	"github.com/google/go-github/v84/github"
	"golang.org/x/time/rate"
)

const (
	// unsaidLimit is how many calls an hour are assumed until GitHub says: those of a person, and the least of an App (GitHub
	// REST, "Rate limits").
	unsaidLimit = 5000
	// mostLimit bounds what it says, for the arithmetic.
	mostLimit = 1_000_000
	// pointsPerMinute is one of GitHub's secondary limits; a GET is one point (GitHub REST, "Rate limits").
	pointsPerMinute = 900
	// actsPerMinute is half of the requests a minute that may create content, a secondary limit too (as above: 80); passing it
	// would hold every call.
	actsPerMinute = 40
	// burstOf is the part of an hour's share that may be taken at once: five minutes of it.
	burstOf = 12
	// answersIn is when to come back if only calls under way leave no room: most of them are answered by then, and for free.
	answersIn = time.Second
)

// runPace keeps calls about runs to their part of the budgets, so that registrations and deletions find theirs. Its owner locks.
//
// The bucket holds what may be taken at once and is filled with the rest of the hour's share, so that no hour, the first
// included, sees more than the share. What an answer cost is known once it is there: until then a call counts in full.
type runPace struct {
	share    float64
	bucket   *rate.Limiter
	underWay int // calls of watching
	limit    int // calls an hour, as GitHub says
	resets   time.Time
	watches  window
	acts     window
}

func newRunPace(now time.Time, share float64) *runPace {
	p := &runPace{
		share: share, bucket: rate.NewLimiter(0, mostLimit), limit: unsaidLimit,
		watches: window{most: max(1, int(share*pointsPerMinute))}, acts: window{most: actsPerMinute},
	}
	p.setRate(now, unsaidLimit)
	return p
}

// take returns zero if there is room for a call of g, and takes it; else when to come back.
func (p *runPace) take(g group, now time.Time) time.Time {
	w, turn := &p.acts, time.Time{}
	if g == watching {
		w, turn = &p.watches, p.turn(now)
	}
	at := w.free(now)
	if turn.After(at) {
		at = turn
	}
	if !at.IsZero() {
		return w.after(now, at)
	}
	w.taken = append(w.taken, now)
	if g == watching {
		p.underWay++
	}
	return time.Time{}
}

// turn returns zero if the share has room for a call of watching.
func (p *runPace) turn(now time.Time) time.Time {
	if !p.resets.IsZero() && !now.Before(p.resets) {
		p.resets = time.Time{}
		p.setRate(now, float64(p.limit))
	}
	switch tokens := p.bucket.TokensAt(now); {
	case tokens >= 1+float64(p.underWay):
		return time.Time{}
	case tokens >= 1:
		return now.Add(answersIn)
	default:
		seconds := longestHold.Seconds()
		if limit := float64(p.bucket.Limit()); limit > 0 {
			seconds = min((1-tokens)/limit, seconds)
		}
		// A millisecond more, so that who comes then is not sent away by rounding.
		at := now.Add(time.Duration(seconds * float64(time.Second))).Add(time.Millisecond)
		if !p.resets.IsZero() && p.resets.Before(at) {
			return p.resets // when the rate is another
		}
		return at
	}
}

// done tells that a call of watching is over. A lost reply costs as much as one that came.
func (p *runPace) done(now time.Time, free bool) {
	p.underWay--
	if !free {
		p.bucket.ReserveN(now, 1)
	}
}

// learn reads what GitHub says of the budget: what others leave of it until its reset counts, if it is less than the whole.
func (p *runPace) learn(now time.Time, r github.Rate, server time.Time) {
	if r.Limit <= 0 {
		return
	}
	p.limit = min(r.Limit, mostLimit)
	perHour := float64(p.limit)
	p.resets = time.Time{}
	if left := min(r.Reset.Sub(server), longestHold); left > 0 {
		perHour = min(perHour, float64(max(r.Remaining, 0))/left.Hours())
		p.resets = now.Add(left)
	}
	p.setRate(now, perHour)
}

func (p *runPace) setRate(now time.Time, perHour float64) {
	perHour *= p.share
	p.bucket.SetLimitAt(now, rate.Limit(perHour*(burstOf-1)/burstOf/time.Hour.Seconds()))
	p.bucket.SetBurstAt(now, max(1, int(perHour/burstOf)))
}

// window counts calls of the last minute, exactly: a bucket that lets some at once and no more than so many in any minute
// would be slower than them.
type window struct {
	most  int
	taken []time.Time // oldest first
	told  time.Time   // to come back, last
}

// free returns zero if there is room for one more, else when there will be.
func (w *window) free(now time.Time) time.Time {
	w.taken = slices.DeleteFunc(w.taken, func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	if len(w.taken) < w.most {
		return time.Time{}
	}
	return w.taken[len(w.taken)-w.most].Add(time.Minute)
}

// after returns when to come back for one who has no room before at: later than those before, so that all of them do not come
// for the same place.
func (w *window) after(now, at time.Time) time.Time {
	if next := w.told.Add(time.Minute / time.Duration(w.most)); next.After(at) {
		at = next
	}
	if end := now.Add(longestHold); at.After(end) {
		at = end
	}
	w.told = at
	return at
}
