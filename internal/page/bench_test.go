package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/page"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// crowd is 10,000 machines and 1,000 requests, each with as much history as it may have.
func crowd() page.Records {
	r := led()
	var long store.History
	for i := range store.MaxHistory {
		long = long.With(ago(time.Hour), store.Entry{At: dawn.Add(time.Duration(i-100) * time.Second), Code: store.CodeOnline, Detail: "some words to this"})
	}
	states := []statemachine.State{statemachine.Running, statemachine.Idle, statemachine.Created, statemachine.Claimed, statemachine.Terminated}
	for i := range 10_000 {
		in := machine(store.InstanceID(fmt.Sprintf("i-%017x", i)), states[i%len(states)], "")
		if in.State.Owned() {
			in.RunID = store.RequestID(fmt.Sprint(5000 + i%1000))
		}
		in.ResourceClass, in.History = fmt.Sprint("class-", i%7), long
		r.Instances = append(r.Instances, in)
		r.Vitals[in.Principal] = store.Vitals{Heartbeat: store.Heartbeat{UpdatedAt: ago(time.Second)}}
	}
	for i := range 1000 {
		id := store.RequestID(fmt.Sprint(5000 + i))
		run := pending(id, time.Duration(i)*time.Second, "cap", "caps.maxInstances is reached: it allows 10000; request 1 holds 9000")
		run.Status.History = long
		for seat := range 10 {
			run.Status.Instances = append(run.Status.Instances, store.Seat{InstanceID: r.Instances[i*10+seat].ID, Warm: seat > 0, Seconds: 3})
		}
		if i%2 == 0 {
			run.Status.Phase, run.Status.ReadyAt = statemachine.Ready, ago(time.Second)
		}
		r.Runs[id] = run
	}
	return r
}

// BenchmarkUpdate is what one reading of 10,000 machines and 1,000 requests costs until the page is with all who look, without
// the reading itself. The goal is 500 ms of CPU.
func BenchmarkUpdate(b *testing.B) {
	records := crowd()
	for name, path := range map[string]string{"fleet": "/events/fleet/", "run": "/events/run/5000"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				h := serveFrom(func(context.Context) (page.Records, error) { return records, nil }, clocktesting.NewFakeClock(dawn))
				w := &firstOnly{httptest.NewRecorder(), cancel}
				h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
				b.ReportMetric(float64(w.Body.Len()), "B/page")
			}
		})
	}
}

// firstOnly leaves after the first update.
type firstOnly struct {
	*httptest.ResponseRecorder
	leave func()
}

func (w *firstOnly) Flush() { w.leave() }
