package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"

	"github.com/remuda-run/remuda/internal/logkey"
)

// environment are the variables by which traces are asked for. Of most there are two, and that of traces alone counts first.
type environment map[string]string

func newEnvironment(environ []string) environment {
	env := environment{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	return env
}

// of returns the variable of the exporter that counts, "" if neither is set.
func (e environment) of(what string) (name, value string) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_" + what, "OTEL_EXPORTER_OTLP_" + what} {
		if e[name] != "" {
			return name, e[name]
		}
	}
	return "", ""
}

// asks reports whether a receiver of traces is named, and traces are not turned off.
func (e environment) asks() bool {
	endpoint, _ := e.of("ENDPOINT")
	exporter := e[exporterVariable]
	return !strings.EqualFold(e["OTEL_SDK_DISABLED"], "true") && !strings.EqualFold(exporter, "none") && (endpoint != "" || exporter != "")
}

const exporterVariable = "OTEL_TRACES_EXPORTER"

// check returns all that is wrong. Of endpoint and headers it names the variable alone, since they may hold a credential.
func (e environment) check() error {
	var errs []error
	if exporter := e[exporterVariable]; exporter != "" && exporter != "otlp" {
		errs = append(errs, fmt.Errorf("%s: must be otlp or none, got %q", exporterVariable, exporter))
	}
	if name, protocol := e.of("PROTOCOL"); name != "" && protocol != "http/protobuf" {
		errs = append(errs, fmt.Errorf("%s: must be http/protobuf, got %q", name, protocol))
	}
	if name, endpoint := e.of("ENDPOINT"); name != "" {
		if u, err := url.Parse(endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			errs = append(errs, fmt.Errorf("%s: must be a URL such as https://collector.example:4318", name))
		}
	}
	if name, headers := e.of("HEADERS"); name != "" {
		for header := range strings.SplitSeq(headers, ",") {
			if key, _, ok := strings.Cut(header, "="); !ok || strings.TrimSpace(key) == "" {
				errs = append(errs, fmt.Errorf("%s: must be key=value, several with commas between them", name))
				break
			}
		}
	}
	return errors.Join(errs...)
}

// listen has what OpenTelemetry says of itself, for the whole process, go to the log: without the values of variables, which
// it would quote.
func listen(log *slog.Logger) {
	otel.SetLogger(logr.FromSlogHandler(discreet{log.Handler()}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("OpenTelemetry reports an error", logkey.Error, err) }))
}

// discreet logs errors alone, and of their attributes none but the error itself.
type discreet struct{ slog.Handler }

// Enabled implements slog.Handler.
func (d discreet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError && d.Handler.Enabled(ctx, slog.LevelWarn)
}

// Handle implements slog.Handler.
func (d discreet) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, slog.LevelWarn, "a variable of OpenTelemetry is wrong, and does not count", 0)
	out.AddAttrs(slog.String(logkey.Detail, r.Message))
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" { // logr's
			out.AddAttrs(slog.Any(logkey.Error, a.Value))
		}
		return true
	})
	return d.Handler.Handle(ctx, out)
}

// WithAttrs implements slog.Handler.
func (d discreet) WithAttrs([]slog.Attr) slog.Handler { return d }

// WithGroup implements slog.Handler.
func (d discreet) WithGroup(string) slog.Handler { return d }
