package reconciler_test

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
)

// alarms keeps what a world logged at level Error: what somebody must act on. With REMUDA_TEST_LOG set
// the whole story of a test goes to standard error as well.
type alarms struct {
	next slog.Handler
	kept *struct {
		sync.Mutex
		messages []string
	}
}

func newAlarms() *alarms {
	a := &alarms{next: slog.DiscardHandler, kept: new(struct {
		sync.Mutex
		messages []string
	})}
	if os.Getenv("REMUDA_TEST_LOG") != "" {
		a.next = slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})
	}
	return a
}

func (a *alarms) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError || a.next.Enabled(ctx, l)
}

func (a *alarms) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		a.kept.Lock()
		a.kept.messages = append(a.kept.messages, r.Message)
		a.kept.Unlock()
	}
	return a.next.Handle(ctx, r)
}

func (a *alarms) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &alarms{a.next.WithAttrs(attrs), a.kept}
}

func (a *alarms) WithGroup(name string) slog.Handler { return &alarms{a.next.WithGroup(name), a.kept} }

// raised returns the alarms whose message contains part.
func (a *alarms) raised(part string) []string {
	a.kept.Lock()
	defer a.kept.Unlock()
	return slices.DeleteFunc(slices.Clone(a.kept.messages), func(m string) bool { return !strings.Contains(m, part) })
}
