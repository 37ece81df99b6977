package sim_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/e2e/sim/lived"
	"github.com/remuda-run/remuda/store"
)

var (
	budgetFlag = flag.Duration("sim.budget", 0, "hunt for a planted bug with all modes, for so much time of a processor")
	taleFlag   = flag.String("sim.tale", "", "hunt in one story alone, by the name that a hunt has told")
)

// roomy is more memory than a simulation takes: a bug that grows for ever shall not take the computer with it.
const roomy = 6 << 30

// G10: no mode finds anything in the program as it is. e2e/sim/campaign builds this test with each planted bug and reads
// what finds it.
func TestHunt(t *testing.T) {
	if *budgetFlag == 0 && *taleFlag == "" {
		t.Skip("a hunt takes minutes: make killrate runs it")
	}
	check(t, syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: roomy, Max: roomy}))
	h := newHunter(t, os.Stdout, nil)
	if h.budget = *budgetFlag; *taleFlag == "" {
		h.everything()
	} else if ref, ok := lived.ParseStoryRef(*taleFlag); !ok || !h.again(ref) {
		t.Fatalf("-sim.tale: got %q, must be <mode>: <story>, as a hunt tells it", *taleFlag)
	}
	if h.found == nil {
		return
	}
	line, err := h.found.Line()
	check(t, err)
	fmt.Fprint(h.out, line)
	t.Errorf("in %s: %s: %s", h.found.StoryRef, h.found.Law, h.found.Text)
}

// processorTime is what this process has taken of processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0 // it cannot fail for oneself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// hunter tells stories until something is wrong.
type hunter struct {
	t      *testing.T
	out    io.Writer
	budget time.Duration // of a processor; 0: no limit
	spent  func() time.Duration
	under  func(store.Table) store.Table // of all stories; nil: nothing

	standing []sim.Story
	quiet    []sim.Report // of the stories without a fault
	pairs    [][]sim.Fault
	sum      lived.Sum // of random stories
	seeds    struct{ random, kills uint64 }
	found    *lived.Find
}

func newHunter(t *testing.T, out io.Writer, under func(store.Table) store.Table) *hunter {
	return &hunter{t: t, out: out, spent: processorTime, under: under, standing: sim.Stories()}
}

// over reports whether the hunt is: something was found, or the budget is spent.
func (h *hunter) over() bool { return h.found != nil || h.budget > 0 && h.spent() >= h.budget }

// tell tells one story and looks for a broken law, or for what its mode expects and does not come. The latter must be
// so twice: a busy computer may change a story, but not into one that breaks a law.
func (h *hunter) run(ref lived.StoryRef, o sim.Script, expect func(sim.Report) (what, text string)) sim.Report {
	fmt.Fprintf(h.out, "%s%s\n", lived.BeginMark, ref)
	o.Hasty, o.Under = true, h.under
	r := sim.Run(h.t, o)
	if h.broken(ref, r) || expect == nil {
		return r
	}
	if what, _ := expect(r); what != "" {
		again := sim.Run(h.t, o)
		if h.broken(ref, again) {
			return r
		}
		if what, text := expect(again); what != "" {
			h.found = &lived.Find{StoryRef: ref, Law: what, Text: text, Expect: true}
		}
	}
	return r
}

func (h *hunter) broken(ref lived.StoryRef, r sim.Report) bool {
	if len(r.Violations) == 0 {
		return false
	}
	v := r.Violations[0]
	h.found = &lived.Find{StoryRef: ref, Law: v.Law, Text: fmt.Sprintf("after %s: %s", v.At, v.Text)}
	return true
}

// everything is all modes, in the order in which they have found most soonest: a slice of each, then the rest.
func (h *hunter) everything() {
	const (
		slices = 20
		full   = 30 * time.Minute // the budget that the shares of random stories are for
	)
	share := func(d time.Duration) time.Duration {
		return min(d, time.Duration(float64(d)*float64(h.budget)/float64(full)))
	}
	h.stories()
	h.singles(0, 1, slices)
	h.kills(3)
	h.random(share(time.Minute))
	h.pair(0, 1, 2*slices)
	h.singles(1, slices, slices)
	h.random(share(4 * time.Minute))
	h.pair(1, 2*slices, 2*slices)
	for !h.over() {
		h.random(share(time.Minute))
		h.kills(4)
	}
}

// stories tells the standing stories without a fault.
func (h *hunter) stories() {
	for _, s := range h.standing {
		if h.over() {
			return
		}
		h.quiet = append(h.quiet, h.run(lived.StoryRef{Mode: "stories", Story: s.Name}, s.Script, nil))
	}
}

// singles tells those of TestSingles in slices from to to-1, of so many.
func (h *hunter) singles(from, to, of int) {
	n := 0
	for i, story := range h.standing {
		if h.over() {
			return
		}
		if story.Alone {
			continue
		}
		for _, f := range sim.Singles(h.quiet[i].Made) {
			slice := n % of
			if n++; slice < from || slice >= to {
				continue
			}
			if h.single(story, i, f); h.over() {
				return
			}
		}
	}
}

func (h *hunter) single(story sim.Story, i int, f sim.Fault) {
	o := story.Script
	o.Faults = []sim.Fault{f}
	h.run(lived.StoryRef{Mode: "singles", Story: story.Name + ": " + f.String()}, o, func(r sim.Report) (what, text string) {
		return singleWrong(story, f, h.quiet[i], r)
	})
}

// pair tells those of TestPairs in slices from to to-1, of so many.
func (h *hunter) pair(from, to, of int) {
	if h.over() {
		return
	}
	if h.pairs == nil {
		r := h.run(lived.StoryRef{Mode: "pairs", Story: "none"}, sim.PairStory(), nil)
		h.pairs = sim.Pairs(r.Made)
	}
	for slice := from; slice < to; slice++ {
		for i := slice; i < len(h.pairs); i += of {
			if h.over() {
				return
			}
			o := sim.PairStory()
			o.Faults = h.pairs[i]
			h.run(lived.StoryRef{Mode: "pairs", Story: faults(o.Faults)}, o, nil)
		}
	}
}

// random tells random stories for some time of a processor, at least one.
func (h *hunter) random(long time.Duration) {
	for begin := h.spent(); !h.over(); {
		h.seeds.random++
		o := sim.Random(h.seeds.random)
		r := h.run(lived.StoryRef{Mode: "random", Story: fmt.Sprint(h.seeds.random)}, o, nil)
		h.sum.Add(h.seeds.random, o, r, 0)
		if h.sum.Stories >= 10 && !h.sum.Serves() && h.found == nil {
			h.found = &lived.Find{StoryRef: lived.StoryRef{Mode: "random"}, Law: halfServed, Text: fmt.Sprintf("%d of %d in seeds 1 to %d", h.sum.Ready, h.sum.Requests, h.sum.Last), Expect: true}
		}
		if h.spent()-begin >= long {
			return
		}
	}
}

// halfServed is what random stories are expected to come to.
const halfServed = "half of the requests are served"

// kills tells n more stories of TestKills.
func (h *hunter) kills(n int) {
	for range n {
		if h.over() {
			return
		}
		h.seeds.kills++
		h.run(lived.StoryRef{Mode: "kills", Story: fmt.Sprint(h.seeds.kills)}, sim.Kills(h.seeds.kills), killsWrong)
	}
}

// faults names faults, so that ParseFault reads them again.
func faults(all []sim.Fault) string {
	var out []string
	for _, f := range all {
		out = append(out, f.String())
	}
	return strings.Join(out, " and ")
}
