package repocheck_test

import (
	"regexp"
	"strings"
	"testing"
)

// logLine is a line of docs/trace.md that a controller or an agent logged: level, message, and the rest.
var logLine = regexp.MustCompile(`(?m)^(?:controller|agent) +\d\d:\d\d:\d\d (DBG|INF|WRN|ERR) (.+?)((?: [a-z_]+=.*)?)$`)

// runnerLine is one that the runner program wrote: up to the first colon or digit its text is the program's own.
var runnerLine = regexp.MustCompile(`(?m)^runner +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ: ([A-Za-z ]+)`)

// clientLine is one of a client, of which the words before the first number are checked.
var clientLine = regexp.MustCompile(`(?m)^client +(?:\d+  )?([A-Za-z ]+?)(?:  .*| \d.*)$`)

var logKey = regexp.MustCompile(`(?:^| )([a-z_]+)=`)

// Somebody who follows the trace finds the same lines in a log of their own.
func TestTrace_QuotesLogLines(t *testing.T) {
	doc := read(t, "docs/trace.md")
	code := productCode(t)
	keys := read(t, "internal/logkey/logkey.go")
	methods := map[string]string{"DBG": "Debug", "INF": "Info", "WRN": "Warn", "ERR": "Error"}
	lines := logLine.FindAllStringSubmatch(doc, -1)
	for _, m := range lines {
		level, message := methods[m[1]], m[2]
		call := regexp.MustCompile(`\.` + level + `(?:Context)?\((?:ctx, )?"` + regexp.QuoteMeta(message) + `"`)
		if !call.MatchString(code) {
			t.Errorf("docs/trace.md: nothing logs %q at level %s", message, level)
		}
		for _, key := range logKey.FindAllStringSubmatch(m[3], -1) {
			if !strings.Contains(keys, `"`+key[1]+`"`) {
				t.Errorf("docs/trace.md: %q has the key %s, which internal/logkey has not", message, key[1])
			}
		}
	}
	texts := append(runnerLine.FindAllStringSubmatch(doc, -1), clientLine.FindAllStringSubmatch(doc, -1)...)
	for _, m := range texts {
		if text := strings.TrimSpace(m[1]); !strings.Contains(code, text) {
			t.Errorf("docs/trace.md: no program says %q", text)
		}
	}
	if len(lines) < 20 || len(texts) < 8 {
		t.Errorf("docs/trace.md quotes %d log lines and %d of client and runner, want the whole way", len(lines), len(texts))
	}
}

// productCode returns the text of all Go files that are no tests.
func productCode(t *testing.T) string {
	t.Helper()
	var code strings.Builder
	for _, file := range files(t, ".go") {
		if !strings.HasSuffix(file, "_test.go") {
			code.WriteString(read(t, file))
		}
	}
	return code.String()
}
