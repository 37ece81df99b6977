package sim

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/store"
)

// process is one run of a program. When it is killed, what it called before takes its course and
// nothing it calls afterwards goes out.
type process struct {
	w    *World
	role Role
	name string
	on   store.InstanceID // an agent's machine
	clk  clock.WithTicker
	ctx  context.Context //nolint:containedctx // the life of the process
	kill context.CancelFunc

	mu     sync.Mutex
	dead   bool
	thaw   chan struct{} // closed at the end of a pause; nil: none
	calls  map[Call]int
	forgot string // the machine that a listing lacked last

	ahead atomic.Int64 // the store's clock of its own, in ns, at the last answer
}

func (w *World) newProcess(role Role, name string) *process {
	p := &process{w: w, role: role, name: name, calls: map[Call]int{}}
	p.clk = w.clocks.of(name, p.program())
	p.ctx, p.kill = context.WithCancel(context.Background())
	return p
}

// crash ends the process at once.
func (p *process) crash() {
	if p.alive() {
		p.w.transcript.tellf("%s dies", p.name)
		p.w.truth.terms.bereaved(p)
	}
	p.end()
}

// end is crash where nobody wonders: its machine is off.
func (p *process) end() {
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	p.kill()
}

func (p *process) alive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.dead
}

// state says for an agent's call in which state its instance is.
func (p *process) state() string {
	if p.on == "" {
		return ""
	}
	return "@" + string(p.w.truth.records.state(p.on))
}

// pause makes every call of the process wait for d, as SIGSTOP and a paused virtual machine do. Its timers
// go on: what it does at their sign goes out late.
func (p *process) pause(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	thaw := make(chan struct{})
	p.thaw = thaw
	time.AfterFunc(d, func() { close(thaw) })
}

// pass waits while the process is paused. A dead process waits for the end of ctx.
func (p *process) pass(ctx context.Context) error {
	for {
		p.mu.Lock()
		dead, thaw := p.dead, p.thaw
		p.mu.Unlock()
		if dead {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		if thaw == nil {
			return ctx.Err()
		}
		select {
		case <-thaw:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		p.mu.Lock()
		if p.thaw == thaw {
			p.thaw = nil
		}
		p.mu.Unlock()
	}
}

// count counts a call and returns its number among the same ones of this process.
func (p *process) count(c Call) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[c]++
	return p.calls[c]
}

// contract is what the gate has to know of a contract: its errors and how long its calls take.
type contract struct {
	unknown   error         // the outcome is unknown
	throttled error         // nothing was done
	least     time.Duration // a call takes so long
	most      time.Duration
	patience  time.Duration // after which the back end gives up what is not answered; 0: only the caller does
}

// outOfOrder reports whether err says that the other side does not work, rather than what it has to say. Of the
// contracts GitHub alone has outages of its own; those of the others are the gate's.
func outOfOrder(err error) bool {
	return errors.Is(err, githubapi.ErrUnavailable) || errors.Is(err, githubapi.ErrThrottled) || errors.Is(err, githubapi.ErrRefused)
}

// call makes one call through the gate of p, about the thing of that name. old, if not nil, turns an
// answer into what it is with a kind of fault, which may be none.
func call[T any](ctx context.Context, p *process, c contract, s Site, about string, do func(context.Context) (T, error), old func(T, Kind, key) T) (T, error) {
	var none T
	if err := p.pass(ctx); err != nil {
		return none, err
	}
	if p.on != "" {
		about = string(p.on)
	}
	which := Call{s, about}
	k := key(newHash(p.w.o.Seed).text(p.name).end().call(which).end().text(strconv.Itoa(p.count(which))).end())
	kind := p.w.faults.of(p, which, k)
	if kind == CrashBefore {
		p.crash()
	}
	if by := p.w.outages.slowness(s, k.next()); by > 0 {
		limit := c.limit()
		if err := wait(ctx, min(by, limit)); err != nil {
			return none, err
		}
		if by > limit {
			return none, c.unknown
		}
	}
	if err := p.travel(ctx, c, k.next()); err != nil {
		return none, err
	}
	switch {
	case kind == Throttled || p.w.outages.overloaded(p, which):
		return none, c.throttled
	case kind == Fails:
		p.w.machines.disturb(string(p.on)) // a machine that is ill
		return none, c.unknown
	case kind == Hangs:
		return none, hang(ctx, c)
	}
	if kind == Late {
		p.w.later(k.next().between(time.Second, 8*time.Second), func(ctx context.Context) { _, _ = do(ctx) })
		return none, c.unknown
	}
	if p.w.outages.isDown(p, s) || p.w.machines.isDeaf(p, s) {
		p.stall(ctx, k)
		return none, c.unknown
	}
	out, err := do(ctx)
	if outOfOrder(err) {
		p.stall(ctx, k)
	}
	if kind == CrashAfter {
		p.crash()
	}
	if kind == Twice {
		if err := p.travel(ctx, c, k.next().next()); err != nil {
			return none, err
		}
		out, err = do(ctx)
	}
	if err := p.travel(ctx, c, k.next().next().next()); err != nil {
		return none, err
	}
	if kind == LostReply {
		return none, c.unknown
	}
	if p.w.o.StoreTime && strings.HasPrefix(s.Method, "store.") {
		p.toldTime()
	}
	if old != nil && err == nil {
		out = old(out, kind, k)
	}
	return out, err
}

// hang waits for an answer that never comes.
func hang(ctx context.Context, c contract) error {
	if err := wait(ctx, c.limit()); err != nil {
		return err
	}
	return c.unknown
}

// limit is when a call without an answer is given up.
func (c contract) limit() time.Duration { return cmp.Or(c.patience, longestHang) }

// longestHang is when the connection of a call without a limit of its own breaks.
const longestHang = time.Minute

// stall makes the answer of what is out of order as late as the pace is slow. Outages have the pace, but not the
// product's pauses between two tries: without it, an outage would meet as many more tries as it is longer.
func (p *process) stall(ctx context.Context, k key) {
	late := k.next().next().next().next().between(time.Second, 2*time.Second)
	if late = p.w.o.paced(late) - late; late == 0 {
		return
	}
	_ = wait(ctx, late) // the caller may be less patient
}

// travel takes half the time of a call. It fails if the process dies or ctx ends on the way.
func (p *process) travel(ctx context.Context, c contract, k key) error {
	if p.w.faults.live != nil {
		return p.pass(ctx)
	}
	if err := wait(ctx, k.between(c.least, c.most)/2); err != nil {
		return err
	}
	return p.pass(ctx)
}

// wait takes d, and fails with the cause of ctx's end if that comes first.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
