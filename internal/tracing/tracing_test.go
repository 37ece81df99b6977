package tracing_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/remuda-run/remuda/internal/tracing"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// receiver takes traces as OTLP over HTTP has them (opentelemetry.io/docs/specs/otlp).
type receiver struct {
	mu       sync.Mutex
	spans    []*otlp.Span
	services []string
	hold     chan struct{} // calls wait for it; nil: none waits
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.hold != nil {
		select {
		case <-r.hold:
		case <-req.Context().Done():
			return
		}
	}
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	raw, err := io.ReadAll(body)
	var in collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &in)
	}
	if err != nil || req.URL.Path != "/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, fmt.Sprintf("%s %s: %v", req.URL, req.Header, err), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rs := range in.GetResourceSpans() {
		for _, a := range rs.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				r.services = append(r.services, a.GetValue().GetStringValue())
			}
		}
		for _, ss := range rs.GetScopeSpans() {
			r.spans = append(r.spans, ss.GetSpans()...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// listen starts a receiver and lets the environment name it.
func listen(t *testing.T, hold chan struct{}) *receiver {
	t.Helper()
	r := &receiver{hold: hold}
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", srv.URL)
	return r
}

func tracer(t *testing.T, log io.Writer) *tracing.Tracer {
	t.Helper()
	tr, err := tracing.New(t.Context(), os.Environ(), "v1.2.3", slog.New(slog.NewTextHandler(log, nil)))
	if err != nil || tr == nil {
		t.Fatalf("New() = %v, %v", tr, err)
	}
	return tr
}

var begun = store.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

func after(s int) time.Time { return begun.Add(time.Duration(s) * time.Second) }

const hostile = "script output with a secret"

// aRun is a request for two machines of which one was lost before it was Ready, and another in its run.
func aRun() (*store.RunRequest, store.RunStatus, []store.Instance) {
	request := &store.RunRequest{ID: "4711", Attempt: 1, ResourceClass: "small", Repository: "octo/app", WorkflowRun: 4711, WorkflowAttempt: 1}
	st := store.RunStatus{
		ID: "4711", Attempt: 1, Phase: statemachine.Ready, PendingAt: begun, ReadyAt: store.At(after(60)), Message: hostile,
		Counts: store.Counts{Wanted: 2}, History: "0 take 2\n1000 ask 2 spot\n30000 lost i-bad rejected\n60000 ready",
		Instances: []store.Seat{{InstanceID: "i-1"}, {InstanceID: "i-2", Warm: true}},
	}
	in := func(id store.InstanceID, history store.History) store.Instance {
		return store.Instance{ID: id, CreatedAt: begun, InstanceType: "c6i.large", Zone: "eu-west-1a", History: history, Detail: hostile}
	}
	return request, st, []store.Instance{
		in("i-1", "2000 new 4711\n40000 boot\n50000 script\n58000 on\n60000 hand"),
		in("i-2", "0 new old\n0 rel drain\n0 pool\n1000 claim 4711\n5000 on\n60000 hand"),
		in("i-bad", "2000 new 4711\n20000 boot\n30000 script!\n30000 end rejected pre-runner script failed"),
	}
}

// over is the same request after its end, in whose run i-2 was lost and i-3 came for it.
func over() (*store.RunRequest, store.RunStatus, []store.Instance) {
	request, st, instances := aRun()
	st.Phase, st.Reason, st.ReleasedAt = statemachine.PhaseReleased, "released", store.At(after(200))
	st.History += "\n100000 lost i-2 lost\n200000 over released"
	instances[0].History += "\n190000 rel drain"
	instances[1].History += "\n100000 end lost no heartbeat"
	instances = append(instances, store.Instance{ID: "i-3", CreatedAt: begun, History: "101000 new 4711\n110000 boot\n111000 script\n112000 on\n113000 hand\n190000 rel drain"})
	return request, st, instances
}

// One attempt is one trace, whichever controller exports which part of it, and no span is there twice.
func TestTracer_OneTraceOfAnAttempt(t *testing.T) {
	r := listen(t, nil)
	var log bytes.Buffer
	for _, part := range []func() (*store.RunRequest, store.RunStatus, []store.Instance){aRun, over} {
		tr := tracer(t, &log)
		tr.Answered(part())
		tr.Close(t.Context())
	}
	if log.Len() > 0 {
		t.Errorf("it logged:\n%s", &log)
	}
	byID := map[string]*otlp.Span{}
	for _, s := range r.spans {
		id := hex.EncodeToString(s.GetSpanId())
		if byID[id] != nil {
			t.Errorf("span %s %s is there twice", id, s.GetName())
		}
		byID[id] = s
		if !bytes.Equal(s.GetTraceId(), r.spans[0].GetTraceId()) {
			t.Errorf("span %s is of another trace", s.GetName())
		}
		if strings.Contains(s.String(), hostile) {
			t.Errorf("span %s tells what others wrote: %s", s.GetName(), s)
		}
	}
	var tree []string
	for _, s := range r.spans {
		path := s.GetName()
		for up := s; len(up.GetParentSpanId()) > 0; path = up.GetName() + "/" + path {
			child := up
			if up = byID[hex.EncodeToString(up.GetParentSpanId())]; up == nil {
				t.Fatalf("the parent of %s was never exported", path)
			}
			if up.GetStartTimeUnixNano() > child.GetStartTimeUnixNano() || up.GetEndTimeUnixNano() < child.GetEndTimeUnixNano() {
				t.Errorf("%s begins or ends outside of its parent %s", child.GetName(), up.GetName())
			}
		}
		line := fmt.Sprintf("%s %s %d-%d", path, attribute(s, "host.id"), seconds(s.GetStartTimeUnixNano()), seconds(s.GetEndTimeUnixNano()))
		if s.GetStatus().GetCode() == otlp.Status_STATUS_CODE_ERROR {
			line += " error: " + s.GetStatus().GetMessage() + " (" + attribute(s, "error.type") + ")"
		}
		tree = append(tree, strings.Join(strings.Fields(line), " "))
	}
	slices.Sort(tree)
	want := []string{
		"request 0-200",
		"request/run 60-200",
		"request/run/machine i-3 100-113",
		"request/run/machine/accepted+launch 100-101",
		"request/run/machine/boot 101-110",
		"request/run/machine/hand-over 112-113",
		"request/run/machine/registration 111-112",
		"request/run/machine/script 110-111",
		"request/run/service i-1 60-190",
		"request/run/service i-2 60-100 error: lost no heartbeat (lost)",
		"request/run/service i-3 113-190",
		"request/wait 0-60",
		"request/wait/machine i-1 0-60",
		"request/wait/machine i-2 0-60",
		"request/wait/machine i-bad 0-30 error: rejected pre-runner script failed (rejected)",
		"request/wait/machine/accepted 0-1",
		"request/wait/machine/accepted 0-1",
		"request/wait/machine/boot 2-20",
		"request/wait/machine/boot 2-40",
		"request/wait/machine/claimed 0-1",
		"request/wait/machine/hand-over 5-60",
		"request/wait/machine/hand-over 58-60",
		"request/wait/machine/launch 1-2",
		"request/wait/machine/launch 1-2",
		"request/wait/machine/registration 1-5",
		"request/wait/machine/registration 50-58",
		"request/wait/machine/script 20-30 error: rejected pre-runner script failed (rejected)",
		"request/wait/machine/script 40-50",
	}
	if !slices.Equal(tree, want) {
		t.Errorf("the trace is\n%s\nwant\n%s", strings.Join(tree, "\n"), strings.Join(want, "\n"))
	}
	for key, want := range map[string]string{"cicd.pipeline.run.id": "4711", "vcs.repository.name": "app", "remuda.request.id": "4711", "remuda.resource_class": "small"} {
		if i := slices.IndexFunc(r.spans, func(s *otlp.Span) bool { return s.GetName() == "request" }); attribute(r.spans[i], key) != want {
			t.Errorf("the request's %s is %q, want %q", key, attribute(r.spans[i], key), want)
		}
	}
	if !slices.Equal(slices.Compact(r.services), []string{"remuda"}) {
		t.Errorf("services are %q", r.services)
	}
}

func attribute(s *otlp.Span, key string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

func seconds(unixNano uint64) int64 {
	return int64(unixNano-uint64(begun.Time.UnixNano())) / int64(time.Second)
} //nolint:gosec // of this test's own times

// A request that failed is an error, with the controller's word for why and nothing else.
func TestTracer_OfAFailure(t *testing.T) {
	r := listen(t, nil)
	tr := tracer(t, io.Discard)
	st := store.RunStatus{
		ID: "5", Attempt: 2, Phase: statemachine.Failed, Reason: "timeout", Message: hostile, PendingAt: begun, FailedAt: store.At(after(90)),
		History: "0 take 1\n90000 fail timeout",
	}
	tr.Answered(nil, st, nil)
	st.Phase, st.Reason, st.ReleasedAt, st.History = statemachine.PhaseReleased, "released", store.At(after(95)), st.History+"\n95000 over released"
	tr.Answered(nil, st, nil)
	tr.Close(t.Context())
	var got []string
	for _, s := range r.spans {
		got = append(got, fmt.Sprintf("%s %d-%d %s", s.GetName(), seconds(s.GetStartTimeUnixNano()), seconds(s.GetEndTimeUnixNano()), s.GetStatus().GetMessage()))
	}
	slices.Sort(got)
	if want := []string{"request 0-95 timeout", "wait 0-90 timeout"}; !slices.Equal(got, want) {
		t.Errorf("spans are %q, want %q", got, want)
	}
}

// A receiver that does not answer holds nobody up. What has no room is dropped, and said once.
func TestTracer_NeverWaits(t *testing.T) {
	hold := make(chan struct{})
	listen(t, hold)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	var log bytes.Buffer
	tr := tracer(t, &log)
	for range 1000 { // none of which returns before it is taken or dropped
		tr.Answered(aRun())
	}
	close(hold)
	tr.Close(t.Context())
	if n := strings.Count(log.String(), "traces are dropped"); n != 1 || !strings.Contains(log.String(), "traces were dropped") {
		t.Errorf("it said %d times that traces are dropped:\n%s", n, &log)
	}
}

// A receiver that refuses is said once, and the controller's end does not wait for it.
func TestTracer_RefusedIsSaidOnce(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", srv.URL)
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	var log bytes.Buffer
	tr := tracer(t, &log)
	tr.Answered(aRun())
	tr.Close(t.Context())
	if n := strings.Count(log.String(), "the receiver of traces does not take them"); n != 1 {
		t.Errorf("it was said %d times:\n%s", n, &log)
	}
}

func TestNew_ByTheEnvironment(t *testing.T) {
	for env, want := range map[string]string{
		"":                    "off",
		"OTEL_SERVICE_NAME=x": "off",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_SDK_DISABLED=true":    "off",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_TRACES_EXPORTER=none": "off",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:1":                    "on",
		"OTEL_TRACES_EXPORTER=otlp":                                                "on",
		"OTEL_TRACES_EXPORTER=console":                                             `OTEL_TRACES_EXPORTER: must be otlp or none, got "console"`,
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1": "on",
		"OTEL_EXPORTER_OTLP_ENDPOINT=s3cret:4318":                                                 "OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL such as https://collector.example:4318",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_EXPORTER_OTLP_TRACES_HEADERS=s3cret": "OTEL_EXPORTER_OTLP_TRACES_HEADERS: must be key=value, several with commas between them",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_EXPORTER_OTLP_PROTOCOL=grpc":         `OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf, got "grpc"`,
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1 OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=x":     `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: must be http/protobuf, got "x"`,
	} {
		tr, err := tracing.New(t.Context(), strings.Fields(env), "v1", slog.New(slog.DiscardHandler))
		got := map[bool]string{true: "on", false: "off"}[tr != nil]
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("with %q: %s, want %s", env, got, want)
		}
		tr.Close(context.Background())
	}
}

// What OpenTelemetry itself finds wrong goes to the log, without the value of the variable, which may be a secret.
func TestNew_WrongVariablesAreLogged_H43(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "s3cret")
	var out bytes.Buffer
	tr, err := tracing.New(t.Context(), []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"}, "v1", slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close(context.Background())
	if text := out.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "variable of OpenTelemetry") {
		t.Errorf("log:\n%s\nwant one warning", text)
	}
}
