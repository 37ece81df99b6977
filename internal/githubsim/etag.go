package githubsim

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// restWriter is the answer to a request of the REST API.
type restWriter struct {
	http.ResponseWriter
	request *http.Request
}

// restAnswers marks the answers of the REST API.
func restAnswers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(&restWriter{w, r}, r) })
}

// succeed writes the result of a call. One of the REST API that only reads has an ETag, and a client that knows it is told
// 304, which costs nothing of its budget (GitHub REST, "Best practices for using the REST API", conditional requests).
func (s *server) succeed(w http.ResponseWriter, c Call, status int, v any) {
	rest, ok := w.(*restWriter)
	if !ok || rest.request.Method != http.MethodGet {
		s.rateHeaders(w, c)
		writeJSON(w, status, v)
		return
	}
	body, err := json.Marshal(v)
	if err != nil {
		writeError(w, fmt.Errorf("encode answer: %w", err))
		return
	}
	tag := etag(bearer(rest.request), body)
	w.Header().Set("ETag", tag)
	if !knows(rest.request, tag) {
		s.rateHeaders(w, c)
		writeJSON(w, status, json.RawMessage(body))
		return
	}
	s.hub.admission.refund(c)
	s.rateHeaders(w, c)
	w.WriteHeader(http.StatusNotModified)
}

// etag names what a credential is shown: the same for another credential has another name.
func etag(credential string, body []byte) string {
	of := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", len(credential), credential, body))
	return fmt.Sprintf(`W/"%x"`, of)
}

// knows reports whether the request names the tag, which is compared weakly (RFC 9110, 13.1.2).
func knows(r *http.Request, tag string) bool {
	weak := func(s string) string { return strings.TrimPrefix(strings.TrimSpace(s), "W/") }
	return slices.ContainsFunc(strings.Split(r.Header.Get("If-None-Match"), ","), func(one string) bool {
		return weak(one) == weak(tag)
	})
}

// refund takes back what a call cost of its primary limit, since its answer was 304.
func (a *admission) refund(c Call) {
	a.monitor.with(func(now time.Time) {
		a.unchanged[c]++
		if w := a.limits[c.resource()]; w != nil {
			w.at(now)
			w.used = max(w.used-1, 0)
		}
	})
}

// Unchanged returns how many calls of each kind were answered with 304.
func (h *Hub) Unchanged() map[Call]int {
	var out map[Call]int
	h.monitor.with(func(time.Time) { out = maps.Clone(h.admission.unchanged) })
	return out
}
