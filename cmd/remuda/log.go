package main

import (
	"log/slog"
	"time"

	"github.com/lmittmann/tint"

	"github.com/remuda-run/remuda/internal/config"
)

// colour reports whether a stream may be coloured: people look at it on a terminal, and want that (no-color.org).
func (a *app) colour(tty bool) bool { return tty && environment(a.environ())["NO_COLOR"] == "" }

// logger returns the logger of a long-running verb, on standard error, as c describes it: for people on a terminal,
// JSON elsewhere.
func (a *app) logger(c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // Validate lets no other pass
	if c.Format == "json" || c.Format == "auto" && !a.errTTY {
		return slog.New(slog.NewJSONHandler(a.err, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(tint.NewTextHandler(a.err, &tint.Options{
		Level: level, TimeFormat: time.TimeOnly, NoColor: !a.colour(a.errTTY),
	}))
}
