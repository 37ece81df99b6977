package faults

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// Proxy serves upstream's API on loopback, with faults, until the test ends. A process of its own uses
// the endpoint by AWS_ENDPOINT_URL_<SERVICE>. A reply that is lost breaks the connection, and so does a
// timeout, after Stall: for a client to see it as one, Stall must be longer than the client waits.
func Proxy(t testing.TB, upstream string, f Faults) (endpoint string, transport *Transport) {
	t.Helper()
	target, err := url.Parse(upstream)
	if err != nil || target.Host == "" {
		t.Fatalf("upstream %q: want the URL of a service: %v", upstream, err)
	}
	next := &http.Transport{DisableCompression: true}
	transport, err = New(next, f)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:    transport,
		ErrorLog:     log.New(io.Discard, "", 0), // its errors are made on purpose
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	t.Cleanup(func() {
		server.CloseClientConnections() // a long poll would hold up the end
		server.Close()
		next.CloseIdleConnections()
	})
	return server.URL, transport
}
