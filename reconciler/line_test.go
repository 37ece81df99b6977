package reconciler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// seatsInLine is how many machines there are for the requests of these tests.
const seatsInLine = 5

// inLine runs a controller whose machines are all held by one request while n others wait for one each.
func (w *world) inLine(n int) *reconciler.Metrics {
	w.t.Helper()
	w.Boot, w.Config.MaxInstances, w.Config.Scan = time.Second, seatsInLine, 24*time.Hour
	m := reconciler.NewMetrics()
	w.controllerWith("c1", reconciler.Options{Metrics: m})
	w.submit(spec("holder", seatsInLine))
	w.awaitPhase("holder", 1, statemachine.Ready, time.Minute)
	for i := range n {
		r := spec(lineID(i), 1)
		r.Timeout = store.SecondsOf(5 * time.Hour)
		w.submit(r)
		w.awaitPhase(lineID(i), 1, statemachine.Pending, time.Minute)
	}
	time.Sleep(20 * time.Second)
	return m
}

func lineID(i int) string { return fmt.Sprintf("w%04d", i) }

// looksServed is how many looks at requests one that is served may make: its own, from the line to its records'
// expiry, and those of the next ones that it makes room for.
const looksServed = 15

// S60: what a line of waiting requests costs grows with its length and no faster, counted in looks, not in time: at rest
// only the first looks, however long the line is, and one that is served makes no others look than the few that it
// leaves something for. They are served in the order in which they came.
func TestLine_LooksGrowLinearly_S60(t *testing.T) {
	for _, n := range []int{10, 50, 150} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			run(t, func(t *testing.T, w *world) {
				m := w.inLine(n)
				before := m.Counts().Looks
				time.Sleep(time.Minute)
				rest := m.Counts().Looks - before
				if rest > 10 {
					t.Errorf("%d looks in a minute at rest, want those of the first in line: one every %s", rest, w.Config.WarmPoll)
				}
				before = m.Counts().Looks
				w.serveLine(n)
				looks := m.Counts().Looks - before
				if most := int64(looksServed * (n + 1)); looks > most {
					t.Errorf("%d looks to serve %d, want at most %d", looks, n, most)
				}
				t.Logf("%d waiting: %d looks in a minute at rest, %.1f for each that was served", n, rest, float64(looks)/float64(n+1))
			})
		})
	}
}

// serveLine gives back what the holder has, and then what each request gets, as soon as it is Ready. It checks that they
// come in order, as far as several that are served at once have one.
func (w *world) serveLine(n int) {
	w.t.Helper()
	w.release("holder", 1, store.Drain)
	first, served := 0, map[int]bool{}
	w.await(time.Duration(n)*10*time.Second, "all served", func() bool {
		for i := first; i < min(n, first+3*seatsInLine); i++ {
			if served[i] || w.status(lineID(i)).Phase != statemachine.Ready {
				continue
			}
			if i-first >= 2*seatsInLine {
				w.t.Errorf("%s is served while %s waits", lineID(i), lineID(first))
			}
			served[i] = true
			w.release(lineID(i), 1, store.Drain)
		}
		for served[first] {
			first++
		}
		return first == n
	})
}
