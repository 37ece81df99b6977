package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/lmittmann/tint"

	"github.com/remuda-run/remuda/internal/cloudlog"
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
		return slog.New(jsonHandler(a.err, &a.level))
	}
	return slog.New(tint.NewTextHandler(a.err, &tint.Options{
		Level: &a.level, TimeFormat: time.DateTime, NoColor: !a.colour(a.errTTY), ReplaceAttr: tidy,
	}))
}

func jsonHandler(w io.Writer, level slog.Leveler) slog.Handler {
	return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: tidy})
}

// shippedLogger returns the logger of a controller, whose log also goes to log.group, if there is one. end has what is left
// sent, and before it the error that the controller ends with: on standard error that is the command line's answer.
func shippedLogger(ctx context.Context, a *app, c config.Config) (log *slog.Logger, end func(error), err error) {
	log = a.logger(c.Log)
	if c.Log.Group == "" {
		return log, func(error) {}, nil
	}
	cfg, err := fleetAWS(ctx, c)
	if err != nil {
		return nil, nil, fmt.Errorf("log.group: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, nil, fmt.Errorf("log.group: name the stream: %w", err)
	}
	s := cloudlog.New(cloudwatchlogs.NewFromConfig(cfg), c.Log.Group, fmt.Sprintf("%s-%d", host, os.Getpid()), a.clock, log)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // what is logged while the controller stops is sent, too
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	shipped := jsonHandler(s, &a.level)
	return slog.New(slog.NewMultiHandler(log.Handler(), shipped)), func(err error) {
		if err != nil {
			slog.New(shipped).Error("this controller ended", logkey.Error, err)
		}
		cancel()
		<-done
	}, nil
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
