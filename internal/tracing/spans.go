package tracing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// maxMachines bounds the machines of one trace, with some ten spans each: a viewer shows no more, and a queue of the SDK
// holds 2,048 spans. Those that were lost come first, then those that took longest.
const maxMachines = 100

// key is what the ids of a span follow from.
type key struct{}

// ids are those of one span.
type ids struct {
	trace trace.TraceID
	span  trace.SpanID
}

// fixed gives each span the ids that its context has.
type fixed struct{}

func (fixed) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	of, _ := ctx.Value(key{}).(ids)
	return of.trace, of.span
}

func (f fixed) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, span := f.NewIDs(ctx)
	return span
}

// maker makes the spans of one attempt.
type maker struct {
	tracer trace.Tracer
	status store.RunStatus
	trace  trace.TraceID
}

// start begins a span whose ids follow from request, attempt and what it is of.
func (m maker) start(ctx context.Context, name, of string, from time.Time, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s", m.status.PendingAt, of)) // an attempt may be taken up anew
	ctx = context.WithValue(ctx, key{}, ids{m.trace, trace.SpanID(sum[:8])})
	return m.tracer.Start(ctx, name, trace.WithTimestamp(from), trace.WithAttributes(attributes...)) //nolint:spancheck // the caller ends it, if it is to be exported
}

// export makes the spans of an attempt: of its wait once it is Ready or Failed, of all that came after once it is over.
func (t *Tracer) export(a attempt) {
	st := a.status
	sum := sha256.Sum256(fmt.Appendf(nil, "remuda %s %d", st.ID, st.Attempt))
	m := maker{t.tracer, st, trace.TraceID(sum[:16])}
	answered := cmp.Or(st.ReadyAt, st.FailedAt)
	over := st.Phase == statemachine.PhaseReleased
	upTo := answered
	if over {
		upTo = st.ReleasedAt
	}
	told := timeline.Request(st.ID, store.RunRecords{Status: &st}, a.instances, "", upTo.Time)
	// What is not ended is not exported: it is there to be a parent, and for the sampler's word.
	ctx, root := m.start(context.Background(), "request", "request", st.PendingAt.Time, requestAttributes(a.request, st)...)
	ctx, wait := m.start(ctx, "wait", "wait", st.PendingAt.Time)
	machines := worst(told.Starts)
	if !over || answered.IsZero() {
		m.starts(ctx, machines, a.instances, func(s timeline.Start) bool { return !s.Phases[0].From.After(upTo.Time) })
		if st.Phase == statemachine.Failed {
			failed(wait, st.Reason, "")
		}
		wait.End(trace.WithTimestamp(upTo.Time))
	}
	if !over {
		return
	}
	if !st.ReadyAt.IsZero() {
		ctx, run := m.start(trace.ContextWithSpan(ctx, root), "run", "run", st.ReadyAt.Time)
		m.starts(ctx, machines, a.instances, func(s timeline.Start) bool { return s.Phases[0].From.After(st.ReadyAt.Time) })
		m.services(ctx, machines, a.instances, st)
		run.End(trace.WithTimestamp(st.ReleasedAt.Time))
	}
	for _, e := range told.Events {
		if e.Code == store.CodeFailed && e.InstanceID == "" {
			failed(root, e.Detail, "")
		}
	}
	root.SetAttributes(attribute.String("remuda.reason", st.Reason))
	root.End(trace.WithTimestamp(st.ReleasedAt.Time))
}

// worst returns the starts that are told: those of lost machines first, then the longest.
func worst(starts []timeline.Start) []timeline.Start {
	starts = slices.DeleteFunc(slices.Clone(starts), func(s timeline.Start) bool { return len(s.Phases) == 0 })
	slices.SortStableFunc(starts, func(a, b timeline.Start) int {
		if (a.Lost != "") != (b.Lost != "") {
			return cmp.Compare(b.Lost, a.Lost)
		}
		return cmp.Compare(b.Busiest().Duration(), a.Busiest().Duration())
	})
	return starts[:min(len(starts), maxMachines)]
}

// starts makes the spans of those starts that belong: one for the machine, and one in it for each phase.
func (m maker) starts(ctx context.Context, all []timeline.Start, instances []store.Instance, belongs func(timeline.Start) bool) {
	for _, s := range all {
		if !belongs(s) {
			continue
		}
		end := s.Phases[len(s.Phases)-1]
		of := string(s.InstanceID) + " " + s.Phases[0].From.String()
		ctx, machine := m.start(ctx, "machine", of, s.Phases[0].From.Time, machineAttributes(s, instances)...)
		for _, p := range s.Phases {
			_, phase := m.start(ctx, string(p.Name), of+" "+string(p.Name), p.From.Time, attribute.String("remuda.outcome", string(p.Outcome)))
			if p.Outcome == timeline.Failed && s.Lost != "" {
				lost(phase, s)
			}
			phase.End(trace.WithTimestamp(p.To.Time))
		}
		if end.Outcome == timeline.Failed && s.Lost != "" {
			lost(machine, s)
		}
		machine.End(trace.WithTimestamp(end.To.Time))
	}
}

// services makes a span for each machine that was handed over: until it was given back, or lost.
func (m maker) services(ctx context.Context, all []timeline.Start, instances []store.Instance, st store.RunStatus) {
	for _, s := range all {
		if s.HandedOver.IsZero() {
			continue
		}
		end := cmp.Or(s.Ended, st.ReleasedAt)
		_, span := m.start(ctx, "service", string(s.InstanceID)+" service", s.HandedOver.Time, machineAttributes(s, instances)...)
		if s.Lost != "" {
			lost(span, s)
		}
		span.End(trace.WithTimestamp(end.Time))
	}
}

// failed marks an error by what the controller calls it, never by what others wrote.
func failed(span trace.Span, kind, why string) {
	span.SetStatus(codes.Error, cmp.Or(why, kind))
	span.SetAttributes(semconv.ErrorTypeKey.String(kind))
}

// lost marks the end of a machine, by the event that it was and its reason.
func lost(span trace.Span, s timeline.Start) {
	event := s.Lost
	if end := strings.IndexAny(event, ": "); end >= 0 {
		event = event[:end]
	}
	failed(span, event, s.Lost)
}

func requestAttributes(r *store.RunRequest, st store.RunStatus) []attribute.KeyValue {
	warm := 0
	for _, seat := range st.Instances {
		if seat.Warm {
			warm++
		}
	}
	out := []attribute.KeyValue{
		attribute.String("remuda.request.id", string(st.ID)), attribute.Int("remuda.request.attempt", st.Attempt),
		attribute.Int("remuda.machines.wanted", st.Counts.Wanted), attribute.Int("remuda.machines.warm", warm),
	}
	if r == nil {
		return out
	}
	out = append(out, attribute.String("remuda.resource_class", r.ResourceClass))
	if w, named := r.Workflow(); named {
		owner, name, _ := strings.Cut(w.Repository, "/")
		out = append(out, semconv.CICDPipelineRunID(strconv.FormatInt(w.Run, 10)), semconv.VCSOwnerName(owner), semconv.VCSRepositoryName(name))
	}
	return out
}

func machineAttributes(s timeline.Start, instances []store.Instance) []attribute.KeyValue {
	out := []attribute.KeyValue{
		semconv.HostID(string(s.InstanceID)), semconv.CICDWorkerID(string(s.InstanceID)), attribute.Bool("remuda.warm", s.Warm),
	}
	i := slices.IndexFunc(instances, func(in store.Instance) bool { return in.ID == s.InstanceID })
	if i < 0 {
		return out
	}
	in := instances[i]
	return append(out, semconv.HostType(in.InstanceType), semconv.CloudAvailabilityZone(in.Zone), attribute.String("remuda.usage_class", in.UsageClass))
}
