package pooltest

import (
	"fmt"
	"testing"
	"time"

	"github.com/remuda-run/remuda/pool"
)

// Bench measures a back end: what one instance's message costs, and receiving from a queue that is
// full of messages that others hold.
func Bench(b *testing.B, open Factory) {
	b.Run("OfferReceiveDone", func(b *testing.B) { benchLife(b, open, 0) })
	b.Run("OfferReceiveDone/held=1000", func(b *testing.B) { benchLife(b, open, 1000) })
}

// benchLife takes one message through its life, beside others that are held.
func benchLife(b *testing.B, open Factory, others int) {
	ctx := b.Context()
	p, err := open(b).Open(ctx)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := p.Close(); err != nil {
			b.Error(err)
		}
	})
	held := make(seen)
	if err := offer(ctx, p, tickets(classA, others)...); err != nil {
		b.Fatal(err)
	}
	if err := held.collect(ctx, p, classA, pool.MaxHold, tickets(classA, others)); err != nil {
		b.Fatal(err)
	}
	for n := 0; b.Loop(); n++ {
		t := pool.Ticket{
			InstanceID: fmt.Sprintf("i-%d", n), UsageClass: "spot", InstanceType: "c6i.large", CPU: 2, Mem: 4096,
			ResourceClass: classA, Threshold: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC),
		}
		if err := p.Offer(ctx, t); err != nil {
			b.Fatal(err)
		}
		out, err := p.Receive(ctx, classA, pool.MaxBatch, time.Hour, pool.MaxWait)
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range out {
			if err := p.Done(ctx, classA, d.Receipt); err != nil {
				b.Fatal(err)
			}
		}
	}
}
