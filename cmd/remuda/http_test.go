package main

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/httpserver"
)

// What only shows the controller does not keep it from working: the log says which address and what to do.
func TestWeb_PortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var log bytes.Buffer
	w, err := newCLI(nil).openWeb(config.HTTP{Listen: taken.Addr().String()}, slog.New(slog.NewTextHandler(&log, nil)))
	if w != nil || err != nil {
		t.Fatalf("openWeb() = %v, %v, want neither", w, err)
	}
	contains(t, log.String(), "level=WARN", "http.listen", "address="+taken.Addr().String())
}

func TestWeb_OffOrWrong(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	c := newCLI(nil)
	c.files["/short"], c.files["/empty"] = "0123456789abcde\n", " \n"
	if w, err := c.openWeb(config.HTTP{}, log); w != nil || err != nil {
		t.Errorf("openWeb() without an address = %v, %v, want neither", w, err)
	}
	for _, tt := range []struct {
		http config.HTTP
		want string
	}{
		{config.HTTP{Listen: "192.0.2.1:9640"}, "http.listen: listen tcp 192.0.2.1:9640: bind: "},
		{config.HTTP{Listen: "127.0.0.1:0", TokenFile: "/none"}, "read http.tokenFile: open /none: "},
		{config.HTTP{Listen: "127.0.0.1:0", TokenFile: "/empty"}, "http.tokenFile /empty: must hold at least 16 characters, such as those of `openssl rand -hex 32`, got 0"},
		{config.HTTP{Listen: "127.0.0.1:0", TokenFile: "/short"}, "got 15"},
	} {
		if w, err := c.openWeb(tt.http, log); w != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("openWeb(%+v) = %v, %v, want an error with %q", tt.http, w, err, tt.want)
		}
	}
}

// The token can be replaced at any time, as other credentials can.
func TestWeb_TokenIsReadAnew(t *testing.T) {
	c := newCLI(nil)
	c.files["/token"] = "0123456789abcdef\n"
	token := c.httpToken(config.HTTP{TokenFile: "/token"})
	for _, want := range []string{"0123456789abcdef", "fedcba9876543210"} {
		c.files["/token"] = want + "\n"
		if got, err := token(); err != nil || got != want {
			t.Errorf("token() = %q, %v, want %q", got, err, want)
		}
	}
}

func TestHealth(t *testing.T) {
	alive, ready := "", "store_unreachable"
	var refused refusals
	srv := httptest.NewServer(httpserver.New(httpserver.Options{
		Alive: func() string { return alive }, Ready: func() string { return ready }, Log: slog.New(slog.DiscardHandler),
		Handlers: map[string]http.Handler{refusedPath: &refused}, Token: func() (string, error) { return "0123456789abcdef", nil },
	}))
	address := strings.TrimPrefix(srv.URL, "http://")
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	c := newCLI(nil)
	at := func(listen string, args ...string) []string {
		return append([]string{"health", "--set", "http.listen=" + listen, "--set", "http.insecure=true"}, args...)
	}
	c.files["/token"] = "0123456789abcdef"
	withToken := []string{"health", "--set", "http.listen=" + address, "--set", "http.tokenFile=/token"}
	c.ends(t, exitDone, withToken...)
	if c.out.String()+c.err.String() != "ok\n" {
		t.Errorf("printed %q, %q, want ok", &c.out, &c.err)
	}
	at0 := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	refused.hold("read", at0)
	refused.hold("caps.maxInstances: must be at least 1, got 0\nlimits.beat: wrong", at0.Add(time.Hour))
	c.ends(t, exitDone, withToken...)
	if got := c.out.String(); got != "ok\nconfiguration refused since 2026-03-01T03:00:00Z: caps.maxInstances: must be at least 1, got 0; limits.beat: wrong\n" {
		t.Errorf("printed %q, want what is refused since when", got)
	}
	c.ends(t, exitDone, at(address)...)
	if c.out.String() != "ok\n" || !strings.Contains(c.err.String(), "is not known: the token of http.tokenFile is needed") {
		t.Errorf("without the token: printed %q, %q", &c.out, &c.err)
	}
	for _, wrong := range []string{"caps: {maxInstances: 0}\n", "classes: {small: {cpu\n"} { // which a controller refuses, and works on
		c.files["/remuda.yaml"] = wrong
		c.ends(t, exitDone, append(withToken, "--config", "/remuda.yaml")...)
		contains(t, c.out.String(), "ok\nconfiguration refused since")
		contains(t, c.err.String(), "remuda: ")
	}
	c.files["/remuda.yaml"] = "http: {listen: " + address + ", tokenFile: /token}\ncaps: {maxInstances: 0}\n"
	c.ends(t, exitDone, "health", "--config", "/remuda.yaml")
	contains(t, c.out.String(), "ok\nconfiguration refused since")
	c.ends(t, exitUsage, "health", "--config", "/remuda.yaml", "--set", "no.such=1")
	c.ends(t, exitDone, at(":"+port)...)
	c.ends(t, exitDone, at("0.0.0.0:"+port)...)
	c.ends(t, exitFailure, at(address, "--ready")...)
	if c.err.String() != "remuda: store_unreachable\n" {
		t.Errorf("said %q, want the reason alone", &c.err)
	}
	alive, ready = "stalled", ""
	c.ends(t, exitFailure, at(address)...)
	contains(t, c.err.String(), "stalled")
	c.ends(t, exitDone, at(address, "--ready")...)
	srv.Close()
	c.ends(t, exitFailure, at(address)...)
	contains(t, c.err.String(), "ask the controller", "connection refused")

	c.ends(t, exitUsage, at("")...)
	contains(t, c.err.String(), "http.listen: must be set for this command", "serves no HTTP")
	c.ends(t, exitUsage, at("127.0.0.1:0")...)
	contains(t, c.err.String(), "http.listen: must name a port")
}
