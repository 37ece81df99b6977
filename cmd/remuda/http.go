package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/httpserver"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/reconciler"
)

// web is where a controller is looked at by HTTP. A nil one serves nothing.
type web struct {
	ln      net.Listener
	options httpserver.Options
	log     *slog.Logger
}

// openWeb begins to listen as c says. It returns nil if HTTP is off, or if another process has the address: what only
// shows the controller must not keep it from working.
func (a *app) openWeb(c config.HTTP, log *slog.Logger) (*web, error) {
	if c.Listen == "" {
		return nil, nil
	}
	w := &web{log: log, options: httpserver.Options{
		Handlers: map[string]http.Handler{}, Hosts: c.Hosts, Pprof: c.Pprof, Clock: a.clock, Log: log,
	}}
	if c.TokenFile != "" {
		w.options.Token = a.httpToken(c)
		if _, err := w.options.Token(); err != nil {
			return nil, asUsage(err)
		}
	}
	var err error
	w.ln, err = net.Listen("tcp", c.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		log.Warn("another process listens on http.listen: this controller works without HTTP; name another address, or port 0", logkey.Address, c.Listen)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("http.listen: %w", err)
	}
	log.Info("serving HTTP", logkey.Address, w.address())
	return w, nil
}

// address is where w listens, its port included.
func (w *web) address() string { return w.ln.Addr().String() }

// Close ends a web that did not come to serve.
func (w *web) Close() error {
	if w == nil {
		return nil
	}
	return w.ln.Close()
}

// serve shows op until ctx ends. Should HTTP end by itself, the controller goes on without.
func (w *web) serve(ctx context.Context, op *reconciler.Operator) {
	w.options.Ready = func() string { return string(op.Leadership().NotReady) }
	w.options.Alive = func() string {
		if op.Stalled() {
			return "stalled"
		}
		return ""
	}
	if err := httpserver.Serve(ctx, w.ln, httpserver.New(w.options), w.log); err != nil {
		w.log.Error("HTTP has ended; this controller works without until it is started again", logkey.Error, err)
	}
}

// minToken is the shortest token taken. Who sees a session's cookie can try tokens against it at home.
const minToken = 16

// httpToken reads the token anew for every request, so that it can be replaced at any time.
func (a *app) httpToken(c config.HTTP) func() (string, error) {
	return func() (string, error) {
		raw, err := a.readFile(c.TokenFile)
		if err != nil {
			return "", fmt.Errorf("read http.tokenFile: %w", err)
		}
		token := strings.TrimSpace(string(raw))
		if len(token) < minToken {
			return "", fmt.Errorf("http.tokenFile %s: must hold at least %d characters, such as those of `openssl rand -hex 32`, got %d", c.TokenFile, minToken, len(token))
		}
		return token, nil
	}
}
