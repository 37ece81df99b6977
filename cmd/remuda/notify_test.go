package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/reconciler"
)

// supervisor is the systemd of a notifier, and its controller.
type supervisor struct {
	mu      sync.Mutex
	told    []string
	lead    reconciler.Leadership
	stalled bool
}

func (s *supervisor) set(l reconciler.Leadership, stalled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lead, s.stalled = l, stalled
}

// take returns what was told since it was last called.
func (s *supervisor) take() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.told
	s.told = nil
	return told
}

func (s *supervisor) notifier(watchdog time.Duration) *notifier {
	return &notifier{
		send: func(state string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.told = append(s.told, state)
			return nil
		},
		look:     func() reconciler.Leadership { s.mu.Lock(); defer s.mu.Unlock(); return s.lead },
		stalled:  func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.stalled },
		watchdog: watchdog, clock: clock.RealClock{}, log: slog.New(slog.DiscardHandler),
	}
}

func TestNotifier(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s := &supervisor{lead: reconciler.Leadership{NotReady: reconciler.NotStarted}}
		ctx, cancel := context.WithCancel(t.Context())
		stop := make(chan struct{})
		ended := make(chan struct{})
		go func() { defer close(ended); s.notifier(30*time.Second).run(ctx, stop) }()
		expect := func(reason string, want ...string) {
			t.Helper()
			if diff := gocmp.Diff(want, s.take()); diff != "" {
				t.Errorf("told systemd (%s; -want +got):\n%s", reason, diff)
			}
		}
		expect("at once, whatever the store says", "READY=1\nSTATUS=standby, not ready: not_started")
		s.set(reconciler.Leadership{NotReady: reconciler.StoreUnreachable}, false)
		time.Sleep(14 * time.Second)
		expect("a change, once", "STATUS=standby, not ready: store_unreachable")
		time.Sleep(time.Second)
		expect("at half its time, without a store, too", "WATCHDOG=1")
		s.set(reconciler.Leadership{Leads: true, Term: 7}, false)
		time.Sleep(15 * time.Second)
		expect("it leads", "STATUS=leader, term 7", "WATCHDOG=1")
		s.set(reconciler.Leadership{Leads: true, Term: 7}, true)
		time.Sleep(time.Minute)
		expect("a process that stands still gives no sign of life")
		s.set(reconciler.Leadership{Leads: true, Term: 7}, false)
		time.Sleep(15 * time.Second)
		expect("it turns again", "WATCHDOG=1")
		close(stop)
		expect("told to stop", "STOPPING=1")
		time.Sleep(15 * time.Second)
		expect("it lives until it has stopped", "WATCHDOG=1")
		cancel()
		<-ended
	})
}

// Without WatchdogSec there is no sign of life, and a systemd that takes nothing is no reason to end.
func TestNotifier_NoWatchdog(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s := &supervisor{}
		n := s.notifier(0)
		send := n.send
		n.send = func(state string) error { return errors.Join(send(state), errors.New("no such socket")) }
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		n.run(ctx, nil)
		if got := s.take(); len(got) != 1 || got[0] != "READY=1\nSTATUS=standby" {
			t.Errorf("told %q, want its start alone", got)
		}
	})
}

// The environment is that of systemd (sd_notify(3), sd_watchdog_enabled(3)).
func TestNotifier_Environment(t *testing.T) {
	a, op := newCLI(nil).app, new(reconciler.Operator)
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	t.Setenv("WATCHDOG_PID", "")
	if n, err := a.newNotifier(op, nil); n != nil || err != nil {
		t.Errorf("newNotifier() without a systemd = %v, %v, want none", n, err)
	}
	path := filepath.Join(t.TempDir(), "notify")
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer systemd.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	for usec, want := range map[string]time.Duration{"": 0, "30000000": 30 * time.Second} {
		t.Setenv("WATCHDOG_USEC", usec)
		t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
		n, err := a.newNotifier(op, nil)
		if err != nil || n.watchdog != want {
			t.Fatalf("newNotifier() with $WATCHDOG_USEC %q = %+v, %v, want a watchdog of %s", usec, n, err, want)
		}
		n.tell("READY=1")
		text := make([]byte, 100)
		if size, err := systemd.Read(text); err != nil || string(text[:size]) != "READY=1" {
			t.Errorf("systemd received %q, %v, want READY=1", text[:size], err)
		}
	}
	t.Setenv("WATCHDOG_USEC", "soon")
	if _, err := a.newNotifier(op, nil); err == nil || !strings.Contains(err.Error(), "WATCHDOG_USEC") {
		t.Errorf("newNotifier() with $WATCHDOG_USEC soon: error = %v, want one that names it", err)
	}
}
