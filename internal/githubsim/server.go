package githubsim

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Paths of the server beside the REST API's.
const (
	runnerPrefix  = "/_runner" // the runner program's side
	controlPrefix = "/_sim"    // the operator's side
)

const (
	// headerTimeout bounds the reading of a request's header, against connections that never speak.
	headerTimeout = 10 * time.Second
	// shutdownTimeout bounds the wait for answers in progress; polls end at once.
	shutdownTimeout = 5 * time.Second
)

// Serve answers on ln until ctx ends, and closes ln. A hub that has no URL of its own gets one at
// ln's address. token is the credential that the REST API and the control API ask for; an empty one
// refuses every such call.
func Serve(ctx context.Context, ln net.Listener, h *Hub, token string) error {
	if h.URL() == DefaultURL {
		scope, err := url.Parse(DefaultURL)
		if err != nil {
			return fmt.Errorf("serve github sim: %w", err)
		}
		scope.Host = ln.Addr().String()
		h.SetURL(scope.String())
	}
	// Polls in progress end with ctx, so that Shutdown need not wait for them.
	base, stop := context.WithCancel(ctx)
	defer stop()
	var unused silent
	srv := &http.Server{
		Handler:           Handler(h, token),
		ReadHeaderTimeout: headerTimeout,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnState:         unused.note,
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve github sim: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	unused.end()
	err := srv.Shutdown(grace)
	if err != nil {
		err = errors.Join(err, srv.Close())
	}
	<-ended // http.ErrServerClosed
	if err != nil {
		return fmt.Errorf("stop github sim: %w", err)
	}
	return nil
}

// silent are the connections that have not asked anything yet. There is nothing to wait for on them, but
// http.Server.Shutdown gives each 5 s to begin; and clients have them: net/http keeps a connection in
// reserve when another became free while it was dialled.
type silent struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
	ended bool
}

// note is the server's ConnState.
func (s *silent) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.conns, c)
	case s.ended:
		_ = c.Close() // nobody is on it, so nobody misses it
	case s.conns == nil:
		s.conns = map[net.Conn]bool{c: true}
	default:
		s.conns[c] = true
	}
}

// end closes them, and those that come from now on.
func (s *silent) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for c := range s.conns {
		_ = c.Close() // the same
	}
}

// Handler is the HTTP side of a hub: the REST API at / and /api/v3, the runner's side at /_runner,
// the control API at /_sim. See Serve for token.
func Handler(h *Hub, token string) http.Handler {
	s := &server{hub: h, token: token}
	rest := s.rest()
	mux := http.NewServeMux()
	mux.Handle("/", rest)
	s.web(mux)
	mux.Handle("/api/v3/", http.StripPrefix("/api/v3", rest))
	mux.Handle(runnerPrefix+"/", http.StripPrefix(runnerPrefix, s.runner()))
	mux.Handle(controlPrefix+"/", s.authorized(http.StripPrefix(controlPrefix, controlAPI{h}.handler()), nobodyElse))
	return mux
}

// server is the REST API and the runner's side.
type server struct {
	hub   *Hub
	token string
}

func nobodyElse(string) bool { return false }

// authorized refuses requests without the token or a credential that others accept. That also keeps web pages
// out of the control API, which runs scripts.
func (s *server) authorized(next http.Handler, others func(credential string) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := bearer(r)
		switch {
		case got == "":
			writeJSON(w, http.StatusUnauthorized, wireError{Message: "Requires authentication"})
		case others(got):
			next.ServeHTTP(w, r)
		case s.token == "" || subtle.ConstantTimeCompare([]byte(got), []byte(s.token)) != 1:
			writeJSON(w, http.StatusUnauthorized, wireError{Message: "Bad credentials"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// scopes adds a route for repositories, organisations and enterprises.
func scopes(to router, pattern string, h http.HandlerFunc) {
	method, path, _ := strings.Cut(pattern, " ")
	to.HandleFunc(method+" /repos/{owner}/{repo}/actions/runners"+path, h)
	to.HandleFunc(method+" /orgs/{owner}/actions/runners"+path, h)
	to.HandleFunc(method+" /enterprises/{enterprise}/actions/runners"+path, h)
}
