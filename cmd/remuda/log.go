package main

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/lmittmann/tint"

	"github.com/remuda-run/remuda/internal/config"
)

// newLogger returns the logger that c describes: for people on a terminal, JSON elsewhere. Colour is
// left out where it cannot be shown or is not wanted (no-color.org).
func newLogger(w io.Writer, tty bool, noColor string, c config.Log) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return nil, fmt.Errorf("log.level: %w", err)
	}
	if c.Format == "json" || c.Format == "auto" && !tty {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})), nil
	}
	return slog.New(tint.NewTextHandler(w, &tint.Options{
		Level: level, TimeFormat: time.TimeOnly, NoColor: !tty || noColor != "",
	})), nil
}

// logger returns the logger of a long-running verb, on standard error.
func (a *app) logger(c config.Log) (*slog.Logger, error) {
	return newLogger(a.err, a.errTTY, environment(a.environ())["NO_COLOR"], c)
}
