// Package httpserver serves what a long-running verb shows of itself: whether it lives and is ready, and the handlers
// it is given, such as metrics and a page. Nothing can be changed through it.
//
// /healthz and /readyz answer anyone, in one word. Everything else is answered only under a Host that is a loopback
// address or one of Options.Hosts, so that no foreign page has a browser read it (DNS rebinding), and, where there is a
// token, only to clients that show it. See docs/security.md#http-of-the-controller.
package httpserver

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"k8s.io/utils/clock"
)

// Paths of the two probes.
const (
	Healthz = "/healthz"
	Readyz  = "/readyz"
)

// Options are what is served, and to whom. All but Hosts, Token and Pprof are required.
type Options struct {
	// Handlers by the patterns of http.ServeMux, without host and method: "/metrics", "/", "/static/". They get GET and
	// HEAD alone, of clients that may ask. The context of a request ends with the server, and handlers that stream must
	// return then. Headers are set beforehand: no script or style but from files of this server, nothing is stored.
	Handlers map[string]http.Handler

	Alive func() string // one word why this process should be started anew; "": it need not be
	Ready func() string // one word why it cannot do its part at this moment; "": it can

	Hosts []string               // names and addresses that it may be asked for under, without port, besides loopback
	Token func() (string, error) // what clients must show, asked for with each request; nil: nothing
	Pprof bool                   // Go's profiles at /debug/pprof/

	Clock clock.PassiveClock
	Log   *slog.Logger
}

// New returns what answers the requests.
func New(o Options) http.Handler {
	s := &site{o: o, hosts: map[string]bool{}, probes: map[string]func() string{Healthz: o.Alive, Readyz: o.Ready}}
	for _, host := range o.Hosts {
		s.hosts[canonical(host)] = true
	}
	for pattern, h := range o.Handlers {
		s.mux.Handle(pattern, h)
	}
	if o.Pprof {
		s.mux.HandleFunc("/debug/pprof/", pprof.Index)
		s.mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline) // no secret is in a command line
		s.mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		s.mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		s.mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return s
}

// Bounds of a connection. Answers have none in time, since streams and profiles last; handlers take no body but that of
// the login, which has its own.
const (
	headerTimeout = 5 * time.Second
	idleTimeout   = 2 * time.Minute // above the usual scrape interval of a minute, so that its connection is kept
	maxHeader     = 16 << 10
	bodyTimeout   = 10 * time.Second // that of a login has one token
	// shutdownTimeout is what a client gets to take the rest of an answer. A supervisor waits for the process meanwhile.
	shutdownTimeout = time.Second
)

// Serve answers with h on ln until ctx ends, and closes ln. It returns nil if it was ctx that ended.
func Serve(ctx context.Context, ln net.Listener, h http.Handler, log *slog.Logger) error {
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx }, // streams end with it
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),  // panics of handlers, mostly
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve http on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := srv.Shutdown(grace)
	if err != nil { // some connections are not at rest: a client that takes nothing, or has asked nothing yet
		err = srv.Close()
	}
	<-ended // http.ErrServerClosed
	return err
}
