package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Work while no controller leads is an exit code of its own, after the picture, and said of the request that waits; what
// holds a leader back is in its picture.
func TestStatus_Controller(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st, c := memory(t, nil), (*cli)(nil)
		status := func(code int, args ...string) string {
			t.Helper()
			c = newCLI(st)
			c.ends(t, code, append([]string{"status"}, args...)...)
			return c.out.String()
		}
		contains(t, status(exitDone), "controller  none leads: no controller ever led\n")
		submitted(t, st, 1)
		contains(t, status(exitNoLeader), "none leads: no controller ever led\n", "77       1        waiting  0/2    small  0s   no controller ever led\n")
		contains(t, c.err.String(), "remuda: no controller leads, and there is work: no controller ever led; start `remuda controller` on this store\n")
		contains(t, status(exitNoLeader, "77"), "reason       no controller ever led\n")
		contains(t, status(exitNoLeader, "-o", "json"), `"leads": false`)

		lead(t, st, func(l *store.Lease) {
			since := store.At(time.Now().Add(-4 * time.Minute))
			l.Health.BreakerOpenAt, l.Health.GitHubOutage = since, store.Outage{Reason: reconciler.ReasonGitHubRefuses, Since: since}
			l.Health.ConfigRefused, l.Health.ConfigRefusedAt = "caps.maxInstances: must be at least 1, got 0", store.At(time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC))
			l.Health.FleetOutage = store.Outage{Reason: "of a later version", Since: since}
		})
		contains(t, status(exitDone), "controller  host-3f leads, term 7, last scan 12s ago, last sweep 4s ago, v1.2.3\n",
			"github      4812 of 5000 calls left, all of them again in 31m00s\n", "held back   for 4m00s: too many instances went silent at once",
			"github      GitHub refuses for 4m00s\n", "fleet       of a later version for 4m00s\n",
			"settings    refused since 2026-03-01T03:00:00Z, and those before stay in force: caps.maxInstances: must be at least 1, got 0\n")
		newController(t, st, "77", 1).after(0, statemachine.Accept, func(s *store.RunStatus) {
			s.Reason, s.Message, s.ReasonSince = "cap", "caps.maxInstances is reached: 2 in all", store.At(time.Now().Add(-40*time.Second))
		})
		contains(t, status(exitDone), "77       1        Pending  0/2    small  0s   caps.maxInstances is reached: 2 in all for 40s\n")
		contains(t, status(exitDone, "77"), "reason       caps.maxInstances is reached: 2 in all for 40s\n")

		time.Sleep(9 * time.Second) // a fail-over, two polls and their calls: as `remuda audit` has it
		status(exitDone)
		time.Sleep(time.Millisecond)
		contains(t, status(exitNoLeader), "none leads: host-3f has not renewed the lease for 9s\n", "no controller leads for 9s\n")
		lead(t, st, func(l *store.Lease) { l.Holder = "" })
		contains(t, status(exitDone), "controller  none leads at this moment: the lease was given up 0s ago, after term 7, last scan 12s ago")
		time.Sleep(time.Minute)
		contains(t, status(exitNoLeader), "none leads: the lease was given up 1m0s ago and no controller took it\n")
	})
}

// A role that may read requests alone sees its own, without a word of controllers.
func TestStatus_OfARoleThatMayNotSeeTheLease(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := memory(t, func(table store.Table) store.Table { return leaseless{table} })
		submitted(t, st, 1)
		c := newCLI(st)
		c.ends(t, exitDone, "status", "request", "77")
		contains(t, c.out.String(), "phase        waiting\n")
		c.ends(t, exitDone, "status", "request", "77", "-o", "json")
		if strings.Contains(c.out.String(), "controller\":") {
			t.Errorf("json says something of controllers:\n%s", &c.out)
		}
	})
}

// leaseless refuses the lease.
type leaseless struct{ store.Table }

func (l leaseless) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if slices.Contains(keys, store.LeaseKey) {
		return nil, store.ErrRefused
	}
	return l.Table.Get(ctx, c, keys...)
}

// What failed is red on a terminal, and nowhere else.
func TestStatus_Colour(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := aFleet(t)
		time.Sleep(20 * time.Second) // longer than a heartbeat may be old
		want := store.RunRequest{ID: "80", Attempt: 1, Count: 1, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"*"}, ResourceClass: "small"}
		if _, err := st.Submit(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		newController(t, st, "80", 1).after(0, statemachine.Accept, nil).after(0, statemachine.Fail, func(s *store.RunStatus) { s.Reason = "timeout" })
		for _, tt := range []struct {
			name string
			tty  bool
			env  []string
			want int
		}{{"Terminal", true, nil, 4}, {"NotWanted", true, []string{"NO_COLOR=1"}, 0}, {"Pipe", false, nil, 0}} {
			c := newCLI(st)
			c.outTTY, c.env = tt.tty, tt.env
			c.ends(t, exitNoLeader, "status")
			text := c.out.String()
			if n := strings.Count(text, "\x1b[31m"); n != tt.want || n != strings.Count(text, "\x1b[0m\n") {
				t.Errorf("%s: %d red lines, want %d whole ones:\n%q", tt.name, n, tt.want, text)
			}
		}
	})
}
