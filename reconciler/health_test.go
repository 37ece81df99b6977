package reconciler_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// The lease says when a leading controller last read everything and looked at the fleet, since when it does not believe
// the fleet, and what GitHub leaves it.
func TestHealth_StandsInTheLease(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		fleet := &blind{Fleet: w.Fleet}
		budget := store.GitHubBudget{Remaining: 12, Limit: 5000, ResetAt: store.At(w.Clock.Now())}
		defer w.controllerWith("c1", reconciler.Options{Fleet: fleet, Health: func() store.Health {
			return store.Health{ControllerVersion: "v7", GitHub: budget}
		}})()
		w.warm("100", 5)
		health := func() (store.Health, time.Time) {
			t.Helper()
			l, err := w.Store.Lease(t.Context())
			if err != nil || l.Holder != "c1" {
				t.Fatalf("lease = %+v, %v, want of c1", l, err)
			}
			return l.Health, w.Clock.Now()
		}
		time.Sleep(w.Config().Scan + w.Config().Sweep)
		h, now := health()
		if h.ControllerVersion != "v7" || h.GitHub != budget {
			t.Errorf("health = %+v, want version and budget as they are", h)
		}
		if scan, sweep := now.Sub(h.ScannedAt.Time), now.Sub(h.SweptAt.Time); scan < 0 || scan > time.Minute || sweep < 0 || sweep > w.Config().Sweep+time.Second {
			t.Errorf("read %s ago and compared %s ago, want since the periods came round", scan, sweep)
		}
		if !h.ListingIncompleteAt.IsZero() || !h.BreakerOpenAt.IsZero() {
			t.Errorf("health = %+v, want nothing held back", h)
		}
		w.Hub.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: clientCalls})
		gone := w.submit(spec("200", 1))
		w.await(time.Minute, "GitHub's outage", func() bool { h, _ := health(); return h.GitHubOutage.Reason == reconciler.ReasonGitHubDown })
		w.Hub.SetOutage(githubsim.Outage{})
		w.awaitPhase("200", 1, statemachine.Ready, 2*time.Minute)
		w.await(time.Second, "its end", func() bool { h, _ := health(); return h.GitHubOutage == store.Outage{} })
		w.release("200", 1, store.ReleaseNow)
		gone()
		closed := w.Clock.Now()
		fleet.eyes.Store(true)
		time.Sleep(3 * w.Config().Sweep)
		if h, _ := health(); h.ListingIncompleteAt.Sub(closed) < 0 || h.ListingIncompleteAt.Sub(closed) > w.Config().Sweep+time.Second {
			t.Errorf("the listing is not believed since %s, want since soon after %s", h.ListingIncompleteAt, closed)
		}
		fleet.eyes.Store(false)
		w.await(2*w.Config().Sweep, "believed again", func() bool { h, _ := health(); return h.ListingIncompleteAt.IsZero() })
	})
}
