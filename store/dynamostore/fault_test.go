package dynamostore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

var errLost = errors.New("read: connection reset by peer")

// answer returns an answer of DynamoDB or SQS.
func answer(r *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Request: r, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
	}
}

func coded(r *http.Request, status int, code string) *http.Response {
	return answer(r, status, fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"said so"}`, code))
}

// pooled stores an idle, claimable instance.
func pooled(t *testing.T, s *store.Store) store.Instance {
	t.Helper()
	in, err := s.Register(t.Context(), store.Instance{Principal: "AROA:i-1", ID: "i-1", RunID: "1", Attempt: 1}, now, time.Hour)
	for _, event := range []statemachine.Event{statemachine.HandedOver, statemachine.Released, statemachine.Pooled} {
		if err == nil {
			in, err = s.Transition(t.Context(), in, store.Transition{Event: event, Now: now, Limit: time.Hour})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return in
}

var claim = store.Transition{Event: statemachine.Claim, Now: now, Limit: time.Hour, RunID: "2", Attempt: 1}

// A write that had its effect and whose reply did not come is success, in whatever way the reply was
// lost; one that had none is repeated until it has. Another's claim stays another's. H13 H12
func TestPut_LostReply_H13(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		lose func(next http.RoundTripper, r *http.Request) (*http.Response, error)
	}{
		{"ConnectionBreaksAfterTheEffect", func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
			return nil, errors.Join(errLost, discard(next, r))
		}},
		{"ConnectionBreaksBefore", func(http.RoundTripper, *http.Request) (*http.Response, error) { return nil, errLost }},
		{"500AfterTheEffect", func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
			return coded(r, 500, "InternalServerError"), discard(next, r)
		}},
		{"500Before", func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
			return coded(r, 500, "InternalServerError"), nil
		}},
		{"503OfAProxy", func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
			return answer(r, 503, "<html>"), nil
		}},
		{"Throttled", func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
			return coded(r, 400, "ProvisionedThroughputExceededException"), nil
		}},
		{"CredentialsRunOut", func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
			return coded(r, 400, "ExpiredTokenException"), nil
		}},
		{"HalfAnAnswerAfterTheEffect", func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
			return answer(r, 200, `{"Attri`), discard(next, r)
		}},
		{"NoAnswerInTime", func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
			err := discard(next, r)
			<-r.Context().Done()
			return nil, errors.Join(err, r.Context().Err())
		}},
	}
	var lose atomic.Pointer[func(http.RoundTripper, *http.Request) (*http.Response, error)]
	var bodies [][]byte
	cfg := local(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if target(r) != "DynamoDB_20120810.PutItem" {
				return next.RoundTrip(r)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			bodies = append(bodies, body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if f := lose.Swap(nil); f != nil {
				return (*f)(next, r)
			}
			return next.RoundTrip(r)
		})
	})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			limits := open
			if tt.name == "NoAnswerInTime" { // nor in a minute
				limits = impatient
			}
			table := limits(t, create(t, cfg), cfg, clock.RealClock{})
			defer table.Close()
			s := store.New(table)
			in := pooled(t, s)
			bodies = nil
			lose.Store(&tt.lose)
			out, err := s.Transition(t.Context(), in, claim)
			if err != nil || out.RunID != "2" || out.Version != in.Version+1 {
				t.Fatalf("Transition() = run %q v%d, %v, want run 2 v%d", out.RunID, out.Version, err, in.Version+1)
			}
			if len(bodies) != 2 {
				t.Fatalf("%d tries, want 2", len(bodies))
			}
			if diff := cmp.Diff(timeless(t, bodies[0]), timeless(t, bodies[1])); diff != "" {
				t.Errorf("second try (-first +second):\n%s", diff)
			}
			rival := claim
			rival.RunID = "3"
			if _, err := s.Transition(t.Context(), in, rival); !errors.Is(err, store.ErrConflict) {
				t.Errorf("claim of a rival: error = %v, want %v", err, store.ErrConflict)
			}
		})
	}
}

// timeless returns a request without the instant that its condition judges expiry by.
func timeless(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	if values, ok := out["ExpressionAttributeValues"].(map[string]any); ok {
		delete(values, ":next")
	}
	return out
}

// discard lets a request have its effect and drops the reply.
func discard(next http.RoundTripper, r *http.Request) error {
	response, err := next.RoundTrip(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

// Every error has its kind, and the operator's words. A write that is refused is not repeated.
func TestErrors_Kinds(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		status     int
		kind       error
		words      []string
	}{
		{"Denied", "AccessDeniedException", 400, store.ErrRefused, []string{"dynamodb:PutItem on table", "allow dynamodb:PutItem", "deploy/iam"}},
		{"NoTable", "ResourceNotFoundException", 400, store.ErrRefused, []string{"not found", "remuda init"}},
		{"Expired", "ExpiredTokenException", 400, store.ErrUnavailable, []string{"credentials refused", "expired"}},
		{"UnknownKey", "UnrecognizedClientException", 400, store.ErrUnavailable, []string{"credentials refused", "not known"}},
		{"WrongSecret", "InvalidSignatureException", 400, store.ErrRefused, []string{"credentials refused"}},
		{"Validation", "ValidationException", 400, store.ErrInvalid, []string{"said so"}},
		{"Throttled", "ThrottlingException", 400, store.ErrUnavailable, []string{"throttled"}},
		{"Broken", "InternalServerError", 500, store.ErrUnavailable, []string{"no usable answer"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int32
			cfg := config(t, "http://127.0.0.1:1", "http://127.0.0.1:1", func(http.RoundTripper) http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					if target(r) == "DynamoDB_20120810.PutItem" { // the queue's address is looked up beside it
						calls.Add(1)
					}
					return coded(r, tt.status, tt.code), nil
				})
			})
			table := open(t, tableURL("remuda"), cfg, clock.RealClock{})
			defer table.Close()
			err := table.Put(t.Context(), store.Item{Key: key(1), Version: 1, Attributes: []byte(`{}`)}, 0)
			if !errors.Is(err, tt.kind) || calls.Load() != 1 {
				t.Errorf("Put() error = %v after %d calls, want %v after 1", err, calls.Load(), tt.kind)
			}
			for _, words := range tt.words {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("Put() error = %q, want it to contain %q", err, words)
				}
			}
			for call, err := range map[string]error{
				"Get":        second(table.Get(t.Context(), store.Eventual, key(1))),
				"GetMany":    second(table.Get(t.Context(), store.Eventual, key(1), key(2))),
				"Beat":       table.Put(t.Context(), store.Item{Key: store.InstanceKey("i", store.KindHeartbeat), Attributes: []byte(`{"value":"PING"}`)}, store.Unconditional),
				"Notify":     table.Notify(t.Context(), key(1)),
				"NotifyMany": table.Notify(t.Context(), key(1), key(2)),
			} {
				if !errors.Is(err, tt.kind) || awserr.Code(err) != tt.code {
					t.Errorf("%s() error = %v, want %v", call, err, tt.kind)
				}
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// A caller that gives up gets its own reason; our limit on one try is no deadline of the caller's.
func TestPut_Timeouts(t *testing.T) {
	cfg := config(t, "http://127.0.0.1:1", "http://127.0.0.1:1", func(http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
	})
	table := impatient(t, tableURL("remuda"), cfg, clock.RealClock{})
	defer table.Close()
	item := store.Item{Key: key(1), Attributes: []byte(`{}`)}
	err := table.Put(t.Context(), item, store.Unconditional)
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within") {
		t.Errorf("Put() error = %v, want %v and no deadline", err, store.ErrUnavailable)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := table.Put(ctx, item, store.Unconditional); !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Put() error = %v, want the caller's deadline and %v", err, store.ErrUnavailable)
	}
}
