package reconciler_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// S15 S60 S86 H37: twenty runs at once over room for twelve machines. Every job runs on a machine of its
// run, also those that are queued while others of the label are given back; no runner name serves twice;
// and GitHub knows no runner of ours in the end, without the sweep that looks for lost ones.
func TestCrowd_S15_S86_H37(t *testing.T) {
	for _, mode := range []store.RegistrationMode{store.JIT, store.Token} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/%d", mode, seed), func(t *testing.T) {
				run(t, func(t *testing.T, w *world) {
					r := rand.New(rand.NewPCG(seed, 0))
					w.Config.Registration, w.Config.MaxInstances, w.Config.Runners = mode, 12, 24*time.Hour
					w.IdlePoll = time.Second
					w.Hub.SetLatency(githubsim.Latency{
						API:     time.Duration(r.IntN(1000)) * time.Millisecond,
						Session: time.Duration(r.IntN(3000)) * time.Millisecond,
					})
					defer w.controller("c1", nil)()
					w.tellCrowd(r, 20)
					if n := w.Fleet.Launched(); n != 12 {
						t.Errorf("launched %d machines, want 12", n)
					}
					w.checkDrained(20 * time.Minute)
				})
			})
		}
	}
}

// tellCrowd lets as many runs live side by side to their ends.
func (w *world) tellCrowd(r *rand.Rand, runs int) {
	var group sync.WaitGroup
	for i := range runs {
		id, count := fmt.Sprint(100+i), 1+r.IntN(3)
		late, jobs, first := time.Duration(r.IntN(3000))*time.Millisecond, r.IntN(3*count), r.IntN(5)
		req := spec(id, count)
		req.Timeout = store.SecondsOf(30 * time.Minute)
		done := w.submit(req)
		group.Go(func() {
			defer done()
			queued := w.jobs(id, first, 5) // before there is a machine
			w.awaitPhase(id, 1, statemachine.Ready, 30*time.Minute)
			queued = append(queued, w.jobs(id, jobs, 3)...)
			w.awaitJobs(queued, 10*time.Minute)
			time.Sleep(late)
			w.release(id, 1, store.Drain)
			w.awaitPhase(id, 1, statemachine.ReleasedPhase, 5*time.Minute)
		})
	}
	group.Wait()
}
