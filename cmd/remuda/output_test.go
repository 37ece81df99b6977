package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/config"
)

func TestTable_String(t *testing.T) {
	tb := &table{header: []string{"ID", "NAME", "N"}, shrink: []int{1}}
	tb.add("a", "a rather long name", "1")
	tb.add("bb", "short", "")
	for _, tt := range []struct {
		name  string
		width int
		want  string
	}{
		{"Free", 0, "ID  NAME                N\na   a rather long name  1\nbb  short\n"},
		{"Wide", 80, "ID  NAME                N\na   a rather long name  1\nbb  short\n"},
		{"NarrowGap", 23, "ID NAME               N\na  a rather long name 1\nbb short\n"},
		{"Cut", 15, "ID NAME       N\na  a rather … 1\nbb short\n"},
		{"NeverLessThanACell", 1, "ID NAME   N\na  a rat… 1\nbb short\n"},
	} {
		if got := tb.String(tt.width); got != tt.want {
			t.Errorf("%s: String(%d) =\n%s\nwant:\n%s", tt.name, tt.width, got, tt.want)
		}
	}
}

// Whatever the cells hold, a row is one line, nothing in it controls the terminal, and columns
// stay aligned.
func TestTable_Property(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tb := &table{header: []string{"A", "B"}, shrink: []int{0, 1}}
		n := rapid.IntRange(0, 5).Draw(t, "rows")
		for range n {
			tb.add(rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b"))
		}
		width := rapid.IntRange(2*minCell+len(gap), 100).Draw(t, "width")
		text := tb.String(width)
		if got := strings.Count(text, "\n"); got != n+1 {
			t.Fatalf("%d lines for %d rows: %q", got, n, text)
		}
		for line := range strings.SplitSeq(text, "\n") {
			if line != printable(line) {
				t.Fatalf("line %q controls the terminal", line)
			}
			if got := utf8.RuneCountInString(line); got > width {
				t.Fatalf("line of %d in a width of %d: %q", got, width, line)
			}
		}
	})
}

func TestShort(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"}, {999 * time.Millisecond, "0s"}, {59 * time.Second, "59s"}, {time.Minute, "1m00s"}, {250 * time.Second, "4m10s"},
		{time.Hour, "1h00m"}, {25*time.Hour + 61*time.Second, "25h01m"}, {-90 * time.Second, "-1m30s"},
	} {
		if got := short(tt.d); got != tt.want {
			t.Errorf("short(%v) = %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestDurationText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 10 * time.Second: "10s", 10 * time.Minute: "10m", 90 * time.Second: "1m30s", 24 * time.Hour: "24h",
		90 * time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s", 35 * time.Millisecond: "35ms",
	} {
		got := config.DurationText(d)
		if back, err := time.ParseDuration(got); got != want || err != nil || back != d {
			t.Errorf("config.DurationText(%s) = %q (%s, %v), want %q", d, got, back, err, want)
		}
	}
}

func TestFields_LeavesOutEmpty_IndentsLines(t *testing.T) {
	got := fields([2]string{"a", "1"}, [2]string{"long", ""}, [2]string{"bcd", "x\ny"})
	if want := "a     1\nbcd   x\n      y\n"; got != want {
		t.Errorf("fields = %q, want %q", got, want)
	}
}

func TestClip(t *testing.T) {
	text := "1\n2\n3\n4\n"
	tests := []struct {
		lines int
		want  string
	}{{10, text}, {5, text}, {3, "1\n2\n… 2 more lines\n"}, {1, text}, {-1, text}}
	for _, tt := range tests {
		if got := clip(text, tt.lines); got != tt.want {
			t.Errorf("clip(%d) = %q, want %q", tt.lines, got, tt.want)
		}
	}
}

func TestProgress_PlainPrintsChangesOnly(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(streams{err: &b})
	p.show("pending", "  0s")
	p.show("pending", "  1s")
	p.note("a note")
	p.show("pending", "  2s")
	p.show("ready\x1b", "  3s")
	p.clear()
	if want := "pending  0s\na note\nready  3s\n"; b.String() != want {
		t.Errorf("progress = %q, want %q", b.String(), want)
	}
}

func TestProgress_TerminalDrawsOver(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(streams{err: &b, errTTY: true, size: func() (int, int) { return 12, 24 }})
	p.show("pending", "  10s")
	p.note("a note")
	p.clear()
	if want := eraseLine + "pendi…  10s" + eraseLine + "a note\n"; b.String() != want {
		t.Errorf("progress = %q, want %q", b.String(), want)
	}
}

func TestLogger(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tty     bool
		noColor string
		cfg     config.Log
		json    bool
		colour  bool
	}{
		{"AutoOnTerminal", true, "", config.Log{Level: "info", Format: "auto"}, false, true},
		{"AutoElsewhere", false, "", config.Log{Level: "info", Format: "auto"}, true, false},
		{"NoColor", true, "1", config.Log{Level: "info", Format: "auto"}, false, false},
		{"TextElsewhere", false, "", config.Log{Level: "info", Format: "text"}, false, false},
		{"JSONOnTerminal", true, "", config.Log{Level: "info", Format: "json"}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCLI(nil)
			c.errTTY, c.env = tt.tty, []string{"NO_COLOR=" + tt.noColor}
			log, b := c.logger(tt.cfg), &c.err
			log.Debug("hidden")
			log.Info("shown", "count", 3)
			if got := strings.HasPrefix(b.String(), "{"); got != tt.json {
				t.Errorf("json: %v, want %v: %s", got, tt.json, b)
			}
			if got := strings.Contains(b.String(), "\x1b["); got != tt.colour {
				t.Errorf("colour: %v, want %v: %q", got, tt.colour, b)
			}
			if strings.Contains(b.String(), "hidden") || !strings.Contains(b.String(), "shown") {
				t.Errorf("level info wrote %q", b)
			}
		})
	}
}
