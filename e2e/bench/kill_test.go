package bench_test

import (
	"fmt"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/e2e/program"
)

const kills = 6

// BenchmarkKill measures from kill -9 of the controller that leads, another waiting, to the first claim for a request that came when
// nobody led; "led" is from the kill to the lease's next term, "claim" from there to the claim. G6 G13
func BenchmarkKill(b *testing.B) {
	build(b)
	for _, others := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("records=%d", others), func(b *testing.B) {
			w := newWarmWorld(b, 1, others, false)
			w.request("1", "cli", 1)
			w.giveBack("1")
			waiting := w.standby(0)
			var led, claim, whole bench.Times
			for b.Loop() {
				for range kills {
					n := len(whole) + 1
					id := strconv.Itoa(1000 + n)
					w.live(id)
					term := w.term()
					killed := time.Now()
					w.controller.End(syscall.SIGKILL)
					request := bench.Spec(id, 1)
					request.AllowedInstanceTypes, request.NoWait = []string{"m5.large"}, true
					_, err := w.store.Submit(b.Context(), request)
					check(b, err)
					check(b, program.Until(time.Minute, "an instance is claimed", func() bool { return !w.wire.claimed(id).IsZero() }))
					next, owned := w.wire.led(term+1), w.wire.claimed(id)
					led, claim, whole = append(led, next.Sub(killed)), append(claim, owned.Sub(next)), append(whole, owned.Sub(killed))
					w.controller, waiting = waiting, w.standby(n)
					check(b, program.Until(time.Minute, "the request is ready", func() bool {
						_, ready := w.wire.of(id)
						return !ready.IsZero()
					}))
					w.giveBack(id)
				}
			}
			check(b, waiting.Signal(syscall.SIGTERM))
			<-waiting.Ended()
			none(b)
			report(b, "led", led)
			report(b, "claim", claim)
			report(b, "whole", whole)
		})
	}
}

// standby starts another controller, which waits for the lease.
func (w *warmWorld) standby(n int) *program.Daemon {
	w.b.Helper()
	d := program.Start(w.b, program.Command{Name: fmt.Sprint("standby-", n), Dir: w.dir, Env: w.env, Args: []string{"controller"}, Patience: time.Minute})
	d.Says("waiting for the lease")
	return d
}

// term is that of the controller that leads.
func (w *warmWorld) term() int64 {
	w.b.Helper()
	l, err := w.store.Lease(w.b.Context())
	check(w.b, err)
	return l.Term
}
