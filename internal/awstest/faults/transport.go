package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"k8s.io/utils/clock"
)

// Transport is a RoundTripper with faults. Safe for concurrent use.
type Transport struct {
	Faults

	next    http.RoundTripper
	dice    *dice
	counter Counter
	queues  *queues
	fresh   *fresh
}

// New returns a transport that sends by next. The error names the field that is wrong.
func New(next http.RoundTripper, f Faults) (*Transport, error) {
	if next == nil {
		return nil, errors.New("next: want a RoundTripper")
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("faults: %w", err)
	}
	if f.HiddenCalls == 0 {
		f.HiddenCalls = 2
	}
	d := &dice{seed: f.Seed, rules: f.Rules, calls: map[string]uint64{}, fired: make([]int, len(f.Rules)), hits: map[Hit]int{}}
	return &Transport{Faults: f, next: next, dice: d, queues: newQueues(), fresh: newFresh(f.HiddenCalls)}, nil
}

// Counter returns what counts the calls.
func (t *Transport) Counter() *Counter { return &t.counter }

// CloseIdleConnections closes those of the transport behind.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip sends the request, or does to it what a rule says.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c, err := readCall(req)
	if err != nil {
		return nil, err
	}
	op := c.op()
	resp, err := t.call(c, op, t.dice.number(op))
	t.counter.call(op)
	return resp, err
}

func (t *Transport) call(c *call, op string, n uint64) (*http.Response, error) {
	for i, r := range t.Rules {
		if r.Kind == Invisible || !t.dice.strikes(i, op, n) {
			continue
		}
		switch r.Kind {
		case ErrorBefore, Throttle, TimeoutBefore, Deny:
			if t.dice.fire(i, op) {
				return t.refuse(c, r.Kind)
			}
		case CutBody, CorruptBody:
			resp, err := t.forward(c, op)
			if err != nil || resp.StatusCode >= http.StatusBadRequest || resp.ContentLength < 2 || !t.dice.fire(i, op) {
				return resp, err
			}
			return damage(resp, r.Kind)
		case EmptyReceive, Duplicate, Resurrect:
			if resp := t.queues.deliver(c, r.Kind, func() bool { return t.dice.fire(i, op) }); resp != nil {
				return resp, nil
			}
		default:
			resp, err := t.forward(c, op)
			if err != nil || resp.StatusCode >= http.StatusBadRequest || !t.dice.fire(i, op) {
				return resp, err
			}
			if err := resp.Body.Close(); err != nil {
				return nil, err
			}
			return t.refuse(c, r.Kind)
		}
	}
	return t.forward(c, op)
}

// damage cuts the body of a reply, or overwrites its second half. The header still promises the whole body.
func damage(resp *http.Response, kind Kind) (*http.Response, error) {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	half := len(body) / 2
	if kind == CorruptBody {
		clear(body[half:])
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:half]), cut{}))
	return resp, nil
}

// cut is the reader of a body that ends too early.
type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// refuse is the answer in place of the service's.
func (t *Transport) refuse(c *call, kind Kind) (*http.Response, error) {
	switch kind {
	case ErrorBefore, ErrorAfter:
		return c.fail(pick(internal, c.service)), nil
	case Throttle:
		return c.fail(pick(throttled, c.service)), nil
	case Deny:
		return c.fail(c.denied()), nil
	case TimeoutBefore, TimeoutAfter:
		select {
		case <-c.req.Context().Done():
			return nil, c.req.Context().Err()
		case <-clock.RealClock{}.After(t.Stall):
			return nil, errTimeout
		}
	default:
		return nil, errReset
	}
}

// forward sends the call and learns from the answer. The answer's body is in memory.
func (t *Transport) forward(c *call, op string) (*http.Response, error) {
	if t.AskCapacity && c.service == "dynamodb" {
		askCapacity(c)
	}
	if c.service == "sqs" {
		if resp := t.queues.outgoing(c); resp != nil {
			return resp, nil
		}
	}
	resp, err := t.next.RoundTrip(c.outgoing())
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if closeErr := resp.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	switch c.service {
	case "dynamodb":
		t.counter.capacity(c.operation, resp.StatusCode, body)
	case "sqs":
		body = t.queues.answered(c, resp.StatusCode, body)
	case "ec2":
		if changed := t.ec2(c, op, resp.StatusCode, body); changed != nil {
			return changed, nil
		}
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body))) // of a batch that was partly answered here
	return resp, nil
}
