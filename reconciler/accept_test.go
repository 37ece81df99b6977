package reconciler

import (
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// A request that is just being taken up claims from the pool at once, but not what an older one that waits is short of.
func TestAccept_LeavesTheOlderWhatItNeeds(t *testing.T) {
	for _, c := range []struct {
		name    string
		older   []waiter
		machine string
		claims  bool
	}{
		{"nobody waits", nil, "c6i.large", true},
		{"an older one waits for it", []waiter{inLine("100", -1, 1, small())}, "c6i.large", false},
		{"an older one waits for another", []waiter{inLine("100", -1, 1, small("m5.*"))}, "c6i.large", true},
		{"a younger one waits for it", []waiter{inLine("100", 1, 1, small())}, "c6i.large", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			term, _, _ := newTestTerm(t, storetest.NewMemory(clocktesting.NewFakeClock(dawn)), nil)
			for _, w := range c.older {
				term.cache.index.waiting.set(w)
			}
			candidate := ticketOf(inState("i-1", 1, statemachine.Idle, ""))
			candidate.InstanceType = c.machine
			term.cache.index.pickup.Put(candidate)
			term.cache.requests.applyRun("200", store.RunRecords{Request: &store.RunRequest{
				ID: "200", Attempt: 1, Count: 1, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"*"}, ResourceClass: "small",
				Timeout: 60, Version: 1,
			}}, dawn)
			r, _ := term.cache.requests.getRun("200")
			if err := term.requests.accept(t.Context(), r, true); err != nil {
				t.Fatal(err)
			}
			// A claim of what the cache does not know is lost at once, and has that machine looked at.
			if tried := term.queues.instances.Len() > 0; tried != c.claims {
				t.Errorf("tried to claim: %t, want %t", tried, c.claims)
			}
		})
	}
}
