package netfault_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/netfault"
)

// certificate returns a self-signed certificate for a name, valid until the given time.
func certificate(t *testing.T, name string, until time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: until.Add(-48 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(name); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(made)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// secure starts a server with a certificate for a name, and returns its URL and a transport that trusts it.
func secure(t *testing.T, name string, until time.Time) (string, *http.Transport) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = nil
	own, pool := certificate(t, name, until)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{own}} //nolint:gosec // of a test
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}} //nolint:gosec // of a test
}

func TestOf_ReviewB13b(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	through := func(status int) *http.Transport {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(proxy.Close)
		at, _ := url.Parse(proxy.URL)
		return &http.Transport{Proxy: http.ProxyURL(at), OnProxyConnectResponse: netfault.OnProxyConnectResponse}
	}
	dials := func(errno syscall.Errno) *http.Transport {
		return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
		}}
	}
	gone, _ := url.Parse(closed.URL)
	tomorrow := time.Now().Add(24 * time.Hour)
	unknown, _ := secure(t, "127.0.0.1", tomorrow)
	expired, trustExpired := secure(t, "127.0.0.1", time.Now().Add(-time.Hour))
	other, trustOther := secure(t, "other.example", tomorrow)
	for name, tt := range map[string]struct {
		url  string
		via  *http.Transport
		want string // "": not a fault of this side
	}{
		"UnknownCA":    {unknown, &http.Transport{}, "SSL_CERT_FILE"},
		"Expired":      {expired, trustExpired, "check the clock of this host"},
		"WrongName":    {other, trustOther, "check the URL"},
		"NoTLS":        {strings.Replace(plain.URL, "http:", "https:", 1), &http.Transport{}, "does not use TLS"},
		"NoName":       {"https://no-such-host.invalid", &http.Transport{}, "name resolution failed"},
		"Proxy407":     {"https://github.invalid", through(407), "407 Proxy Authentication Required: check HTTPS_PROXY"},
		"Proxy403":     {"https://github.invalid", through(403), "403 Forbidden: check HTTPS_PROXY"},
		"ProxyGone":    {"https://github.invalid", &http.Transport{Proxy: http.ProxyURL(gone)}, "proxy is unreachable"},
		"NoRoute":      {"https://github.invalid", dials(syscall.ENETUNREACH), "check its routes"},
		"OpenFiles":    {"https://github.invalid", dials(syscall.EMFILE), "limit of open files"},
		"Refused":      {"https://github.invalid", dials(syscall.ECONNREFUSED), ""},
		"NoConnection": {closed.URL, &http.Transport{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			defer tt.via.CloseIdleConnections()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tt.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = (&http.Client{Transport: tt.via}).Do(req)
			if err == nil {
				t.Fatal("the call succeeded")
			}
			if got := netfault.Of(err); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("Of(%v) = %q, want %q in it", err, got, tt.want)
			}
		})
	}
}
