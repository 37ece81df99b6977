package githubapi_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/githubapi"
)

const secret = "ghp_do-not-tell"

// fake is GitHub: one handler, and what was asked of it.
type fake struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // method and path with query
	auth  []string
	tags  []string // If-None-Match
	body  []string
}

func serve(t *testing.T, h http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("request body: %v", err)
		}
		f.mu.Lock()
		f.asked = append(f.asked, r.Method+" "+r.URL.RequestURI())
		f.auth = append(f.auth, r.Header.Get("Authorization"))
		f.tags = append(f.tags, r.Header.Get("If-None-Match"))
		f.body = append(f.body, string(body))
		f.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		h(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.asked...)
}

// answer is a handler that always says the same.
func answer(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body)) // the client may have hung up
	}
}

// client returns a client of f for the given path, changed by with.
func client(t *testing.T, f *fake, path string, with ...func(*githubapi.Options)) *githubapi.Client {
	t.Helper()
	o := githubapi.Options{
		URL:        f.URL + path,
		Token:      func(context.Context) (string, error) { return secret, nil },
		HTTPClient: f.Client(),
		Clock:      clock.RealClock{},
		Told: func(e githubapi.Exchange) {
			if e.Route == "" {
				t.Error("a call without a route")
			}
		},
	}
	for _, w := range with {
		w(&o)
	}
	c, err := githubapi.New(o)
	if err != nil {
		t.Fatalf("New(%s) error = %v", o.URL, err)
	}
	return c
}

func at(c clock.WithTicker) func(*githubapi.Options) {
	return func(o *githubapi.Options) { o.Clock = c }
}

func fakeClock() *clocktesting.FakeClock {
	return clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
}
