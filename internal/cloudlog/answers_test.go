package cloudlog

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
)

// What is left at the end is sent.
func TestShipper_Stop(t *testing.T) {
	shipping(t, group, func(t *testing.T, s *Shipper, api *service, said *told, stop func()) {
		write(t, s, numbered(0, 12_000)...)
		stop()
		arrived(t, api, numbered(0, 12_000))
		if said.String() != "" {
			t.Errorf("told: %s", said)
		}
	})
}

// A service that does not answer holds the end up for seconds, in the middle of a call as before one.
func TestShipper_StopWithoutAnAnswer(t *testing.T) {
	for name, before := range map[string]time.Duration{"Idle": 0, "Calling": every + time.Second} {
		t.Run(name, func(t *testing.T) {
			shipping(t, group, func(t *testing.T, s *Shipper, api *service, said *told, stop func()) {
				api.set(func(ctx context.Context, _ string) error {
					<-ctx.Done()
					return ctx.Err()
				})
				write(t, s, numbered(0, 3)...)
				time.Sleep(before)
				start := time.Now()
				stop()
				if took := time.Since(start); took != stopTimeout {
					t.Errorf("stopped in %s, want %s", took, stopTimeout)
				}
				if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `msg="the end of this log did not reach CloudWatch" count=3`) {
					t.Errorf("told: %s", text)
				}
			})
		})
	}
}

// A call that hangs ends, and the next one is made.
func TestShipper_Hangs(t *testing.T) {
	shipping(t, group, func(t *testing.T, s *Shipper, api *service, said *told, _ func()) {
		api.set(func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		})
		write(t, s, "one")
		time.Sleep(every + callTimeout + time.Second)
		if text := said.String(); !strings.Contains(text, "logs:CreateLogStream on log group /remuda/controller") {
			t.Errorf("told: %s", text)
		}
		api.set(nil)
		time.Sleep(every + callTimeout)
		arrived(t, api, []string{"one"})
	})
}

// A group that does not exist is named with what makes it, and kept for; the rest is as in any outage.
func TestShipper_NoGroup(t *testing.T) {
	shipping(t, "/other", func(t *testing.T, s *Shipper, api *service, said *told, stop func()) {
		write(t, s, "one")
		time.Sleep(time.Minute)
		for _, want := range []string{"log.group: logs:CreateLogStream on log group /other: not found", "make it: aws logs create-log-group --log-group-name /other"} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("told: %s, want %s", said, want)
			}
		}
		if n := strings.Count(said.String(), "\n"); n != 1 {
			t.Errorf("%d lines told, want 1:\n%s", n, said)
		}
		stop()
		arrived(t, api, nil)
	})
}

// A stream that is there is used, and one that was deleted is made again.
func TestShipper_Stream(t *testing.T) {
	shipping(t, group, func(t *testing.T, s *Shipper, api *service, _ *told, _ func()) {
		api.stream(true)
		write(t, s, "one")
		time.Sleep(every)
		arrived(t, api, []string{"one"})
		api.stream(false)
		write(t, s, "two")
		time.Sleep(2 * every)
		arrived(t, api, []string{"two"})
	})
}

// A batch that is refused as it is does not hold up what follows, and is told with its reason.
func TestShipper_Refused(t *testing.T) {
	shipping(t, group, func(t *testing.T, s *Shipper, api *service, said *told, _ func()) {
		api.set(func(_ context.Context, call string) error {
			if call == "PutLogEvents" {
				return &types.InvalidParameterException{Message: aws.String("no such thing")}
			}
			return nil
		})
		write(t, s, "one", "two")
		time.Sleep(every)
		arrived(t, api, nil)
		if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "count=2") || !strings.Contains(text, "no such thing") {
			t.Errorf("told: %s", text)
		}
		api.set(nil)
		write(t, s, "three")
		time.Sleep(every)
		arrived(t, api, []string{"three"})
	})
}

// Lines that the service leaves out for their time are counted.
func TestShipper_Rejected(t *testing.T) {
	for count, info := range map[string]*types.RejectedLogEventsInfo{
		"count=3": {TooOldLogEventEndIndex: aws.Int32(3), ExpiredLogEventEndIndex: aws.Int32(2)},
		"count=4": {TooNewLogEventStartIndex: aws.Int32(6)},
	} {
		shipping(t, group, func(t *testing.T, s *Shipper, api *service, said *told, _ func()) {
			api.mu.Lock()
			api.rejects = info
			api.mu.Unlock()
			write(t, s, numbered(0, 10)...)
			time.Sleep(every)
			arrived(t, api, numbered(0, 10)) // the service here keeps them
			if text := said.String(); !strings.Contains(text, "did not reach CloudWatch\" "+count) {
				t.Errorf("told: %s, want %s", text, count)
			}
		})
	}
}
