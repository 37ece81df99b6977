package httpserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/logkey"
)

// Of a session: its cookie, how long it lasts, and what its MAC begins with, so that it serves nothing else.
const (
	sessionCookie = "remuda-session"
	sessionLife   = 7 * 24 * time.Hour
	sessionScope  = "remuda http session until "
)

// loginBytes bounds a login, whose form holds one token.
const loginBytes = 4 << 10

// admits reports whether a client has shown the token, with this request or at its login. If not it has the answer.
func (s *site) admits(w http.ResponseWriter, r *http.Request) bool {
	token, err := s.o.Token()
	if err != nil {
		if said, _ := s.said.Swap(err.Error()).(string); said != err.Error() {
			s.o.Log.Error("the token of HTTP cannot be read: nobody is served but the probes", logkey.Error, err)
		}
		http.Error(w, "the token of this server cannot be read: see its log", http.StatusServiceUnavailable)
		return false
	}
	s.said.Store("")
	if r.Method == http.MethodPost {
		s.login(w, r, token)
		return false
	}
	if scheme, shown, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") && same(shown, token) {
		return true
	}
	if c, err := r.Cookie(sessionCookie); err == nil && s.remembers(c.Value, token) {
		return true
	}
	ask(w, r, "")
	return false
}

// same compares in a time that says nothing about either.
func same(shown, token string) bool {
	a, b := sha256.Sum256([]byte(shown)), sha256.Sum256([]byte(token))
	return hmac.Equal(a[:], b[:])
}

// session is the value of the cookie of one who showed the token: until when it counts, and a MAC of that by the token.
// So it ends with the token, and survives a restart and a fail-over to a controller with the same token. Cookies go to
// every port of a host, and to disk, which the token itself must not.
func session(token string, until time.Time) string {
	stamp := strconv.FormatInt(until.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(token))
	_, _ = io.WriteString(mac, sessionScope+stamp) // a hash takes everything
	return stamp + "." + hex.EncodeToString(mac.Sum(nil))
}

func (s *site) remembers(value, token string) bool {
	stamp, _, _ := strings.Cut(value, ".")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	until := time.Unix(seconds, 0)
	return err == nil && s.o.Clock.Now().Before(until) && hmac.Equal([]byte(value), []byte(session(token, until)))
}

// login takes the form of ask, which comes to the page that was asked for, and leads back to it.
func (s *site) login(w http.ResponseWriter, r *http.Request, token string) {
	now := s.o.Clock.Now()
	r.Body = http.MaxBytesReader(w, r.Body, loginBytes)
	if !same(strings.TrimSpace(r.PostFormValue("token")), token) {
		ask(w, r, "This is not the token.")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: session(token, now.Add(sessionLife)), Path: "/", MaxAge: int(sessionLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		// This server speaks no TLS; a proxy before it that does says so. Browsers would drop a Secure cookie that came by
		// plain HTTP, and who forges the header only loses a cookie of their own.
		Secure: r.Header.Get("X-Forwarded-Proto") == "https",
	})
	back := url.URL{Path: path.Clean("/" + r.URL.Path), RawQuery: r.URL.RawQuery} // one slash: no other host
	http.Redirect(w, r, back.String(), http.StatusSeeOther)
}

const loginPage = `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>remuda</title>
<h1>remuda</h1>
<form method="post">
<p>%s
<p><label>Token of this controller (the content of <code>http.tokenFile</code>): <input name="token" type="password" autocomplete="current-password" required autofocus></label>
<button>Continue</button>
</form>
</html>
`

// ask answers that a token is needed: browsers by a form.
func ask(w http.ResponseWriter, r *http.Request, problem string) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="remuda"`)
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, "the token of http.tokenFile is needed, as the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusUnauthorized)
	fmt.Fprintf(w, loginPage, problem)
}
