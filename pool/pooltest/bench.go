package pooltest

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/pool"
)

// Bench measures what one message costs a back end.
func Bench(b *testing.B, storage Factory) {
	ctx := b.Context()
	p, err := storage(b)(ctx)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := p.Close(); err != nil {
			b.Error(err)
		}
	})
	t := tickets(classA, 1)[0]
	for b.Loop() {
		if err := p.Offer(ctx, t); err != nil {
			b.Fatal(err)
		}
		out, err := p.Receive(ctx, classA, time.Hour, pool.MaxWait)
		if err != nil {
			b.Fatal(err)
		}
		for _, m := range out {
			if err := p.Done(ctx, classA, m.Receipt); err != nil {
				b.Fatal(err)
			}
		}
	}
}
