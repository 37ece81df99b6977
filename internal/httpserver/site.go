package httpserver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
)

// site decides who gets an answer.
type site struct {
	o      Options
	mux    http.ServeMux
	hosts  map[string]bool
	probes map[string]func() string
	said   atomic.Value // string: the last problem with the token that was logged
}

// policy is the Content-Security-Policy: a page takes scripts, styles, images and data from this server's files alone,
// so text that became markup can neither run nor tell anyone.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if r.ContentLength != 0 { // nobody waits for a body that does not come
		_ = http.NewResponseController(w).SetReadDeadline(s.o.Clock.Now().Add(bodyTimeout)) // on a connection it works; others have none
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	probe := s.probes[r.URL.Path]
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	login := r.Method == http.MethodPost && probe == nil && s.o.Token != nil
	switch {
	case !reads && !login:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "nothing can be changed here: only GET and HEAD are served", http.StatusMethodNotAllowed)
	case probe != nil: // under any Host, since probes of load balancers and containers ask by address
		answer(w, probe())
	case !s.serves(r.Host):
		http.Error(w, fmt.Sprintf("the host %.100q is neither a loopback address nor named in http.hosts", r.Host), http.StatusMisdirectedRequest)
	case s.o.Token != nil && !s.admits(w, r): // who has been answered
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// answer is that of a probe.
func answer(w http.ResponseWriter, reason string) {
	if reason != "" {
		http.Error(w, reason, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n") // a client that has gone misses nothing
}

// serves reports whether this server may be asked for under a Host.
func (s *site) serves(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = canonical(host)
	return Loopback(host) || s.hosts[host]
}

// canonical is the one spelling of a host: names in lower case and without a final dot, addresses without brackets.
func canonical(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.String()
	}
	return host
}

// Loopback reports whether host, a name or an address without port, is this machine for itself.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
