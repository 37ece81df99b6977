package httpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/httpserver"
)

// served starts a server, and returns its address and what stops it and waits for its end.
func served(t *testing.T, o httpserver.Options) (address string, stop func() error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- httpserver.Serve(ctx, ln, httpserver.New(o), slog.New(slog.DiscardHandler)) }()
	return ln.Addr().String(), func() error {
		cancel()
		return <-ended
	}
}

// A stream outlasts every bound of a connection's beginning, and ends with the server, which does not wait for it.
func TestServe_Stream(t *testing.T) {
	returned := make(chan struct{})
	o := options()
	o.Handlers["/events"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(returned)
		_, _ = io.WriteString(w, "data: 1\n\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("Flush() = %v", err)
		}
		<-r.Context().Done()
	})
	address, stop := served(t, o)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("http://" + address + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "data: 1\n" {
		t.Fatalf("first line = %q, %v", line, err)
	}
	if err := stop(); err != nil {
		t.Errorf("Serve() = %v, want nil", err)
	}
	<-returned
}

// Neither a client that asks nothing nor one that takes nothing keeps a server from ending.
func TestServe_EndsUnderClientsThatDoNot(t *testing.T) {
	begun := make(chan struct{})
	o := options()
	o.Handlers["/much"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		for { // as much as the connection takes
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	})
	address, stop := served(t, o)
	for _, text := range []string{"", "GET /much HTTP/1.1\r\nHost: localhost\r\n\r\n"} {
		conn, err := net.DialTimeout("tcp", address, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprint(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	<-begun
	if err := stop(); err != nil {
		t.Errorf("Serve() = %v, want nil", err)
	}
}

func TestServe_ListenerFails(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	if err := httpserver.Serve(t.Context(), ln, httpserver.New(options()), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("Serve() on a closed listener = nil, want an error")
	}
}
