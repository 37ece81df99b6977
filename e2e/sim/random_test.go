package sim_test

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/e2e/sim/lived"
)

var (
	seedFlag  = flag.Uint64("sim.seed", 4, "first seed of the random stories")
	hoursFlag = flag.Float64("sim.hours", -1, "instance-hours to live through; 0: one seed; -1: a small sample")
	forFlag   = flag.Duration("sim.for", 0, "begin no random story after so long; 0: no limit")
	shardFlag = flag.String("sim.shard", "0/1", "i/n: only one seed in n, for an nth of the hours")
)

// sample is how many seeds a test run without flags lives through.
var sample = sampled(3, 1)

// atDefault is how much of all instance-hours is lived at the product's own intervals, at least.
const atDefault = 0.02

// G10, G11, G12: random stories, until enough instance-hours were lived.
func TestRandom(t *testing.T) {
	shard, of, err := parseShard(*shardFlag)
	check(t, err)
	var s lived.Sum
	var c covering
	start := time.Now()
	for seed := *seedFlag; ; seed++ {
		if (seed+seed/2)%uint64(of) != uint64(shard) { // in turns, and those at pace 1, too
			continue
		}
		o := sim.Random(seed)
		begin := time.Now()
		r := sim.Run(t, o)
		got := lived.Progress{Next: seed + 1, Sum: &lived.Sum{}}
		got.Sum.Add(seed, o, r, time.Since(begin))
		s.Merge(*got.Sum)
		for _, v := range r.Violations {
			got.Broken = append(got.Broken, fmt.Sprintf("seed %d: %s", seed, v))
		}
		if len(r.Violations) > 0 {
			got.Broken = append(got.Broken, fmt.Sprintf("seed %d: again with: go test ./e2e/sim -run TestRandom -sim.seed=%d -sim.hours=0", seed, seed))
		}
		for _, text := range got.Broken {
			t.Error(text)
		}
		c.add(t, o, r)
		c.tell(t, got)
		switch h := *hoursFlag; {
		case *forFlag > 0 && time.Since(start) > *forFlag:
		case h < 0 && s.Stories < sample, h > 0 && (s.Hours < h/float64(of) || s.AtDefault < h*atDefault/float64(of)):
			continue
		}
		break
	}
	tally(t, s.Stories, s.Injected(), s.Hours, s.Violations)
	if *tellFlag {
		return // the campaign adds up what all processes told, and judges the sum
	}
	t.Log(s.Tell())
	if !s.Serves() {
		t.Errorf("%d of %d requests were served: an installation that serves few breaks few laws", s.Ready, s.Requests)
	}
}

func parseShard(text string) (i, n int, err error) {
	a, b, ok := strings.Cut(text, "/")
	i, errI := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	if !ok || errI != nil || errN != nil || i < 0 || i >= n {
		return 0, 0, fmt.Errorf("-sim.shard: must be i/n with 0 <= i < n, got %q", text)
	}
	return i, n, nil
}
