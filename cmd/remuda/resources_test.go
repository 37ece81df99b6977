package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/ensure"
)

// A controller wants the same launch template for as long as it runs. If it has to change one that was in order,
// someone else wants another, as `remuda init` of another version does: both would go on for ever, and every
// change dismisses the idle machines, so it is said louder than what is mended once. H55
func TestChore_ReportsWhoChangesThingsBack_H55(t *testing.T) {
	var log bytes.Buffer
	next := ensure.Updated
	c := resource{"fleet", func(context.Context, bool) ([]ensure.Step, error) {
		return []ensure.Step{{Resource: "launch template x", Action: next, Detail: "differs in UserData"}}, nil
	}}.chore(slog.New(slog.NewTextHandler(&log, nil)))
	for _, tt := range []struct {
		action ensure.Action
		want   string // "" means that nothing is said
	}{
		{ensure.Updated, "level=INFO msg=\"a resource was made or repaired\" "}, {ensure.Unchanged, ""},
		{ensure.Updated, "level=WARN msg=\"a resource was changed by someone else"}, {ensure.Created, "level=WARN"},
	} {
		log.Reset()
		next = tt.action
		if err := c.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := log.String()
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || got != "" && !strings.Contains(got, "launch template x") {
			t.Errorf("after %s: log = %q, want %q", tt.action, got, tt.want)
		}
	}
}
