package bench_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// These are tests and no benchmarks: only a test has a bubble, in which an hour takes seconds. What they measure does not depend on
// the machine, so they may assert it; -v prints it. docs/benchmarks.md has the figures.

// Calls an hour that GitHub grants: the least, and the most of an App (GitHub REST, "Rate limits").
var loadBudgets = []int{5000, 12500}

// 200 runs that come and go in 10 repositories are watched within the share of the rate limit and below the secondary one; each is
// given back within two rounds of the repositories, and no registration is refused or waits.
func TestRuns_200LiveWithinTheShare(t *testing.T) {
	if testing.Short() {
		t.Skip("lives through an hour of 200 machines, twice: make check runs it")
	}
	for _, perHour := range loadBudgets {
		t.Run(fmt.Sprintf("calls=%d", perHour), bubbletest.Case(func(t *testing.T) {
			l := newLoad(t, perHour, 0)
			l.live(200, 5*time.Minute) // they come one by one
			began := l.clock.Now()
			l.live(200, 30*time.Minute)
			paid, free := l.calls.watched(began)
			l.finish(time.Hour)

			share := loadShare * float64(perHour)
			// Three lists of each repository that all have changed; eleven twelfths of the share come evenly, the rest at once.
			round := time.Duration(3 * loadRepositories / (share * 11 / 12) * float64(time.Hour))
			hour, minute, watching := l.calls.most(time.Hour, paidForWatching), l.calls.most(time.Minute, points), l.calls.most(time.Minute, pointsOfWatching)
			t.Logf("of 30 min: %d calls answered 200, %d answered 304; worst hour: %d answered 200 of %.0f; worst minute: %d points, %d of watching; "+
				"%d looks put off; from over to released p50 %s, p99 %s, longest %s (a round: %s), of %d runs; from request to Ready at most %s",
				paid, free, hour, share, minute, watching, l.looks.putOff, seconds(l.delays.Quantile(.5)), seconds(l.delays.Quantile(.99)),
				seconds(l.delays.Quantile(1)), seconds(round), len(l.delays), seconds(l.waits.Quantile(1)))
			if float64(hour) > share {
				t.Errorf("%d calls of watching cost something in an hour, want at most the share of %.0f", hour, share)
			}
			if most := loadShare * githubsim.SecondaryPoints; float64(watching) > most || minute >= githubsim.SecondaryPoints {
				t.Errorf("%d points in a minute, %d of watching; want less than %d, and at most %.0f", minute, watching, githubsim.SecondaryPoints, most)
			}
			if len(l.over) > 0 || len(l.delays) < 200 {
				t.Errorf("%d runs were given back and %d were not, want all, of 200 at least", len(l.delays), len(l.over))
			}
			if longest := l.delays.Quantile(1); longest > 2*round {
				t.Errorf("a run was given back %s after it was over, want at most two rounds, %s", longest, 2*round)
			}
			if alone := l.hub.Calls()[githubsim.CallRun]; alone > len(l.delays)/10 {
				t.Errorf("%d calls for single runs, of %d; want a tenth of them at most, since lists say what became of the others", alone, len(l.delays))
			}
			l.unhindered()
		}))
	}
}

// unhindered expects that GitHub refused no call, and that nobody waited long for a machine.
func (l *runsLoad) unhindered() {
	l.t.Helper()
	if n := l.calls.refused(); n > 0 {
		l.t.Errorf("GitHub refused %d calls, want none", n)
	}
	if longest := l.waits.Quantile(1); longest > 30*time.Second {
		l.t.Errorf("a request waited %s for a machine that boots at once, want at most 30 s", longest)
	}
}

// Where others have left a tenth of the budget, watching makes a tenth of its calls, and registrations go on.
func TestRuns_LittleLeft_SlowsWatchingOnly(t *testing.T) {
	const perHour = 5000
	for _, used := range []int{0, perHour * 9 / 10} {
		left := perHour - used
		t.Run(fmt.Sprintf("left=%d", left), bubbletest.Case(func(t *testing.T) {
			l := newLoad(t, perHour, used)
			l.releases = true // so that machines come back however late the watcher is
			l.live(50, 30*time.Minute)
			paid, free := l.calls.watched(time.Time{})
			registered := l.hub.Calls()[githubsim.CallJIT]
			// The share of half an hour: a twelfth of an hour's at once, the rest evenly. Deletions of runners take from the rest too,
			// less than their hour's part: what is left for an hour grows a little.
			most := loadShare * min(perHour, l.calls.mostLeft()) * (1./12 + 11./12/2)
			t.Logf("of 30 min: %d calls answered 200 (at most %.1f), %d answered 304; %d registrations for %d machines; from request to Ready at most %s",
				paid, most, free, registered, len(l.waits), seconds(l.waits.Quantile(1)))
			if float64(paid) > most || float64(paid) < most*.8 {
				t.Errorf("%d calls of watching cost something, want nearly all of %.1f", paid, most)
			}
			if registered < len(l.waits) || len(l.waits) < 150 {
				t.Errorf("%d registrations for %d machines, want one each, of 150 at least", registered, len(l.waits))
			}
			l.unhindered()
		}))
	}
}

// An installation for one repository in which nothing happens looks at it every 15 s, for nothing.
func TestRuns_AtRest_CostNothing(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		b := newBubble(t, "octo/repo", func(h *githubsim.Hub) {
			h.SetRateLimit(githubsim.ResourceCore, githubsim.RateLimit{Limit: 5000, Window: 2 * time.Hour})
		})
		time.Sleep(time.Minute)
		began := b.clock.Now()
		time.Sleep(time.Hour)
		paid, free := b.calls.watched(began)
		t.Logf("of an hour: %d calls answered 200, %d answered 304", paid, free)
		if paid != 0 || free < 2*200 || free > 2*270 {
			t.Errorf("%d calls answered 200 and %d answered 304, want none, and two each 13.5 to 16.5 s", paid, free)
		}
	})
}

func seconds(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }
