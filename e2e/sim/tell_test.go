package sim_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/e2e/sim/lived"
)

var tellFlag = flag.Bool("sim.tell", false, "say what stories covered, in lines that e2e/sim/campaign reads")

// batch is how many short stories are told of in one line.
const batch = 1000

// covering tells the campaign what stories covered.
type covering struct {
	collector lived.Collector
	stories   int
}

// add adds what became of a story.
func (c *covering) add(t *testing.T, o sim.Script, r sim.Report) {
	t.Helper()
	if !*tellFlag {
		return
	}
	c.collector.Add(o, r)
	if c.stories++; c.stories%batch == 0 {
		c.flush(t)
	}
}

// flush tells what was not told yet.
func (c *covering) flush(t *testing.T) {
	t.Helper()
	c.tell(t, lived.Progress{})
}

// tell is flush with more to tell.
func (c *covering) tell(t *testing.T, p lived.Progress) {
	t.Helper()
	if !*tellFlag {
		return
	}
	p.Part = c.collector.Part()
	line, err := p.Line()
	check(t, err)
	fmt.Fprint(os.Stdout, line)
}
