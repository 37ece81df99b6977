package httpserver_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/httpserver"
)

const token = "0123456789abcdef"

// options are those of a server without a token that is alive and ready.
func options() httpserver.Options {
	return httpserver.Options{
		Handlers: map[string]http.Handler{"/": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") })},
		Alive:    func() string { return "" }, Ready: func() string { return "" },
		Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	}
}

func withToken(o httpserver.Options) httpserver.Options {
	o.Token = func() (string, error) { return token, nil }
	return o
}

// asked returns the answer to a request, of which change may make another than GET of target under a loopback Host.
func asked(t *testing.T, o httpserver.Options, target string, change func(*http.Request)) *http.Response {
	t.Helper()
	srv := httptest.NewServer(httpserver.New(o))
	t.Cleanup(srv.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	client := *srv.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

func TestServer_Probes(t *testing.T) {
	sick := options()
	sick.Alive, sick.Ready = func() string { return "stalled" }, func() string { return "store_unreachable" }
	for _, tt := range []struct {
		name, reason, path string
		o                  httpserver.Options
		change             func(*http.Request)
		code               int
		body               string
	}{
		{"Alive", "", "/healthz", options(), nil, 200, "ok\n"},
		{"Ready", "", "/readyz", options(), nil, 200, "ok\n"},
		{"Stalled", "a supervisor starts it anew", "/healthz", sick, nil, 503, "stalled\n"},
		{"NotReady", "one word", "/readyz", sick, nil, 503, "store_unreachable\n"},
		{"ByAddress", "load balancers ask so", "/readyz", options(), host("10.0.0.7:9640"), 200, "ok\n"},
		{"WithoutToken", "nor do they have one", "/healthz", withToken(options()), host("10.0.0.7:9640"), 200, "ok\n"},
		{"Post", "with a token, too", "/healthz", withToken(options()), func(r *http.Request) { r.Method = http.MethodPost }, 405, ""},
		{"NoOther", "below a probe is the page, which needs its Host", "/readyz/x", options(), host("10.0.0.7"), 421, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := asked(t, tt.o, tt.path, tt.change)
			if text := body(t, r); r.StatusCode != tt.code || tt.body != "" && text != tt.body {
				t.Errorf("GET %s = %d %q, want %d %q (%s)", tt.path, r.StatusCode, text, tt.code, tt.body, tt.reason)
			}
		})
	}
}

// A client that announces a body and never sends it is answered nevertheless.
func TestServer_BodyThatNeverComes(t *testing.T) {
	o := options()
	o.Clock = testclock.NewFakePassiveClock(time.Now().Add(-9900 * time.Millisecond)) // all but a tenth of its time is over
	srv := httptest.NewServer(httpserver.New(o))
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(got), "ok\n") {
		t.Errorf("answer %q, %v, want ok and the end of the connection", got, err)
	}
}

// A page of another site whose name was made to lead here is not answered.
func TestServer_Host(t *testing.T) {
	for name, want := range map[string]int{
		"127.0.0.1:9640": 200, "127.0.0.1": 200, "127.8.9.1:1": 200, "[::1]:9640": 200, "[::1]": 200, "[0:0:0:0:0:0:0:1]:9640": 200, "localhost:9640": 200,
		"LocalHost.": 200, "remuda.example:9640": 200, "REMUDA.example.": 200, "[2001:db8::1]:9640": 200, "[2001:db8:0::1]": 200,
		"evil.example": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example:9640": 421, "remuda.example.evil": 421, "10.0.0.7:9640": 421, "[::2]": 421,
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			o.Hosts = []string{"Remuda.Example", "2001:DB8::1"}
			if r := asked(t, o, "/", host(name)); r.StatusCode != want {
				t.Errorf("Host %s: status = %d, want %d", name, r.StatusCode, want)
			}
		})
	}
}

func TestServer_ReadsOnly(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch} {
		if r := asked(t, options(), "/", func(r *http.Request) { r.Method = method }); r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: status = %d, Allow %q, want 405 and GET, HEAD", method, r.StatusCode, r.Header.Get("Allow"))
		}
	}
	if r := asked(t, options(), "/", func(r *http.Request) { r.Method = http.MethodHead }); r.StatusCode != http.StatusOK {
		t.Errorf("HEAD: status = %d, want 200", r.StatusCode)
	}
}

func TestServer_Headers(t *testing.T) {
	for _, o := range []httpserver.Options{options(), withToken(options())} {
		r := asked(t, o, "/", nil)
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("Content-Security-Policy = %q", policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
	}
}

func TestServer_Pprof(t *testing.T) {
	o := options()
	delete(o.Handlers, "/")
	if r := asked(t, o, "/debug/pprof/", nil); r.StatusCode != http.StatusNotFound {
		t.Errorf("without http.pprof: status = %d, want 404", r.StatusCode)
	}
	o.Pprof = true
	if r := asked(t, o, "/debug/pprof/goroutine?debug=1", nil); r.StatusCode != http.StatusOK || !strings.Contains(body(t, r), "goroutine profile") {
		t.Errorf("with http.pprof: status = %d, want 200 and a profile", r.StatusCode)
	}
	if r := asked(t, withToken(o), "/debug/pprof/", nil); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: status = %d, want 401", r.StatusCode)
	}
}

func TestServer_Bearer(t *testing.T) {
	for header, want := range map[string]int{
		"Bearer " + token: 200, "bearer " + token: 200,
		"": 401, "Bearer": 401, "Bearer ": 401, "Bearer " + token + "x": 401, "Bearer " + token[1:]: 401, "Basic " + token: 401, token: 401,
	} {
		r := asked(t, withToken(options()), "/", func(r *http.Request) { r.Header.Set("Authorization", header) })
		if r.StatusCode != want || want == 401 && !strings.HasPrefix(r.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("Authorization %q: status = %d, WWW-Authenticate %q, want %d", header, r.StatusCode, r.Header.Get("WWW-Authenticate"), want)
		}
	}
}

// form posts the token as the login page does.
func form(shown string) func(*http.Request) {
	return func(r *http.Request) {
		text := url.Values{"token": {shown}}.Encode()
		r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(strings.NewReader(text)), int64(len(text))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
	}
}

// A browser is asked for the token by the page it wanted, and from then on shows a cookie, which is not the token and ends
// with it.
func TestServer_Login(t *testing.T) {
	clk := testclock.NewFakePassiveClock(time.Now()) // a login is bounded on its connection, which knows the real time alone
	now := token
	o := options()
	o.Clock, o.Token = clk, func() (string, error) { return now, nil }
	browser := func(r *http.Request) { r.Header.Set("Accept", "text/html,*/*;q=0.8") }
	if r := asked(t, o, "/requests?id=7", browser); r.StatusCode != http.StatusUnauthorized || !strings.Contains(body(t, r), `<form method="post">`) {
		t.Fatalf("status = %d, want 401 and a form", r.StatusCode)
	}
	if r := asked(t, o, "/", form("fedcba9876543210")); r.StatusCode != http.StatusUnauthorized || len(r.Cookies()) > 0 || !strings.Contains(body(t, r), "not the token") {
		t.Errorf("wrong token: status = %d, cookies %v, want 401 and none", r.StatusCode, r.Cookies())
	}
	in := asked(t, o, "/requests?id=7", form(token))
	if in.StatusCode != http.StatusSeeOther || in.Header.Get("Location") != "/requests?id=7" || len(in.Cookies()) != 1 {
		t.Fatalf("login: status = %d to %q, cookies %v, want 303 to where it came from and one", in.StatusCode, in.Header.Get("Location"), in.Cookies())
	}
	c := in.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Path != "/" || strings.Contains(c.Value, token) {
		t.Errorf("cookie %v: want HttpOnly, SameSite=Strict, and not the token in it", c)
	}
	status := func(value string) int {
		return asked(t, o, "/", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: c.Name, Value: value}) }).StatusCode
	}
	if got := status(c.Value); got != http.StatusOK {
		t.Errorf("with the cookie: status = %d, want 200", got)
	}
	stamp, mac, _ := strings.Cut(c.Value, ".")
	for _, forged := range []string{"", ".", stamp, stamp + ".", "9" + stamp + "." + mac, c.Value + "0", "x." + mac} {
		if got := status(forged); got != http.StatusUnauthorized {
			t.Errorf("cookie %q: status = %d, want 401", forged, got)
		}
	}
	clk.SetTime(time.Now().Add(7*24*time.Hour + time.Minute))
	if got := status(c.Value); got != http.StatusUnauthorized {
		t.Errorf("after a week: status = %d, want 401", got)
	}
	clk.SetTime(time.Now())
	now = "another-token-of-it"
	if got := status(c.Value); got != http.StatusUnauthorized {
		t.Errorf("after the token was replaced: status = %d, want 401", got)
	}
}

func TestServer_LoginBehindTLS(t *testing.T) {
	r := asked(t, withToken(options()), "/", func(r *http.Request) { form(token)(r); r.Header.Set("X-Forwarded-Proto", "https") })
	if len(r.Cookies()) != 1 || !r.Cookies()[0].Secure {
		t.Errorf("cookies = %v, want one that is Secure", r.Cookies())
	}
}

// The login leads back, and never to another host.
func TestServer_LoginLeadsNowhereElse(t *testing.T) {
	for _, target := range []string{"//evil.example/x", `/\evil.example/x`, "/%5Cevil.example", "/%2F/evil.example", "/..//evil.example"} {
		r := asked(t, withToken(options()), target, form(token))
		to, err := r.Location()
		if err != nil || r.StatusCode != http.StatusSeeOther || to.Hostname() != "127.0.0.1" {
			t.Errorf("POST %s leads to %v (%q, %v), want a page of the same host", target, to, r.Header.Get("Location"), err)
		}
	}
}

// A token file that is gone closes the door, once said; the probes still answer.
func TestServer_TokenUnreadable(t *testing.T) {
	var log bytes.Buffer
	o := options()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Token = func() (string, error) { return "", errors.New("read http.tokenFile: gone") }
	srv := httptest.NewServer(httpserver.New(o))
	defer srv.Close()
	for path, want := range map[string]int{"/": 503, "/metrics": 503, "/healthz": 200} {
		resp, err := srv.Client().Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s = %d, want %d", path, resp.StatusCode, want)
		}
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "gone") {
		t.Errorf("logged %d times, want once with the cause:\n%s", n, &log)
	}
}
