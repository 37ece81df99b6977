package dynamostore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// The status of the largest request fits into an item, with the longest names EC2 has and the longest message; DynamoDB
// says itself that there is an end.
func TestStatus_OfTheLargestRequest_FitsAnItem(t *testing.T) {
	s := store.New(fresh(t, local(t, nil)))
	now := time.Now()
	st := store.RunStatus{
		ID: "100", Attempt: 1, Phase: statemachine.Pending, Deadline: store.At(now), Reason: "unsatisfiable",
		Message: strings.Repeat("m", 3*store.MaxMessage), PendingAt: store.At(now),
		Counts: store.Counts{Wanted: store.MaxSeats, Ready: store.MaxSeats, Launched: 2 * store.MaxSeats},
	}
	seats := func(n int) []store.Seat {
		out := make([]store.Seat, n)
		for i := range out {
			out[i] = store.Seat{
				InstanceID: "i-0123456789abcdef0", InstanceType: "u7inh-32tb.480xlarge", UsageClass: store.OnDemand, Warm: true, Seconds: 12345.678901234567,
			}
		}
		return out
	}
	st.Instances = seats(store.MaxSeats)
	out, err := s.PutStatus(t.Context(), st, statemachine.Fulfil, now)
	if err != nil {
		t.Fatalf("PutStatus() of %d seats: error = %v", store.MaxSeats, err)
	}
	out.Instances = seats(2 * store.MaxSeats)
	if _, err := s.PutStatus(t.Context(), out, statemachine.Observe, now); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("PutStatus() of twice as many: error = %v, want %v", err, store.ErrInvalid)
	}
}
