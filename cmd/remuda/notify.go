package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/reconciler"
)

// statusEvery is how soon systemd's status follows the controller's part.
const statusEvery = time.Second

// notifier tells systemd that the controller runs, which part it has, and that it lives (sd_notify(3), unit with Type=notify).
// It is ready once its loops run: also as a standby, and also while the store does not answer, since no other start would
// change that.
type notifier struct {
	send     func(state string) error
	watchdog time.Duration // without a sign of life for so long systemd ends the process; 0: it does not watch
	look     func() reconciler.Leadership
	stalled  func() bool
	clock    clock.WithTicker
	log      *slog.Logger
}

// newNotifier returns nil if no systemd asked to be told.
func (a *app) newNotifier(op *reconciler.Operator, log *slog.Logger) (*notifier, error) {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return nil, nil
	}
	watchdog, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return nil, fmt.Errorf("$WATCHDOG_USEC, $WATCHDOG_PID: %w", err)
	}
	send := func(state string) error {
		_, err := daemon.SdNotify(false, state)
		return err
	}
	return &notifier{send: send, watchdog: watchdog, look: op.Leadership, stalled: op.Stalled, clock: a.clock, log: log}, nil
}

// run tells until ctx ends. stopping ends before, when the controller begins to stop.
func (n *notifier) run(ctx context.Context, stopping <-chan struct{}) {
	shown := status(n.look())
	n.tell(daemon.SdNotifyReady + "\nSTATUS=" + shown)
	statuses := n.clock.NewTicker(statusEvery)
	defer statuses.Stop()
	var lives <-chan time.Time
	if n.watchdog > 0 {
		t := n.clock.NewTicker(n.watchdog / 2) // as sd_watchdog_enabled(3) advises
		defer t.Stop()
		lives = t.C()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-stopping:
			stopping = nil
			n.tell(daemon.SdNotifyStopping)
		case <-statuses.C():
			if now := status(n.look()); now != shown {
				shown = now
				n.tell("STATUS=" + shown)
			}
		case <-lives:
			if n.stalled() {
				n.log.Error("the loop that holds the lease stands still: systemd is told no more that this process lives, and starts it anew")
				continue
			}
			n.tell(daemon.SdNotifyWatchdog)
		}
	}
}

// reloading and reloaded say that the configuration is read anew, and that this is over. A nil notifier tells nobody.
func (n *notifier) reloading() {
	if n != nil {
		n.tell(daemon.SdNotifyReloading)
	}
}

func (n *notifier) reloaded() {
	if n != nil {
		n.tell(daemon.SdNotifyReady)
	}
}

func (n *notifier) tell(state string) {
	if err := n.send(state); err != nil {
		n.log.Warn("systemd could not be notified", logkey.Error, err)
	}
}

// status is the part of a controller on one line, for `systemctl status`.
func status(l reconciler.Leadership) string {
	text := "standby"
	if l.Leads {
		text = "leader"
	}
	if l.Term > 0 {
		text += fmt.Sprintf(", term %d", l.Term)
	}
	if l.NotReady != "" {
		text += ", not ready: " + string(l.NotReady)
	}
	return text
}
