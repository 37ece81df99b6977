package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
)

// spans is a receiver of traces that keeps all it is sent.
type spans struct {
	mu   sync.Mutex
	text []byte
}

// receive starts the receiver and returns where it is.
func (s *spans) receive(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.text = append(append(s.text, fmt.Sprint(r.Header)...), body...)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func (s *spans) received() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

// shown looks for credentials in what the controller shows over HTTP, in what `remuda explain` prints and in the traces of a request.
func (s *installation) shown(secrets *secrets, request, instance string, traces *spans) {
	s.Helper()
	log, err := os.ReadFile(filepath.Join(s.dir, "controller.log"))
	s.Check(err)
	address := regexp.MustCompile(`"serving HTTP","address":"([^"]+)"`).FindSubmatch(log)
	if address == nil {
		s.Fatal("the controller serves no HTTP")
	}
	look := func(where string, text []byte, expected string) {
		if !strings.Contains(string(text), expected) {
			s.Errorf("%s has no %q:\n%.2000s", where, expected, text)
		}
		if found := secrets.In(text); len(found) > 0 {
			s.Errorf("%s shows the %s", where, strings.Join(found, ", "))
		}
	}
	for path, expected := range map[string]string{
		"/metrics": "remuda_instances", "/": request, "/run/" + request: request, "/instance/" + instance: instance,
	} {
		r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, "http://"+string(address[1])+path, http.NoBody)
		s.Check(err)
		answer, err := http.DefaultClient.Do(r)
		s.Check(err)
		text, err := io.ReadAll(answer.Body)
		s.Check(err)
		s.Check(answer.Body.Close())
		look(path, text, expected)
	}
	told, err := s.remuda(patience, "explain", request)
	s.Check(err)
	look("remuda explain", told, instance)
	s.Check(program.Until(patience, "the request is traced", func() bool { return strings.Contains(string(traces.received()), instance) }))
	look("the trace", traces.received(), instance)
}
