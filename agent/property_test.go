package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/bubbletest"
)

// S17 S37 S86 H40 H42 H48 H71: whatever happens in whatever order, with lost replies, stale reads,
// failing calls and restarts of the agent: never two listeners; every listener carries exactly the
// label of the run its material is for; none starts on a machine that was not cleaned after another
// run; no job is ended that may finish; every assignment is answered once the world is quiet; and
// the end of the record is the end of the machine, with nothing registered after it.
func TestAgent_RandomHistories_S17_S37_S86_H40_H42_H48_H71(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		history := rapid.SliceOfN(rapid.SampledFrom(ops), 1, 40).Draw(rt, "history")
		seed := rapid.Uint64().Draw(rt, "seed")
		own := filepath.Join(dir, strconv.Itoa(n))
		n++
		if err := os.Mkdir(own, 0o755); err != nil {
			t.Fatal(err)
		}
		var violation error
		bubbletest.Run(t, func(t *testing.T) { violation = play(t, own, history, seed) })
		if violation != nil {
			rt.Fatal(violation)
		}
	})
}

// play runs one history to its end and returns the first violation.
func play(t *testing.T, dir string, history []op, seed uint64) error {
	p := newPlayer(t, dir, seed)
	defer p.stop()
	for _, o := range history {
		p.play(o)
		synctest.Wait()
		p.check(fmt.Sprintf("after %q", o))
	}
	p.quiet()
	p.end()
	p.law.mu.Lock()
	defer p.law.mu.Unlock()
	return p.law.violation
}
