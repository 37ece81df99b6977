// Package netfault names local causes of HTTP calls without an answer: name resolution, TLS, proxies and this host.
package netfault

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"syscall"
)

// proxyError is the answer of a proxy that does not open a tunnel.
type proxyError struct{ proxy, status string }

func (e *proxyError) Error() string {
	return fmt.Sprintf("proxy %s refuses the connection: %s", e.proxy, e.status)
}

// OnProxyConnectResponse is a hook for http.Transport, whose own error contains only the text of the status.
func OnProxyConnectResponse(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{proxy.Host, resp.Status}
}

// here are the errors of the local kernel that prevent a connection.
var here = []syscall.Errno{
	syscall.EACCES, syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT, syscall.EMFILE, syscall.ENETDOWN, syscall.ENETUNREACH, syscall.ENFILE, syscall.ENOBUFS, syscall.EPERM,
}

const proxyRemedy = "check HTTPS_PROXY and NO_PROXY, with user and password, and the rules of the proxy"

// Of returns cause and remedy. It returns "" if the cause is remote or unknown: a timeout, a refused or broken connection.
func Of(err error) string {
	var (
		name      *net.DNSError
		op        *net.OpError
		proxy     *proxyError
		ca        x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		untrusted *tls.CertificateVerificationError
		noTLS     tls.RecordHeaderError
		errno     syscall.Errno
	)
	switch {
	case errors.As(err, &proxy):
		return proxy.Error() + ": " + proxyRemedy
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return fmt.Sprintf("proxy is unreachable: %v: %s", op.Err, proxyRemedy)
	case errors.As(err, &name):
		return fmt.Sprintf("name resolution failed: %v: check the name, and the name servers of this host", name)
	case errors.As(err, &ca):
		return fmt.Sprintf("TLS: %v: add the CA of the server, or of a proxy that replaces certificates, to this host (SSL_CERT_FILE)", ca)
	case errors.As(err, &host):
		return fmt.Sprintf("TLS: %v: check the URL, and whether a proxy or an entry of DNS or /etc/hosts replaces the host", host)
	case errors.As(err, &invalid):
		return fmt.Sprintf("TLS: %v: check the clock of this host, then the server's certificate", invalid)
	case errors.As(err, &untrusted):
		return fmt.Sprintf("TLS: %v: check the server's certificate and the CAs of this host", untrusted.Err)
	case errors.As(err, &noTLS), errors.Is(err, http.ErrSchemeMismatch):
		return "TLS: the server does not use TLS on this port: check the URL and the proxy"
	case errors.As(err, &op) && errors.As(op.Err, &errno) && slices.Contains(here, errno):
		return fmt.Sprintf("no connection leaves this host: %v: check its routes, its firewall and its limit of open files", errno)
	}
	return ""
}
