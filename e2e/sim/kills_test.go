package sim_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
)

var killsFlag = flag.Int("sim.kills", sampled(2, 1)*sim.KillsPerStory, "kills of the leading controller")

// Bounds of docs/goals.md, in virtual time.
const (
	failover = 3 * time.Second        // G13: until another leads
	restart  = 500 * time.Millisecond // G6: from then until its first claim, with a few records to read
)

// G6, G13: the leader is killed, in the middle of whatever it does. Another leads soon, claims rightly, and
// no law is broken: no double claim, no orphan.
func TestKills(t *testing.T) {
	shard, of, err := parseShard(*shardFlag)
	check(t, err)
	var leads, claims []time.Duration
	stories, killed, undone, belated, violations, hours := 0, 0, 0, 0, 0, 0.0
	var covered covering
	start := time.Now()
	for seed := *seedFlag + uint64(shard); killed < *killsFlag/of; seed += uint64(of) {
		o := sim.Kills(seed)
		r := sim.Run(t, o)
		covered.add(t, o, r)
		stories, killed, hours, violations = stories+1, killed+r.Restarts, hours+r.Hours, violations+len(r.Violations)
		sound(t, fmt.Sprint("seed ", seed), r)
		for _, f := range r.Failovers {
			leads = append(leads, f.Lead)
			if f.Claim != 0 {
				claims = append(claims, f.Claim-f.Lead)
			}
		}
		if what, text := killsWrong(r); what != "" {
			t.Errorf("seed %d: %s: %s", seed, what, text)
		}
		undone, belated = undone+r.Undone, belated+r.Belated
		if len(r.Violations) > 0 {
			t.Errorf("seed %d: again with: go test ./e2e/sim -run TestKills -sim.seed=%d -sim.kills=1", seed, seed)
		}
		if *forFlag > 0 && time.Since(start) > *forFlag {
			break
		}
	}
	covered.flush(t)
	if len(claims) < killed/4 {
		t.Fatalf("%d of %d successors found a request and a machine: too few to tell", len(claims), killed)
	}
	slices.Sort(leads)
	slices.Sort(claims)
	t.Logf("%d kills; another led after %s (median), %s (longest); %d successors found a request and a machine, and claimed %s (median), %s (longest) later; of the writes of deposed leaders %d were refused, %d came before any of their successors'",
		killed, leads[len(leads)/2], leads[len(leads)-1], len(claims), claims[len(claims)/2], claims[len(claims)-1], undone, belated)
	tally(t, stories, killed, hours, violations)
}

// killsWrong says what a story of kills came to that it should not, besides broken laws; "": nothing.
func killsWrong(r sim.Report) (what, text string) {
	for _, f := range r.Failovers {
		if f.Lead > failover {
			return "G13 another leads soon", fmt.Sprintf("killed at %s, another led after %s, at most %s", f.At, f.Lead, failover)
		}
		if f.Claim != 0 && f.Claim-f.Lead > restart {
			return "G6 it claims soon", fmt.Sprintf("killed at %s, the next leader claimed %s after it led, at most %s", f.At, f.Claim-f.Lead, restart)
		}
	}
	if r.Restarts < sim.KillsPerStory*9/10 || r.Ready == 0 {
		return "kills meet a leader, requests are served", fmt.Sprintf("%d kills met a leader, %d requests were served", r.Restarts, r.Ready)
	}
	return "", ""
}
