//go:build unix

package actionsrunner

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// Times between two looks at a listener, which is looked at besides when it has written. One look costs about 20 µs
// (BenchmarkLook), so that these keep far below the agent's share of a processor (docs/goals.md, G15).
const (
	lookStarting  = 50 * time.Millisecond  // a warm start waits for the line "Listening for Jobs"
	lookOnline    = 200 * time.Millisecond // a job begins or ends
	lookListening = time.Second            // neither does without a word, and a listener whose words are seen at once says one
	lookSoon      = 5 * time.Millisecond   // it is about to end: a release waits for that, and so does the next registration
)

// After its own SIGINT the listener waits for the end of its job: a step that is cut gets SIGINT, 7.5 s, SIGTERM,
// 2.5 s, SIGKILL, up to 5 s more for its output (actions/runner, src/Runner.Sdk/ProcessInvoker.cs), and then the
// job's logs are sent. A step that is one sleep took 13.5 s in all, with version 2.336.0 on an idle machine. SIGTERM
// in the middle of that ends the listener at once and leaves its worker behind.
const (
	interruptFor = 25 * time.Second
	terminateFor = 5 * time.Second
	killFor      = 10 * time.Second // only the kernel can be slow then
)

// listener follows one process of the runner program. Its one goroutine ends with the process or
// with Detach.
type listener struct {
	r       *Runner
	ref     process.Ref
	child   bool // ours: we read its exit status
	out     *tail
	updated bool // it began to replace its program; of the one goroutine
	workers func(listener process.Ref) ([]process.Ref, error)
	ended   int // jobs that are over; of the one goroutine
	changed chan struct{}
	stopped chan struct{} // closed when Stop begins
	quit    chan struct{} // closed by Detach
	done    chan struct{} // closed when the goroutine has ended
	gone    chan struct{} // closed when the process has ended and its output is read

	mu       sync.Mutex
	status   agent.Status
	job      job
	killed   bool
	reaped   bool // the pid may be another's by now
	stopping sync.Once
	quitting sync.Once
}

// follow begins to watch a process and its output.
func (r *Runner) follow(ref process.Ref, child bool, st agent.Status) (*listener, error) {
	out, err := openTail(r.o.Log)
	if err != nil {
		return nil, err
	}
	l := &listener{
		r: r, ref: ref, child: child, out: out, status: st, workers: r.workers, changed: make(chan struct{}, 1),
		stopped: make(chan struct{}), quit: make(chan struct{}), done: make(chan struct{}), gone: make(chan struct{}),
	}
	go l.watch()
	return l, nil
}

// Ref implements agent.Listener.
func (l *listener) Ref() process.Ref { return l.ref }

// Changed implements agent.Listener.
func (l *listener) Changed() <-chan struct{} { return l.changed }

// Status implements agent.Listener.
func (l *listener) Status() agent.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// Detach implements agent.Listener. The goroutine has ended when it returns.
func (l *listener) Detach() {
	l.quitting.Do(func() { close(l.quit) })
	<-l.done
}

// watch looks at the process until it has ended. What it says is often followed by something that shows otherwise, its end
// above all: so one look soon after a word.
func (l *listener) watch() {
	defer close(l.done)
	defer l.out.close()
	var wrote <-chan struct{} // nil: the looks below must do
	if w, err := watchWrites(l.out.file); err == nil {
		wrote = w.seen
		defer w.close()
	}
	stopped, spoke := l.stopped, false
	for l.look() {
		wait := lookStarting
		switch st := l.Status(); {
		case stopped == nil || spoke:
			wait = lookSoon
		case st.Online && st.State == agent.Listening && wrote != nil:
			wait = lookListening
		case st.Online:
			wait = lookOnline
		}
		spoke = false
		select {
		case <-l.quit:
			return
		case <-stopped:
			stopped = nil
		case <-wrote:
			spoke = true
		case <-l.r.o.Clock.After(wait):
		}
	}
}

// look reads what is new and returns false once the process has ended, and the job that it leaves behind, if
// there is one, which may have begun since the last look. Whether it lives is read first, so that nothing it wrote is missed.
func (l *listener) look() bool {
	alive := l.ref.Alive()
	if err := l.out.next(l.observe); err != nil {
		l.Kill() // its state can no longer be known, and the disk is finite
	}
	if alive || l.goesOn() {
		l.mu.Lock()
		changed := l.followJob()
		l.mu.Unlock()
		if changed {
			l.poke()
		}
		return true
	}
	code := l.reap()
	err := l.out.finish(l.observe)
	if err != nil {
		err = fmt.Errorf("read output: %w", err)
	}
	if l.updated || code == agent.ExitUpdating || code == agent.ExitUpdatingOnce {
		err = errors.Join(err, l.r.spoil())
	}
	l.mu.Lock()
	l.status.State, l.status.Exit, l.status.Detail = agent.Exited, code, l.out.last()
	if code == agent.ExitOK && l.status.Cause != store.CauseRefused { // which it may be at the end of a registration
		l.status.Cause = ""
	}
	if err != nil {
		l.status.Detail = err.Error()
	}
	l.judge(&l.status)
	l.mu.Unlock()
	close(l.gone)
	l.poke()
	return false
}

// reap ends what the process has left, and returns its status if it was ours.
func (l *listener) reap() int {
	if !l.child {
		return agent.ExitUnknown
	}
	l.mu.Lock() // no one else may use the pid from here on
	defer l.mu.Unlock()
	status, ok := l.r.o.Boundary.Wait(l.ref)
	l.reaped = true
	_ = l.r.o.Boundary.Kill() // Stop looks for what is outside
	if !ok {
		return agent.ExitUnknown
	}
	return status
}

// observe takes one line of output.
func (l *listener) observe(line string) {
	l.mu.Lock()
	what, _ := parse(line)
	if what == updating && l.status.Jobs == 0 {
		l.updated = true
	}
	jobs, busy := l.status.Jobs, l.status.State == agent.Busy
	changed := apply(&l.status, line, l.working)
	if l.status.Jobs != jobs {
		l.job = job{} // the last one was of the job before
		l.working()
	} else if busy && l.status.State != agent.Busy {
		l.over()
	}
	l.mu.Unlock()
	if changed {
		l.poke()
	}
}

func (l *listener) poke() { poke(l.changed) }

// poke wakes the one who waits at c, now or next.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Stop implements agent.Listener: SIGINT, which lets a job that is being cancelled clean up, then
// SIGTERM, then the end of everything that is left. The first two go to the listener alone, which
// passes them on. One that has ended already has only left a job behind.
func (l *listener) Stop(ctx context.Context, mode store.ReleaseMode) error {
	if mode != store.ReleaseNow && l.Status().State == agent.Busy {
		return agent.ErrBusy
	}
	l.stopping.Do(func() { close(l.stopped) })
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, interruptFor}, {syscall.SIGTERM, terminateFor}} {
		if !l.ref.Alive() {
			break
		}
		if err := process.Signal(l.ref, step.signal); err != nil && !errors.Is(err, process.ErrNotFound) {
			return err
		}
		if ended, err := l.await(ctx, step.wait); err != nil {
			return err
		} else if ended {
			return l.r.sweep(ctx)
		}
	}
	l.Kill()
	ended, err := l.await(ctx, killFor)
	switch {
	case err != nil:
		return err
	case !ended:
		return fmt.Errorf("stop listener: process %d does not end", l.ref.PID)
	}
	return l.r.sweep(ctx)
}

// await waits for the end of the process, at most for d.
func (l *listener) await(ctx context.Context, d time.Duration) (bool, error) {
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-l.gone:
		return true, nil
	case <-l.r.o.Clock.After(d):
		return false, nil
	}
}

// Kill implements agent.Listener. It ends the group only while its id is certainly the listener's: as
// long as the leader lives, or is a child of ours that was not reaped.
func (l *listener) Kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed = true
	_ = l.r.o.Boundary.Kill() // what it leaves, Stop or the machine's end finds
	if l.child && !l.reaped || l.ref.Alive() {
		_ = process.KillGroup(l.ref.PID)
	}
	_ = process.KillAll(l.job.worker) // which may have no such group any more
}

// Boundary implements agent.Listener.
func (l *listener) Boundary() string { return l.r.o.Boundary.Name() }
