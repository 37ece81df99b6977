package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/logkey"
)

// A line of the log holds nothing that says nothing, and seconds to a millisecond; for people it begins with the date.
func TestLogger_Tidy(t *testing.T) {
	for _, tt := range []struct{ format, want string }{
		{"text", ` INF done elapsed_seconds=795.29 count=0 error="disk full"`},
		{"json", `"msg":"done","elapsed_seconds":795.29,"count":0,"error":"disk full"}`},
	} {
		c := newCLI(nil)
		log := c.logger(config.Log{Level: "info", Format: tt.format})
		log.With(logkey.Reason, "").Info("done", logkey.Seconds, 795.290313421, logkey.Detail, "", logkey.Count, 0, logkey.Cause, nil, logkey.Error, errors.New("disk full"))
		line := c.err.String()
		if !strings.HasSuffix(line, tt.want+"\n") || strings.Contains(line, "reason") || strings.Contains(line, "detail") || strings.Contains(line, "cause") {
			t.Errorf("%s: line = %s, want …%s", tt.format, line, tt.want)
		}
		if tt.format == "text" && len(line) > 20 && (line[4] != '-' || line[7] != '-' || line[10] != ' ') {
			t.Errorf("line = %s, want the date first", line)
		}
	}
}
