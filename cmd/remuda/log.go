package main

import (
	"log/slog"
	"math"
	"time"

	"github.com/lmittmann/tint"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/logkey"
)

// colour reports whether a stream may be coloured: people look at it on a terminal, and want that (no-color.org).
func (a *app) colour(tty bool) bool { return tty && environment(a.environ())["NO_COLOR"] == "" }

// logger returns the logger of a long-running verb, on standard error, as c describes it: for people on a terminal,
// JSON elsewhere.
func (a *app) logger(c config.Log) *slog.Logger {
	setLevel(&a.level, c)
	if c.Format == "json" || c.Format == "auto" && !a.errTTY {
		return slog.New(slog.NewJSONHandler(a.err, &slog.HandlerOptions{Level: &a.level, ReplaceAttr: tidy}))
	}
	return slog.New(tint.NewTextHandler(a.err, &tint.Options{
		Level: &a.level, TimeFormat: time.DateTime, NoColor: !a.colour(a.errTTY), ReplaceAttr: tidy,
	}))
}

// setLevel changes what every logger lets through.
func setLevel(level *slog.LevelVar, c config.Log) {
	_ = level.UnmarshalText([]byte(c.Level)) // Validate lets no other pass
}

// tidy leaves out what says nothing, and what seconds do not need: they are told to a millisecond.
func tidy(_ []string, attr slog.Attr) slog.Attr {
	switch v := attr.Value.Resolve(); {
	case v.Equal(slog.StringValue("")), v.Equal(slog.AnyValue(nil)):
		return slog.Attr{}
	case attr.Key == logkey.Seconds && v.Kind() == slog.KindFloat64:
		attr.Value = slog.Float64Value(math.Round(v.Float64()*1000) / 1000)
	}
	return attr
}
