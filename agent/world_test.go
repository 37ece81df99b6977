package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

const self = store.Principal("i-1")

// scriptFunc is a Script.
type scriptFunc func(ctx context.Context) error

func (f scriptFunc) Run(ctx context.Context) error { return f(ctx) }

// world is one machine with its agent, and the controller's side of its record.
type world struct {
	t       *testing.T
	table   *weak
	store   *store.Store // the controller's, never weak
	runner  *agenttest.Runner
	machine *agenttest.Machine
	options agent.Options
	serial  int64
	limits  statemachine.Limits
	agent   *agent.Agent // that runs

	cancel context.CancelFunc
	ended  chan error
}

// newWorld prepares a machine whose agent is off.
func newWorld(t *testing.T) *world {
	t.Helper()
	base := newTable()
	w := &world{
		t: t, table: &weak{table: base}, store: store.New(base), limits: statemachine.DefaultLimits(),
		runner: &agenttest.Runner{Latency: 2700 * time.Millisecond}, machine: &agenttest.Machine{},
	}
	w.options = agent.Options{
		Store: store.New(w.table), Principal: self, InstanceID: "i-1", Dir: t.TempDir(), Exe: "/bin/false",
		Repository: "octo/repo", Version: "v1", Clock: clock.RealClock{}, Jitter: rand.New(rand.NewPCG(1, 2)).Float64,
		Log: slog.New(slog.DiscardHandler), Runner: w.runner, Machine: w.machine,
	}
	return w
}

// inBubble runs f with a world whose agent is off, in virtual time, and stops the agent afterwards.
func inBubble(t *testing.T, f func(w *world)) {
	t.Helper()
	dir := t.TempDir()
	bubbletest.Run(t, func(t *testing.T) {
		w := newWorld(t)
		w.options.Dir = dir
		f(w)
		if w.cancel != nil {
			w.stop()
		}
	})
}

// bubble is inBubble as a subtest.
func bubble(f func(w *world)) func(*testing.T) { return func(t *testing.T) { inBubble(t, f) } }

// boot starts the agent.
func (w *world) boot() {
	w.t.Helper()
	a, err := agent.New(w.options)
	if err != nil {
		w.t.Fatalf("New = %v", err)
	}
	w.agent = a
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel, w.ended = cancel, make(chan error, 1)
	go func() { w.ended <- a.Run(ctx) }()
}

// stop ends the agent's process and leaves the machine on.
func (w *world) stop() {
	w.cancel()
	if err := <-w.ended; err != nil && !errors.Is(err, agent.ErrHalted) {
		w.t.Errorf("Run = %v, want nil or ErrHalted", err)
	}
	w.cancel = nil
}

// restart ends the agent's process and starts another.
func (w *world) restart() { w.stop(); w.boot() }

// in reads the record.
func (w *world) in() store.Instance {
	w.t.Helper()
	in, err := w.store.Instance(context.Background(), store.Consistent, self)
	if err != nil {
		w.t.Fatal(err)
	}
	return in
}

// launch creates the record, owned by run.
func (w *world) launch(run store.RequestID) {
	w.t.Helper()
	_, err := w.store.Register(context.Background(), store.Instance{
		Principal: self, ID: "i-1", RunID: run, Attempt: 1, LaunchToken: "l-1",
	}, time.Now(), w.limits.Created)
	if err != nil {
		w.t.Fatal(err)
	}
}

// do makes a transition with the limit of its state.
func (w *world) do(tr store.Transition) {
	w.t.Helper()
	in := w.in()
	next, err := statemachine.Next(in.State, tr.Event)
	if err != nil {
		w.t.Fatal(err)
	}
	tr.Now = time.Now()
	if tr.Limit == 0 {
		tr.Limit = w.limits.For(next)
	}
	if _, err := w.store.Transition(context.Background(), in, tr); err != nil {
		w.t.Fatal(err)
	}
}

// grant gives the record material for the next registration.
func (w *world) grant(mode store.RegistrationMode) store.Registration {
	w.t.Helper()
	return w.grantAt(mode, time.Time{})
}

// grantAt is grant with the time when the material was made.
func (w *world) grantAt(mode store.RegistrationMode, minted time.Time) store.Registration {
	w.t.Helper()
	in := w.in()
	w.serial++
	reg := store.Registration{
		Serial: w.serial, Assignment: in.Assignment, Mode: mode, Name: fmt.Sprintf("i-1-%d", w.serial),
		RunnerID: 100 + w.serial, Secret: "secret", MintedAt: store.At(minted),
	}
	if _, err := w.store.SetRegistration(context.Background(), in, reg, time.Now()); err != nil {
		w.t.Fatal(err)
	}
	return reg
}

// claim pools the machine if it is not, assigns it to run and gives material.
func (w *world) claim(run store.RequestID, mode store.RegistrationMode) store.Registration {
	w.t.Helper()
	if w.in().PooledAt.IsZero() {
		w.do(store.Transition{Event: statemachine.Pooled})
	}
	w.do(store.Transition{Event: statemachine.Claim, RunID: run, Attempt: 1})
	return w.grant(mode)
}

// release takes the run away.
func (w *world) release(mode store.ReleaseMode) {
	w.t.Helper()
	event := statemachine.Unclaimed
	if w.in().State == statemachine.Running {
		event = statemachine.Released
	}
	w.do(store.Transition{Event: event, Release: mode})
}

// said returns the agent's signal and heartbeat; zero ones if there are none.
func (w *world) said() (store.SignalValue, store.Heartbeat) {
	w.t.Helper()
	got, err := w.store.Vitals(context.Background(), func(k store.Key, err error) { w.t.Errorf("vitals %v: %v", k, err) }, self)
	if err != nil {
		w.t.Fatal(err)
	}
	return got[self].Signal.Value, got[self].Heartbeat
}

// wantSignal fails unless the agent's last signal is name for the record's run and assignment.
func (w *world) wantSignal(name store.SignalName, cause string) {
	w.t.Helper()
	synctest.Wait()
	got, _ := w.said()
	in := w.in()
	if got.Signal != name || got.Cause != cause || got.RunID != in.RunID || got.Assignment != in.Assignment {
		w.t.Fatalf("signal = %+v, want %s %q for run %q, assignment %d", got, name, cause, in.RunID, in.Assignment)
	}
}

// wantShown fails unless the agent's last heartbeat says this of the runner.
func (w *world) wantShown(runner string) {
	w.t.Helper()
	synctest.Wait()
	_, got := w.said()
	if got.Beat.Runner != runner { // unless others wait for it, a change is written once it has lasted a second
		time.Sleep(time.Second)
		synctest.Wait()
		_, got = w.said()
	}
	if got.Beat.Runner != runner {
		w.t.Fatalf("heartbeat shows the runner as %q, want %q", got.Beat.Runner, runner)
	}
}

// waitFor sleeps, in virtual time, until the agent's signal for the present assignment is name.
func (w *world) waitFor(name store.SignalName) {
	w.t.Helper()
	for range 600 {
		synctest.Wait()
		if got, _ := w.said(); got.Signal == name && got.Assignment == w.in().Assignment {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.wantSignal(name, "")
}

// after sleeps and then wants a signal.
func (w *world) after(d time.Duration, name store.SignalName, cause string) {
	w.t.Helper()
	time.Sleep(d)
	w.wantSignal(name, cause)
}

// wantStarted fails unless so many listeners were started so far.
func (w *world) wantStarted(n int) {
	w.t.Helper()
	synctest.Wait()
	if got := len(w.runner.Started()); got != n {
		w.t.Fatalf("%d listeners were started, want %d", got, n)
	}
}

// begin boots a machine for run a, with material.
func (w *world) begin(mode store.RegistrationMode) {
	w.t.Helper()
	w.launch("a")
	w.grant(mode)
	w.boot()
}

// online boots a machine for run a up to the online listener of its first registration.
func (w *world) online(mode store.RegistrationMode) *agenttest.Listener {
	w.t.Helper()
	w.begin(mode)
	w.after(5*time.Second, store.RegOK, "")
	w.do(store.Transition{Event: statemachine.HandedOver})
	return w.only()
}

// only returns the one live listener.
func (w *world) only() *agenttest.Listener {
	w.t.Helper()
	alive := w.runner.Alive()
	if len(alive) != 1 {
		w.t.Fatalf("%d listeners are alive, want 1", len(alive))
	}
	return alive[0]
}

// wantHalt fails unless the machine was halted exactly once, for reason.
func (w *world) wantHalt(reason string) {
	w.t.Helper()
	synctest.Wait()
	if got := w.machine.Halts(); len(got) != 1 || got[0] != reason {
		w.t.Fatalf("halts = %q, want one: %q", got, reason)
	}
	if alive := w.runner.Alive(); len(alive) != 0 {
		w.t.Errorf("%d listeners live on a halted machine", len(alive))
	}
}

// wantOn fails if the machine was halted.
func (w *world) wantOn() {
	w.t.Helper()
	synctest.Wait()
	if got := w.machine.Halts(); len(got) != 0 {
		w.t.Fatalf("halts = %q, want none", got)
	}
}
