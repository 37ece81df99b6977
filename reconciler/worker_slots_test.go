package reconciler_test

import (
	"context"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// While GitHub takes five seconds for each of a hundred machines that register, one that goes back to the pool, which
// needs no GitHub any more, is pooled as soon as it is clean.
func TestSlowGitHub_DelaysNoOther(t *testing.T) {
	takesLong(t)
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.MaxInstances = 200 })
		w.controller("c1", nil)
		w.serve(spec("100", 1), time.Minute)
		w.Hub.SetLatency(githubsim.Latency{API: 5 * time.Second})
		w.release("100", 1, store.ReleaseDrain)
		time.Sleep(4 * time.Second) // its runner is being deleted
		w.submit(spec("200", 100))
		var back store.Instance
		w.await(time.Minute, "released machine pooled", func() bool {
			for _, in := range w.Instances() {
				if in.Assignment > 1 && !in.PooledAt.IsZero() {
					back = in
				}
			}
			return back.ID != ""
		})
		if took := back.PooledAt.Sub(back.Since.Time); took > 3*time.Second {
			t.Errorf("pooled %s after its run, want a look of its agent (2 s) and a scrub", took)
		}
		w.Hub.SetLatency(githubsim.Latency{})
		w.awaitPhase("200", 1, statemachine.Ready, time.Minute)
	})
}

// slowListing is a GitHub whose listing of runners takes for ever.
type slowListing struct{ reconciler.GitHub }

func (s slowListing) Runners(ctx context.Context) ([]githubapi.Runner, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// The sweep of runners at a GitHub that does not answer delays no sweep of the fleet.
func TestSlowGitHub_DelaysNoSweep_H53(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Configure(func(c *reconciler.Config) { c.Limits.RunningSilence = time.Hour }) // only the fleet tells of the end
		w.controllerWith("c1", reconciler.Options{GitHub: slowListing{w.Hub}})
		id := w.serve(spec("100", 1), time.Minute).Instances[0].InstanceID
		w.Crash(id)
		w.await(2*w.Config().Sweep, "the machine's end noticed", func() bool {
			return w.instance(id).State == statemachine.Terminated
		})
	})
}
