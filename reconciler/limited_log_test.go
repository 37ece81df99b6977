package reconciler

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// One cause says so at once and then once a minute, with the number of what is wrong; another cause is not
// kept quiet by it, and foreign texts are cut.
func TestDamped_OneLineAMinutePerCause(t *testing.T) {
	var out bytes.Buffer
	clk := clocktesting.NewFakeClock(dawn)
	d := newLimitedLog(slog.New(slog.NewTextHandler(&out, nil)), clk)
	lines := func() []string {
		defer out.Reset()
		return strings.Split(strings.TrimSpace(out.String()), "\n")
	}
	long := strings.Repeat("é", 3000)
	for range 300 {
		d.Error("bad record", "a", long, errors.New(long))
	}
	d.Error("bad record", "b", "key", errors.New("other"))
	got := lines()
	if len(got) != 2 || !strings.Contains(got[0], "count=1") || len(got[0]) > maxLoggedKey+maxLoggedError+200 {
		t.Errorf("%d lines, the first of %d bytes: want 2, cut", len(got), len(got[0]))
	}
	clk.Step(limitedLogPeriod - time.Second)
	d.Error("bad record", "a", "key", errors.New("x"))
	if got := lines(); got[0] != "" {
		t.Errorf("said again too soon: %q", got)
	}
	clk.Step(time.Second)
	d.Error("bad record", "a", "key", errors.New("x"))
	if got := lines(); len(got) != 1 || !strings.Contains(got[0], "count=301") {
		t.Errorf("after a minute: %q, want one line that counts 301", got)
	}
}
