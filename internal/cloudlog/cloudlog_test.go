package cloudlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"go.uber.org/goleak"
	"k8s.io/utils/clock"
	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/bubbletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is CloudWatch Logs with one group.
type service struct {
	mu      sync.Mutex
	streams map[string]bool
	lines   []string
	calls   int
	fault   func(ctx context.Context, call string) error // nil: none
	rejects *types.RejectedLogEventsInfo
	invalid error // a batch that breaks a rule
}

func (s *service) CreateLogStream(ctx context.Context, in *cloudwatchlogs.CreateLogStreamInput, _ ...func(*cloudwatchlogs.Options)) (*cloudwatchlogs.CreateLogStreamOutput, error) {
	if err := s.begin(ctx, "CreateLogStream"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case *in.LogGroupName != "/remuda/controller":
		return nil, &types.ResourceNotFoundException{Message: aws.String("The specified log group does not exist.")}
	case s.streams[*in.LogStreamName]:
		return nil, &types.ResourceAlreadyExistsException{}
	}
	s.streams[*in.LogStreamName] = true
	return &cloudwatchlogs.CreateLogStreamOutput{}, nil
}

func (s *service) PutLogEvents(ctx context.Context, in *cloudwatchlogs.PutLogEventsInput, _ ...func(*cloudwatchlogs.Options)) (*cloudwatchlogs.PutLogEventsOutput, error) {
	if err := s.begin(ctx, "PutLogEvents"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.streams[*in.LogStreamName] {
		return nil, &types.ResourceNotFoundException{Message: aws.String("The specified log stream does not exist.")}
	}
	if err := valid(in.LogEvents); err != nil {
		s.invalid = err
		return nil, &types.InvalidParameterException{Message: aws.String(err.Error())}
	}
	for _, e := range in.LogEvents {
		s.lines = append(s.lines, *e.Message)
	}
	return &cloudwatchlogs.PutLogEventsOutput{RejectedLogEventsInfo: s.rejects}, nil
}

func (s *service) begin(ctx context.Context, call string) error {
	s.mu.Lock()
	s.calls++
	fault := s.fault
	s.mu.Unlock()
	if fault == nil {
		return nil
	}
	return fault(ctx, call)
}

func (s *service) set(fault func(context.Context, string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// stream has the stream be there, or not.
func (s *service) stream(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams["host-1"] = is
}

// got returns what arrived, and forgets it.
func (s *service) got() (lines []string, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines, calls = s.lines, s.calls
	s.lines, s.calls = nil, 0
	return lines, calls
}

// valid holds a batch to the rules of PutLogEvents, as its reference has them.
func valid(batch []types.InputLogEvent) error {
	if len(batch) == 0 || len(batch) > 10_000 {
		return fmt.Errorf("%d events, want 1 to 10,000", len(batch))
	}
	bytes, begin, last := 0, *batch[0].Timestamp, *batch[0].Timestamp
	for _, e := range batch {
		bytes += len(*e.Message) + 26
		if *e.Timestamp < last {
			return errors.New("not in order of time")
		}
		last = *e.Timestamp
	}
	if bytes > 1_048_576 {
		return fmt.Errorf("%d bytes", bytes)
	}
	if last-begin > 24*60*60*1000 {
		return errors.New("over a day")
	}
	return nil
}

func unavailable(context.Context, string) error { return errors.New("connection refused") }

// told is what a Shipper says of itself.
type told struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *told) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *told) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *told) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Reset()
}

// shipping runs a Shipper in a bubble. said is what it says of itself; stop ends it and waits.
func shipping(t *testing.T, group string, f func(t *testing.T, s *Shipper, aws *service, said *told, stop func())) {
	t.Helper()
	bubbletest.Run(t, func(t *testing.T) {
		api, said := &service{streams: map[string]bool{}}, &told{}
		s := New(api, group, "host-1", clock.RealClock{}, slog.New(slog.NewTextHandler(said, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.Run(ctx)
		}()
		stop := func() {
			cancel()
			<-done
		}
		defer stop()
		f(t, s, api, said, stop)
		if api.invalid != nil {
			t.Errorf("a batch breaks the rules: %v", api.invalid)
		}
	})
}

const group = "/remuda/controller"

func write(t *testing.T, s *Shipper, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if n, err := s.Write([]byte(line + "\n")); n != len(line)+1 || err != nil {
			t.Errorf("Write() = %d, %v", n, err)
		}
	}
}

func numbered(from, to int) (out []string) {
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf(`{"msg":"line %d"}`, i))
	}
	return out
}

// arrived fails the test unless exactly want arrived, in order.
func arrived(t *testing.T, api *service, want []string) {
	t.Helper()
	synctest.Wait()
	if got, _ := api.got(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d lines arrived, want %d: %.200q", len(got), len(want), got)
	}
}

// Whatever is written is cut into batches that the service takes, each as large as can be, and nothing is left out.
func TestFirst_KeepsTheLimits(t *testing.T) {
	text := strings.Repeat("x", 1_048_550)
	rapid.Check(t, func(t *rapid.T) {
		var lines []types.InputLogEvent
		at := int64(1_700_000_000_000)
		for range rapid.IntRange(1, 5).Draw(t, "runs") {
			count := rapid.SampledFrom([]int{1, 2, 3, 9_999, 10_000, 10_001}).Draw(t, "count")
			length := rapid.SampledFrom([]int{1, 30, 500_000, 524_262, 524_263, 1_048_550}).Draw(t, "length")
			step := rapid.SampledFrom([]int64{0, 0, 0, 1, 8_640, 43_200_000, 86_400_000, 86_400_001, -1, -90_000_000}).Draw(t, "step")
			if length > 1000 {
				count = min(count, 3)
			}
			for range count {
				lines = append(lines, types.InputLogEvent{Message: aws.String(text[:length]), Timestamp: aws.Int64(at)})
				at += step
			}
		}
		for len(lines) > 0 {
			n := first(lines)
			if err := valid(lines[:n]); err != nil {
				t.Fatalf("a batch of %d: %v", n, err)
			}
			if n < len(lines) && valid(lines[:n+1]) == nil {
				t.Fatalf("a batch of %d, though one more would be taken", n)
			}
			lines = lines[n:]
		}
	})
}

func TestShipper_InOrder(t *testing.T) {
	shipping(t, group, func(t *testing.T, s *Shipper, api *service, said *told, _ func()) {
		for i := range 100 {
			write(t, s, numbered(i, i+1)...)
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(every)
		synctest.Wait()
		got, calls := api.got()
		if !slices.Equal(got, numbered(0, 100)) || calls > 9 { // the stream, and one in 5 s of 35
			t.Errorf("%d calls, %d lines: %.200q", calls, len(got), got)
		}
		time.Sleep(time.Hour)
		if _, calls := api.got(); calls != 0 {
			t.Errorf("%d calls without a line", calls)
		}
		if said.String() != "" {
			t.Errorf("told: %s", said)
		}
	})
}

// A whole batch does not wait, and a line that no event can hold is cut between characters.
func TestShipper_Full(t *testing.T) {
	shipping(t, group, func(t *testing.T, s *Shipper, api *service, _ *told, _ func()) {
		write(t, s, numbered(0, 9_999)...)
		arrived(t, api, nil)
		write(t, s, numbered(9_999, 10_000)...)
		arrived(t, api, numbered(0, 10_000))
		write(t, s, "x"+strings.Repeat("é", 600_000))
		time.Sleep(every)
		arrived(t, api, []string{"x" + strings.Repeat("é", 524_274)})
	})
}

// An outage is told once, and its end; what was written meanwhile arrives then, once.
func TestShipper_Outage(t *testing.T) {
	shipping(t, group, func(t *testing.T, s *Shipper, api *service, said *told, _ func()) {
		write(t, s, numbered(0, 10)...)
		time.Sleep(every)
		arrived(t, api, numbered(0, 10))
		api.set(unavailable)
		for i := range 60 {
			write(t, s, numbered(10+i, 11+i)...)
			time.Sleep(time.Second)
		}
		if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "level=WARN") ||
			!strings.Contains(text, "logs:PutLogEvents on log group /remuda/controller: no usable answer: connection refused") {
			t.Errorf("told: %s", text)
		}
		said.Reset()
		api.set(nil)
		time.Sleep(every)
		arrived(t, api, numbered(10, 70))
		if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "reaches CloudWatch again") {
			t.Errorf("told: %s", text)
		}
	})
}

// What finds no room in an outage is counted, and a full buffer is no reason to call more often.
func TestShipper_Overflow(t *testing.T) {
	shipping(t, group, func(t *testing.T, s *Shipper, api *service, said *told, _ func()) {
		api.set(unavailable)
		line := strings.Repeat("x", 1024-26) // 4,096 of them are 4 MiB
		for range 5_000 {
			write(t, s, line)
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if _, calls := api.got(); calls > 11 { // at the first whole batch, and each 5 s of 50
			t.Errorf("%d calls", calls)
		}
		api.set(nil)
		time.Sleep(every)
		synctest.Wait()
		if lines, _ := api.got(); len(lines) != 4_096 {
			t.Errorf("%d lines arrived, want 4,096", len(lines))
		}
		if text := said.String(); !strings.Contains(text, `msg="lines of this log did not reach CloudWatch" count=904`) {
			t.Errorf("told: %s", text)
		}
		write(t, s, "after")
		time.Sleep(every)
		arrived(t, api, []string{"after"})
	})
}
