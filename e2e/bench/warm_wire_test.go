package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/store"
)

// githubCall is the median of a call of GitHub's REST API (docs/goals.md).
const githubCall = 150 * time.Millisecond

// wire is what lies between the parts of an installation and what they call: each call waits as long as it would on the way
// to AWS or GitHub. It notes when clients first write, and when their status says Ready.
type wire struct {
	delay *bench.Delay

	mu    sync.Mutex
	asked map[string]time.Time // when the first write of a request came, by its id
	ready map[string]time.Time // when the status Ready was written
	owned map[string]time.Time // when the first instance was claimed for it
	terms map[string]time.Time // when the lease was first written, by its term
	looks int                  // reads of one instance's record, which agents alone make
	beats int                  // writes of what agents report
	stir  time.Time            // when something other than looks and beats happened last
}

func newWire() *wire {
	return &wire{delay: bench.NewDynamoDB(1), asked: map[string]time.Time{}, ready: map[string]time.Time{}, owned: map[string]time.Time{}, terms: map[string]time.Time{}}
}

// serve returns the address of the wire's end in front of DynamoDB, SQS and GitHub.
func (l *wire) serve(b *testing.B, dynamo, sqs, github string) string {
	b.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	proxies := map[string]*httputil.ReverseProxy{}
	for service, target := range map[string]string{"DynamoDB": dynamo, "AmazonSQS": sqs, "": github} {
		u, err := url.Parse(target)
		check(b, err)
		proxies[service] = &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, ErrorHandler: func(out http.ResponseWriter, _ *http.Request, err error) {
			if !errors.Is(err, context.Canceled) { // as by who waits for messages and ends
				b.Log(err)
			}
			out.WriteHeader(http.StatusBadGateway)
		}}
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		came := time.Now()
		body, err := io.ReadAll(in.Body)
		if err != nil {
			return // the caller has gone
		}
		in.Body = io.NopCloser(bytes.NewReader(body))
		target := in.Header.Get("X-Amz-Target")
		if median := l.median(target); median > 0 {
			time.Sleep(l.delay.Next(median)) // what a benchmark injects
		}
		service, _, _ := strings.Cut(target, ".")
		service, _, _ = strings.Cut(service, "_")
		proxies[service].ServeHTTP(out, in)
		l.note(target, body, came)
	}))
	b.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	return server.URL
}

// median is what a call takes. A message is late by its sending alone: what waits for one is not.
func (l *wire) median(target string) time.Duration {
	_, action, aws := strings.Cut(target, ".")
	switch {
	case !aws:
		return githubCall
	case action == "ReceiveMessage":
		return 0
	case strings.HasPrefix(target, "AmazonSQS"):
		return l.delay.Notify
	case action == "PutItem", action == "UpdateItem", action == "DeleteItem":
		return l.delay.Write
	}
	return l.delay.Read
}

// note takes what agents read and report, and what was written of a run.
func (l *wire) note(target string, body []byte, came time.Time) {
	l.mu.Lock()
	switch {
	case strings.HasSuffix(target, ".GetItem") && bytes.Contains(body, []byte(store.KindInstance)):
		l.looks++
	case strings.HasSuffix(target, ".UpdateItem"):
		l.beats++
	case target == "", strings.HasPrefix(target, "AmazonSQS") && !strings.HasSuffix(target, ".ReceiveMessage"):
		l.stir = time.Now()
	}
	l.mu.Unlock()
	if !strings.HasSuffix(target, ".PutItem") {
		return
	}
	type text struct{ S string }
	var in struct {
		Item struct {
			PK, SK text
			Phase  text               `json:"phase"`
			State  text               `json:"state"`
			Run    text               `json:"runId"`
			Term   struct{ N string } `json:"term"`
		}
	}
	if json.Unmarshal(body, &in) != nil {
		return
	}
	id := strings.TrimPrefix(in.Item.PK.S, "RUN#")
	l.mu.Lock()
	defer l.mu.Unlock()
	first := func(of map[string]time.Time, key string) {
		if of[key].IsZero() {
			of[key] = time.Now()
		}
	}
	switch in.Item.SK.S {
	case "TYPE#Lease":
		first(l.terms, in.Item.Term.N)
	case "TYPE#Instance":
		if in.Item.State.S == "claimed" {
			first(l.owned, in.Item.Run.S)
		}
	case "TYPE#RunRequest":
		if l.asked[id].IsZero() {
			l.asked[id] = came
		}
	case "TYPE#RunStatus":
		if in.Item.Phase.S == "Ready" {
			first(l.ready, id)
		}
	}
}

// byAgents returns how often agents read their records and wrote so far.
func (l *wire) byAgents() (looks, beats int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.looks, l.beats
}

// calm reports whether the last message was sent and deleted, and GitHub called, so long ago.
func (l *wire) calm(d time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.stir) > d
}

// of returns what was noted of a request.
func (l *wire) of(id string) (asked, ready time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked[id], l.ready[id]
}

// claimed returns when an instance was first claimed for a request; zero if none was.
func (l *wire) claimed(id string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owned[id]
}

// led returns when a term of the lease began; zero if it has not.
func (l *wire) led(term int64) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.terms[strconv.FormatInt(term, 10)]
}
