// Package cloudlog ships the lines of a log to a group of CloudWatch Logs. Who logs never waits for it, and what AWS does not
// take is kept within bounds until it does.
package cloudlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/logkey"
)

// Limits of one PutLogEvents (CloudWatch Logs API Reference, PutLogEvents): a batch has 1,048,576 bytes at most, counting 26
// for each event besides its text, 10,000 events, spans 24 hours and is in order of time; an event is no larger than 1 MB.
const (
	batchBytes  = 1_048_576
	eventBytes  = 26
	batchEvents = 10_000
	batchSpan   = 24 * time.Hour
	lineBytes   = batchBytes - eventBytes
)

// What is ours to choose: an alarm looks at minutes, and the smallest host has 512 MB for everything.
const (
	every       = 5 * time.Second
	keptBytes   = 4 * batchBytes
	callTimeout = 10 * time.Second
	stopTimeout = 8 * time.Second // well within what stops a service: 90 s of systemd, 30 s of ECS
)

var errLate = errors.New("no answer of CloudWatch Logs in time")

// API is what is called.
type API interface {
	CreateLogStream(context.Context, *cloudwatchlogs.CreateLogStreamInput, ...func(*cloudwatchlogs.Options)) (*cloudwatchlogs.CreateLogStreamOutput, error)
	PutLogEvents(context.Context, *cloudwatchlogs.PutLogEventsInput, ...func(*cloudwatchlogs.Options)) (*cloudwatchlogs.PutLogEventsOutput, error)
}

// Shipper is an io.Writer of lines, each in one call, that Run sends.
type Shipper struct {
	api           API
	group, stream string
	clock         clock.WithTicker
	log           *slog.Logger // which tells what fails here: it must not write to the Shipper

	mu    sync.Mutex
	lines []types.InputLogEvent
	bytes int
	lost  int
	full  chan struct{} // there is a whole batch

	made, failing bool // the stream; the last call. Of Run alone
}

// New calls nothing.
func New(api API, group, stream string, clk clock.WithTicker, log *slog.Logger) *Shipper {
	return &Shipper{api: api, group: group, stream: stream, clock: clk, log: log, full: make(chan struct{}, 1)}
}

// Write keeps a line to be sent. It never fails: what finds no room is counted, and told.
func (s *Shipper) Write(line []byte) (int, error) {
	text := strings.TrimSuffix(string(line), "\n")
	if len(text) > lineBytes {
		text = strings.ToValidUTF8(text[:lineBytes], "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+size(text) > keptBytes {
		s.lost++
		return len(line), nil
	}
	s.lines = append(s.lines, types.InputLogEvent{Message: &text, Timestamp: aws.Int64(s.clock.Now().UnixMilli())})
	if s.bytes += size(text); s.bytes >= batchBytes || len(s.lines) >= batchEvents {
		select {
		case s.full <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

func size(text string) int { return len(text) + eventBytes }

// Run sends until ctx ends, and then what is left.
func (s *Shipper) Run(ctx context.Context) {
	ticker := s.clock.NewTicker(every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticker.C():
			s.send(ctx)
		case <-s.full:
			if !s.failing { // else each line of a full buffer would be another try
				s.send(ctx)
			}
		}
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), stopTimeout, errLate)
	defer cancel()
	s.send(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.lines) + s.lost; n > 0 {
		s.log.Warn("the end of this log did not reach CloudWatch", logkey.Count, n)
	}
}

// send sends what there is, unless a call fails.
func (s *Shipper) send(ctx context.Context) {
	for {
		s.mu.Lock()
		batch := slices.Clone(s.lines[:first(s.lines)])
		s.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		refused, err := s.put(ctx, batch)
		switch {
		case err == nil:
		case ctx.Err() != nil: // told to stop: what is left is sent once more, and so may arrive twice
			return
		case awserr.ClassOf(err) == awserr.Invalid: // so it would be for ever, and all that follows would wait for it
			refused = len(batch)
		default:
			s.tell(err)
			return
		}
		s.mu.Lock()
		s.lines = slices.Delete(s.lines, 0, len(batch))
		for _, e := range batch {
			s.bytes -= size(*e.Message)
		}
		lost := s.lost + refused
		s.lost = 0
		s.mu.Unlock()
		s.told(lost, err)
	}
}

// tell tells of an outage when it begins.
func (s *Shipper) tell(err error) {
	if !s.failing {
		s.log.Warn("this log does not reach CloudWatch; it is kept here, within bounds, and tried again", logkey.Error, err)
	}
	s.failing = true
}

// told tells what is over, and what did not arrive. err is why a batch was refused.
func (s *Shipper) told(lost int, err error) {
	if s.failing {
		s.log.Info("this log reaches CloudWatch again")
	}
	s.failing = false
	if lost > 0 {
		s.log.Warn("lines of this log did not reach CloudWatch", logkey.Count, lost, logkey.Error, err)
	}
}

// first returns how many lines from the first on make a batch.
func first(lines []types.InputLogEvent) int {
	bytes := 0
	for i, line := range lines {
		bytes += size(*line.Message)
		at, begin, last := *line.Timestamp, *lines[0].Timestamp, *lines[max(0, i-1)].Timestamp // a clock may be set back
		if i == batchEvents || bytes > batchBytes || at < last || at-begin > batchSpan.Milliseconds() {
			return i
		}
	}
	return len(lines)
}

// put sends a batch, and returns how many of its lines were refused: for their time, since a clock is wrong or they were kept
// for days.
func (s *Shipper) put(ctx context.Context, batch []types.InputLogEvent) (refused int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, errLate)
	defer cancel()
	if !s.made {
		_, err := s.api.CreateLogStream(ctx, &cloudwatchlogs.CreateLogStreamInput{LogGroupName: &s.group, LogStreamName: &s.stream})
		switch {
		case awserr.Code(err) == "ResourceAlreadyExistsException": // that we made, by a call whose answer was lost
		case awserr.ClassOf(err) == awserr.NotFound:
			return 0, fmt.Errorf("log.group: %w; make it: aws logs create-log-group --log-group-name %s", s.explain(err, "CreateLogStream"), s.group)
		case err != nil:
			return 0, s.explain(err, "CreateLogStream")
		}
		s.made = true
	}
	out, err := s.api.PutLogEvents(ctx, &cloudwatchlogs.PutLogEventsInput{LogGroupName: &s.group, LogStreamName: &s.stream, LogEvents: batch})
	if err != nil {
		s.made = awserr.ClassOf(err) != awserr.NotFound // somebody deleted it
		return 0, s.explain(err, "PutLogEvents")
	}
	if r := out.RejectedLogEventsInfo; r != nil { // indexes of the first good one, and of the first that is too new
		refused = int(max(aws.ToInt32(r.ExpiredLogEventEndIndex), aws.ToInt32(r.TooOldLogEventEndIndex)))
		if r.TooNewLogEventStartIndex != nil {
			refused += len(batch) - int(*r.TooNewLogEventStartIndex)
		}
	}
	return refused, nil
}

func (s *Shipper) explain(err error, call string) error {
	return awserr.Explain(err, "logs:"+call, "log group "+s.group)
}
