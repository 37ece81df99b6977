package aws

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/remuda-run/remuda/e2e/leak"
	"github.com/remuda-run/remuda/internal/githubsim"
)

// front stands before the simulated GitHub's API and asks for real credentials, which the simulated one
// does not know: those of an App, or a token. It notes every secret that passes.
type front struct {
	secrets *leak.Secrets
	key     *rsa.PrivateKey // of the App; nil: none
	token   string          // that the API accepts
	next    *httputil.ReverseProxy
}

// appID and installationID are the App's.
const appID, installationID = 77, 7

// authenticate makes w's controller use the credentials of an App, or a token, from now on.
func (w *world) authenticate(secrets *leak.Secrets, app bool) {
	w.Helper()
	f := &front{secrets: secrets, token: "ghp_" + rand.Text()}
	settings := map[string]any{"url": w.github.Root + "/octo/remuda"}
	secret := filepath.Join(w.dir, "github-secret")
	settings["tokenFile"] = secret
	content := []byte(f.token)
	if app {
		var err error
		f.key, err = rsa.GenerateKey(rand.Reader, 2048)
		w.Check(err)
		f.token = "ghs_" + rand.Text()
		content = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(f.key)})
		delete(settings, "tokenFile")
		settings["appId"], settings["appKeyFile"] = appID, secret
		secrets.Add("App key", string(content))
	}
	secrets.Add("token", f.token)
	w.Check(os.WriteFile(secret, content, 0o600))
	target, err := url.Parse(w.github.Root)
	w.Check(err)
	f.next = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Set("Authorization", "Bearer "+w.github.Token)
	}, ModifyResponse: f.note}
	server := httptest.NewServer(f)
	w.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	settings["apiUrl"] = server.URL
	text, err := json.Marshal(settings)
	w.Check(err)

	w.devConfig = filepath.Join(w.dir, "simulated.yaml") // `remuda dev` speaks to the simulated one itself
	w.Check(os.Rename(w.config(), w.devConfig))
	w.github.Settings = "github: " + string(text)
	w.Check(os.WriteFile(w.config(), w.settings(), 0o600))
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, got, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case f.key != nil && (strings.HasSuffix(r.URL.Path, "/installation") || strings.HasPrefix(r.URL.Path, "/app/")):
		if err := f.signed(got); err != nil {
			answer(w, http.StatusUnauthorized, map[string]any{"message": err.Error()})
			return
		}
		f.secrets.Add("App's signature", got)
		if r.Method == http.MethodGet {
			answer(w, http.StatusOK, map[string]any{"id": installationID, "app_id": appID})
			return
		}
		answer(w, http.StatusCreated, map[string]any{"token": f.token, "expires_at": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
	case got != f.token:
		answer(w, http.StatusUnauthorized, map[string]any{"message": "Bad credentials"})
	default:
		f.next.ServeHTTP(w, r)
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the one who asked has gone
}

// signed reports whether a JSON web token is the App's.
func (f *front) signed(token string) error {
	end := strings.LastIndex(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(token[end+1:])
	if end < 0 || err != nil {
		return errors.New("no JSON web token")
	}
	sum := sha256.Sum256([]byte(token[:end]))
	return rsa.VerifyPKCS1v15(&f.key.PublicKey, crypto.SHA256, sum[:], raw)
}

// note keeps what was minted.
func (f *front) note(resp *http.Response) error {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var minted struct {
		Token string `json:"token"`
		JIT   string `json:"encoded_jit_config"`
	}
	if json.Unmarshal(body, &minted) != nil {
		return nil //nolint:nilerr // a listing
	}
	f.secrets.Add("registration token", minted.Token)
	f.secrets.Add("JIT configuration", minted.JIT)
	if minted.JIT == "" {
		return nil
	}
	jit, err := githubsim.DecodeJIT(minted.JIT)
	if err != nil {
		return fmt.Errorf("JIT configuration: %w", err)
	}
	f.secrets.Add("JIT secret", jit.Secret)
	return nil
}
