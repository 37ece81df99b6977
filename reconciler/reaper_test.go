package reconciler_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/fleettest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// S12: a machine whose record says terminated is ended well within a sweep, though its agent does not help; the record
// has neither run nor threshold, and no run gets it.
func TestTerminated_MachineEndsWithinASweep_S12(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Powerless = true
		defer w.controller("c1", nil)()
		id := w.warm("100", 1).Instances[0].InstanceID
		w.dismiss(id)
		marked := w.instance(id).Since.Time
		w.await(w.Config().Sweep, "ended", func() bool { return len(w.Fleet.Alive()) == 0 })
		if took := w.Clock.Since(marked); took > w.Config().Sweep/2 {
			t.Errorf("the machine lived on for %s, want its end asked for at once", took)
		}
		if in := w.instance(id); in.RunID != "" || !in.Threshold.IsZero() {
			t.Errorf("terminated with run %q and a threshold %s", in.RunID, in.Threshold.Time)
		}
		if st := w.serve(spec("200", 1), time.Minute); ids(st)[id] {
			t.Errorf("run 200 was given %s", id)
		}
	})
}

// H09: a termination that fails is no success: it is tried again until the fleet confirms, and only then
// may the record go.
func TestTerminate_RefusedForAWhile_H09(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		st := w.warm("100", 1)
		id := st.Instances[0].InstanceID
		w.Fleet.RefuseTerminate(string(id), errors.New("not now"))
		w.Hang(id) // its agent does not help
		w.dismiss(id)
		time.Sleep(time.Minute)
		if in := w.instance(id); !in.ExpiresAt.IsZero() {
			t.Errorf("the record of %s may go although the machine lives", id)
		}
		w.Fleet.RefuseTerminate(string(id), nil)
		w.await(time.Minute, "confirmed", func() bool { return !w.instance(id).ExpiresAt.IsZero() })
	})
}

// A termination that is refused, as for a permission that is missing, is tried ever more rarely, and keeps no
// other machine waiting; when it is allowed, the machine goes within the longest pause, and its record never before it. H06 H09 H67
func TestReap_BacksOffFromRefusals_H09_H67(t *testing.T) {
	led(t, func(t *testing.T, w *world) {
		var two []store.InstanceID
		for id := range ids(w.warm("100", 2)) {
			two = append(two, id)
		}
		refused, other := two[0], two[1]
		w.Fleet.RefuseTerminate(string(refused), errors.New("not now"))
		w.Hang(refused) // its agent does not help
		w.dismiss(refused)
		calls, looks := w.Fleet.Calls(fleettest.CallTerminate), w.Fleet.Calls(fleettest.CallList)
		time.Sleep(time.Minute)
		tries := w.Fleet.Calls(fleettest.CallTerminate) - calls
		if tries < 10 || tries > 20 {
			t.Errorf("%d tries in a minute, want ever fewer: some 14", tries)
		}
		if n := w.Fleet.Calls(fleettest.CallList) - looks; n > tries+int(time.Minute/w.Config().Sweep)+3 {
			t.Errorf("%d listings in a minute, want one per try besides the sweep's and the audit's", n)
		}
		w.dismiss(other)
		w.await(10*time.Second, "the other confirmed", func() bool { return !w.instance(other).ExpiresAt.IsZero() })
		if !w.instance(refused).ExpiresAt.IsZero() {
			t.Errorf("the record of %s may go although the machine lives", refused)
		}
		w.Fleet.RefuseTerminate(string(refused), nil)
		w.await(30*time.Second, "confirmed", func() bool { return !w.instance(refused).ExpiresAt.IsZero() })
	})
}

// S28: what a leader left that nobody ended is ended by the next, also where no agent helps.
func TestReap_TheNextLeaderEndsWhatTheLastLaunched_S28(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.Powerless = true
		stop := w.controller("c1", nil)
		w.warm("100", 1)
		stop()
		defer w.controller("c2", nil)()
		w.await(w.Config().Limits.Idle+2*time.Minute, "ended", func() bool { return len(w.Fleet.Alive()) == 0 })
	})
}

// mute is a fleet that takes half a minute for not answering, at times.
type mute struct {
	fleet.Fleet
	on atomic.Bool
}

func (m *mute) unanswered() error {
	if !m.on.Load() {
		return nil
	}
	time.Sleep(30 * time.Second)
	return errors.New("no answer")
}

func (m *mute) Terminate(ctx context.Context, ids ...string) error {
	if err := m.unanswered(); err != nil {
		return fleet.TerminateErrors(ids, err)
	}
	return m.Fleet.Terminate(ctx, ids...)
}

func (m *mute) List(ctx context.Context, token string) ([]fleet.Machine, error) {
	if err := m.unanswered(); err != nil {
		return nil, err
	}
	return m.Fleet.List(ctx, token)
}

// S12 H09: the end of a machine is asked for again soon after neither it nor the listing that should confirm it was answered: how long
// that took says nothing of the fleet's size, by which looks at it are spaced.
func TestReap_WithoutAnAnswer_AsksAgainSoon_S12_H09(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		silent := &mute{Fleet: w.Fleet}
		defer w.controllerWith("c1", reconciler.Options{Fleet: silent})()
		id := w.warm("100", 1).Instances[0].InstanceID
		silent.on.Store(true)
		w.Hang(id) // its agent does not help
		w.dismiss(id)
		time.Sleep(50 * time.Second)
		silent.on.Store(false)
		w.await(30*time.Second, "ended", func() bool { return len(w.Fleet.Alive()) == 0 })
	})
}
