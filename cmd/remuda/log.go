package main

import (
	"log/slog"
	"time"

	"github.com/lmittmann/tint"

	"github.com/remuda-run/remuda/internal/config"
)

// logger returns the logger of a long-running verb, on standard error, as c describes it: for people on a terminal,
// JSON elsewhere. Colour is left out where it cannot be shown or is not wanted (no-color.org).
func (a *app) logger(c config.Log) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // Validate lets no other pass
	if c.Format == "json" || c.Format == "auto" && !a.errTTY {
		return slog.New(slog.NewJSONHandler(a.err, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(tint.NewTextHandler(a.err, &tint.Options{
		Level: level, TimeFormat: time.TimeOnly, NoColor: !a.errTTY || environment(a.environ())["NO_COLOR"] != "",
	}))
}
