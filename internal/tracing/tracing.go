// Package tracing exports one trace for each attempt of a request, over OTLP, as the OTEL_… variables of the environment say
// (opentelemetry.io/docs/specs/otel, "Environment Variable Specification"); without them it does nothing. Spans are made from
// the records' histories once an attempt is Ready or Failed, and once it is over, with ids that follow from request and attempt:
// whichever controller exports a part, it is a part of the same trace. A trace holds no text of others: codes and ids alone.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// queued is how many attempts may wait for a receiver that is slow: some minutes of a large installation. Beyond that the newest
// is dropped.
const queued = 256

// Tracer makes and exports traces. A nil Tracer does nothing.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	log      *slog.Logger
	queue    chan attempt
	stop     chan struct{} // closed by Close
	stopOnce sync.Once
	done     chan struct{} // closed when nothing is made any more
	dropped  atomic.Int64
}

// attempt is what one export is made from.
type attempt struct {
	request   *store.RunRequest
	status    store.RunStatus
	instances []store.Instance
}

// New returns the tracer that the environment asks for, and nil if it asks for none. The caller closes it.
func New(ctx context.Context, environ []string, version string, log *slog.Logger) (*Tracer, error) {
	env := newEnvironment(environ)
	if !env.asks() {
		return nil, nil
	}
	if err := env.check(); err != nil {
		return nil, err
	}
	listen(log)
	out, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("export traces: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("remuda"), semconv.ServiceVersion(version)), resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("export traces: OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	t := &Tracer{log: log, queue: make(chan attempt, queued), stop: make(chan struct{}), done: make(chan struct{})}
	// Only the goroutine that makes the spans waits for room: an attempt for which there is none is dropped before, as a whole.
	t.provider = sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithIDGenerator(fixed{}),
		sdktrace.WithBatcher(&outlet{SpanExporter: out, log: log}, sdktrace.WithBlocking()))
	t.tracer = t.provider.Tracer("github.com/remuda-run/remuda", trace.WithInstrumentationVersion(version), trace.WithSchemaURL(semconv.SchemaURL))
	go t.run()
	return t, nil
}

// Answered takes an attempt that has just become Ready, Failed or Released. It never waits: what finds no room is dropped,
// which the log says once, and at the end how often.
func (t *Tracer) Answered(request *store.RunRequest, status store.RunStatus, instances []store.Instance) {
	select {
	case t.queue <- attempt{request, status, instances}:
	default:
		if t.dropped.Add(1) == 1 {
			t.log.Warn("traces are dropped: their receiver is too slow or does not answer", logkey.RequestID, status.ID)
		}
	}
}

// Close exports what was taken, until ctx ends. What is lost is said in the log: nothing else depends on it.
func (t *Tracer) Close(ctx context.Context) {
	if t == nil {
		return
	}
	t.stopOnce.Do(func() { close(t.stop) })
	select {
	case <-t.done:
	case <-ctx.Done():
	}
	if n := t.dropped.Load(); n > 0 {
		t.log.Warn("traces were dropped", logkey.Count, n)
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("the last traces could not be exported", logkey.Error, err)
	}
}

// run makes the spans of what is queued until Close.
func (t *Tracer) run() {
	defer close(t.done)
	for {
		select {
		case a := <-t.queue:
			t.export(a)
			continue
		default:
		}
		select {
		case a := <-t.queue:
			t.export(a)
		case <-t.stop:
			return
		}
	}
}

// outlet says once in the log when the receiver takes no traces, and once when it does again.
type outlet struct {
	sdktrace.SpanExporter
	log  *slog.Logger
	down atomic.Bool
}

// ExportSpans is the exporter's. Its error goes to the log alone: nothing else depends on it.
func (o *outlet) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := o.SpanExporter.ExportSpans(ctx, spans)
	switch was := o.down.Swap(err != nil); {
	case err != nil && !was:
		o.log.Warn("the receiver of traces does not take them; those until it does are lost", logkey.Error, err)
	case err == nil && was:
		o.log.Info("the receiver takes traces again")
	}
	return nil
}
