package agent

import (
	"errors"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// readings is a clock that counts its readings.
type readings struct {
	clock.RealClock
	n atomic.Int32
}

func (r *readings) Now() time.Time {
	defer r.n.Add(1)
	return r.RealClock.Now()
}

// newTestWatch returns a watch over a state file that has seen a version.
func newTestWatch(t *testing.T, seen int64) *watch {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	d, err := openDisk(filepath.Join(t.TempDir(), stateFile), log)
	if err != nil {
		t.Fatal(err)
	}
	d.save(func(s *State) { s.Version = seen })
	o := &Options{Clock: &readings{}}
	return &watch{
		o: o, log: log, disk: d, changed: make(chan struct{}, 1), now: make(chan struct{}, 1),
		expiry: &expiry{offset: func() time.Duration { return 0 }, grace: time.Minute, changed: make(chan struct{}, 1)},
	}
}

// A hook and the watch loop read the record at the same time. Whichever is later, the newer record stays.
func TestTake_NeverGoesBack_Review_C20(t *testing.T) {
	for range 300 {
		w := newTestWatch(t, 4)
		begin := time.Now().Add(time.Hour)
		w.mu.Lock() // both compare before either takes
		var takers sync.WaitGroup
		for _, version := range []int64{5, 6} {
			in := store.Instance{Version: version, Threshold: store.At(begin.Add(time.Duration(version) * time.Minute))}
			takers.Go(func() { w.take(in) })
		}
		for w.o.Clock.(*readings).n.Load() < 2 {
			runtime.Gosched()
		}
		w.mu.Unlock()
		takers.Wait()
		got, _ := w.newest()
		s := w.disk.get()
		if got.Version != 6 || s.Version != 6 || !s.Threshold.Equal(got.Threshold) {
			t.Fatalf("the record is version %d, and the disk has version %d with threshold %s, want version 6 in both", got.Version, s.Version, s.Threshold)
		}
	}
}

// A hook that read the record before the watch loop read a newer one gives the listener to no run: it reads again.
func TestAssume_OlderThanSeen_Review_C20(t *testing.T) {
	w := newTestWatch(t, 7)
	w.disk.save(func(s *State) { s.Work = Work{Ahead: true, Serial: 3} })
	in := store.Instance{
		Version: 6, RunID: "77", Assignment: 5, State: statemachine.Claimed,
		Registration: store.Registration{Serial: 3, Assignment: 5, Ahead: true},
	}
	if err := w.disk.assume(in); !errors.Is(err, errOutdated) || w.disk.get().Work.RunID != "" {
		t.Errorf("error %v, and the listener is run %q's; want %v and no run's", err, w.disk.get().Work.RunID, errOutdated)
	}
	in.Version = 7
	if err := w.disk.assume(in); err != nil || w.disk.get().Work.RunID != "77" {
		t.Errorf("error %v, and the listener is run %q's; want no error and run 77", err, w.disk.get().Work.RunID)
	}
}
