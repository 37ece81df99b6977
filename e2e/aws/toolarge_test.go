package aws

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H51: DynamoDB does not take the answer to a request for its size. Its client is told so with DynamoDB's words, the
// machines serve the next run, and the controller goes on. The limit is a small one here: DynamoDB's own of 400 KB (Service,
// account, and table quotas) is reached by no request, since requests.maxCount is at most 3000.
func TestStatusTooLarge_H51_IsAnswered(t *testing.T) {
	t.Parallel()
	const count, most = 8, 1600 // the answer with eight machines has some 2,100 bytes in the call, with two 1,300
	var refused *atomic.Int64
	w := newWorld(t, func(w *world) {
		w.parts.controller["dynamodb"], refused = smallStatuses(t, w.dynamo, most)
	})
	w.install()
	w.begin()
	_, err := w.Remuda(w.Context(), "request", "--id", "run-a", "--count", fmt.Sprint(count), "--resource-class", "small", "--timeout", patience.String())
	if err == nil || !strings.Contains(err.Error(), "Item size has exceeded the maximum allowed size") {
		t.Errorf("remuda request = %v, want DynamoDB's words", err)
	}
	st := w.statusOf("run-a")
	if st.Phase != statemachine.Failed || st.Reason != "invalid" || !strings.Contains(st.Message, "count: the answer cannot be written") {
		t.Errorf("status %s, %s: %s; want Failed, invalid, for its size", st.Phase, st.Reason, st.Message)
	}
	if refused.Load() == 0 {
		t.Error("no status was too large")
	}
	w.warmUp("run-b", 2)
	if n := len(w.witness.Instances()); n != count {
		t.Errorf("%d machines were launched, want the %d of the first request", n, count)
	}
	if w.Ended() != nil {
		t.Errorf("the controller has ended: %v", w.Ended())
	}
}

// smallStatuses stands before DynamoDB and refuses a status whose call is longer than most bytes, as DynamoDB does one whose
// item is too large.
func smallStatuses(t testing.TB, dynamo string, most int) (endpoint string, refused *atomic.Int64) {
	t.Helper()
	refused = &atomic.Int64{}
	return before(t, dynamo, func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
		if len(body) <= most || !strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutItem") || !bytes.Contains(body, []byte(`"`+store.KindRunStatus+`"`)) {
			return true
		}
		refused.Add(1)
		rw.Header().Set("Content-Type", "application/x-amz-json-1.0")
		rw.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(rw).Encode(map[string]string{ // the one who asked has gone
			"__type": "com.amazon.coral.validate#ValidationException", "message": "Item size has exceeded the maximum allowed size",
		})
		return false
	}), refused
}
