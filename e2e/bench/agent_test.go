package bench_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"github.com/remuda-run/remuda/e2e/program"
)

// agentWindow has eight beats of an idle machine, and 60 or 480 looks at its record.
const agentWindow = 2 * time.Minute

// BenchmarkAgent measures what the agent of an idle machine takes while nothing happens, its listener apart: processor time, and
// memory that is its own and that are pages of its program, and how often it reads and writes in an hour. Of an agent whose machine
// listens ahead, too. G7 G15
func BenchmarkAgent(b *testing.B) {
	build(b)
	for _, ahead := range []bool{false, true} {
		b.Run(fmt.Sprintf("ahead=%t", ahead), func(b *testing.B) {
			w := newWarmWorld(b, 1, 0, ahead)
			w.request("1", "cli", 1)
			w.giveBack("1")
			agent := w.agent()
			var used float64
			var looks, beats int
			for b.Loop() {
				earlierLooks, earlierBeats := w.wire.byAgents()
				before, err := agent.Stat()
				check(b, err)
				time.Sleep(agentWindow)
				after, err := agent.Stat()
				check(b, err)
				used += after.CPUTime() - before.CPUTime()
				l, s := w.wire.byAgents()
				looks, beats = looks+l-earlierLooks, beats+s-earlierBeats
			}
			is, err := agent.NewStatus()
			check(b, err)
			none(b)
			b.ReportMetric(100*used/(agentWindow.Seconds()*float64(b.N)), "cpu-%")
			hours := agentWindow.Hours() * float64(b.N)
			b.ReportMetric(float64(looks)/hours, "looks/h")
			b.ReportMetric(float64(beats)/hours, "writes/h")
			b.ReportMetric(float64(is.VmRSS)/mib, "rss-MiB")
			b.ReportMetric(float64(is.RssAnon)/mib, "own-MiB")
			b.ReportMetric(float64(is.RssFile)/mib, "program-MiB")
		})
	}
}

// agent is the process of the one machine's agent.
func (w *warmWorld) agent() procfs.Proc {
	w.b.Helper()
	left, err := program.Fleet(filepath.Join(w.dir, "fleet")).Left()
	check(w.b, err)
	for _, refs := range left {
		for _, ref := range refs {
			p, err := procfs.NewProc(ref.PID)
			check(w.b, err)
			if args, err := p.CmdLine(); err == nil && len(args) > 1 && args[1] == "agent" {
				return p
			}
		}
	}
	w.b.Fatal("no agent runs")
	return procfs.Proc{}
}
