package githubapi

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"
)

// The permissions are those of docs/github.md and no others, and an App goes where it can be installed.
func TestNewManifest(t *testing.T) {
	for raw, want := range map[string]struct {
		permissions map[string]string
		actions     string
	}{
		"https://github.com/octo": {
			map[string]string{"metadata": "read", "organization_self_hosted_runners": "write", "actions": "write", "checks": "write"},
			"https://github.com/organizations/octo/settings/apps/new",
		},
		"https://ghes.example/octo/repo": {
			map[string]string{"metadata": "read", "administration": "write", "actions": "write", "checks": "write"},
			"https://ghes.example/organizations/octo/settings/apps/new https://ghes.example/settings/apps/new",
		},
	} {
		m, forms, err := NewManifest(raw, "http://127.0.0.1:1/created")
		if err != nil {
			t.Fatal(err)
		}
		var actions []string
		for _, f := range forms {
			actions = append(actions, f.Action)
		}
		if got := strings.Join(actions, " "); got != want.actions || !maps.Equal(m.Permissions, want.permissions) {
			t.Errorf("%s: %s, %v, want %s, %v", raw, got, m.Permissions, want.actions, want.permissions)
		}
		if m.Public || m.Hook.Active || len(m.Events) > 0 || m.RedirectURL != "http://127.0.0.1:1/created" {
			t.Errorf("%s: %+v, want neither public nor with a webhook", raw, m)
		}
	}
	if m, _, err := NewManifest("https://github.com/"+strings.Repeat("o", 39), "r"); err != nil || len(m.Name) != mostAppName {
		t.Errorf("name %q, %v, want %d characters at most", m.Name, err, mostAppName)
	}
	for _, raw := range []string{"https://github.com/enterprises/big", "nonsense"} {
		if _, _, err := NewManifest(raw, "r"); err == nil {
			t.Errorf("%s makes a manifest", raw)
		}
	}
}

// What GitHub answers to a code is told apart, without the code.
func TestConvert_Refusals(t *testing.T) {
	for status, want := range map[int]error{404: ErrCode, 422: nil, 403: ErrUnavailable, 500: ErrUnavailable, 201: nil} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, `{}`)
		}))
		_, err := Convert(context.Background(), Options{URL: srv.URL + "/octo"}, Manifest{}, "c0de")
		srv.Close()
		if err == nil || strings.Contains(err.Error(), "c0de") {
			t.Errorf("%d: error = %v, want one without the code", status, err)
		}
		for _, kind := range []error{ErrCode, ErrUnavailable} {
			if errors.Is(err, kind) != (kind == want) {
				t.Errorf("%d: error = %v, want kind %v", status, err, want)
			}
		}
	}
	_, err := Convert(context.Background(), Options{URL: "http://127.0.0.1:1/octo"}, Manifest{}, "c0de")
	if !errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "c0de") {
		t.Errorf("nobody there: %v", err)
	}
}

// An App is accepted only if it belongs to the owner in the URL and has the requested permissions, events and homepage. Users can edit
// its name at GitHub. The error about a foreign App shows the App, its owner and each difference, but neither its key nor control characters.
func TestConvert_ForeignApp_Review_S4(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	secret := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	for _, c := range []struct {
		name   string
		change func(app map[string]any)
		want   []string // in the error; nil: the App is accepted
	}{
		{"requested App", func(map[string]any) {}, nil},
		{"edited name", func(app map[string]any) { app["name"] = "Runners of Octo" }, nil},
		{"owner in another case", func(app map[string]any) { app["owner"] = map[string]any{"login": "OCTO"} }, nil},
		{"homepage with a slash", func(app map[string]any) { app["external_url"] = homepage + "/" }, nil},
		{"events of the permission for checks", func(app map[string]any) { app["events"] = []string{"check_suite", "check_run"} }, nil},
		{"another owner", func(app map[string]any) { app["owner"] = map[string]any{"login": "mallory"} }, []string{`of "mallory"`, `owner must be octo, got "mallory"`}},
		{"no owner", func(app map[string]any) { delete(app, "owner") }, []string{`owner must be octo, got ""`}},
		{"more permissions", func(app map[string]any) { permissions(app)["contents"] = "write" }, []string{"permissions must be actions: write,", "contents: write"}},
		{"greater permission", func(app map[string]any) { permissions(app)["metadata"] = "write" }, []string{"metadata: write"}},
		{"fewer permissions", func(app map[string]any) { delete(permissions(app), "checks") }, []string{"permissions must be"}},
		{"no permissions", func(app map[string]any) { delete(app, "permissions") }, []string{"permissions must be"}},
		{"another event", func(app map[string]any) { app["events"] = []string{"check_run", "push"} }, []string{`events must be empty, got "push"`}},
		{"another homepage", func(app map[string]any) { app["external_url"] = "https://evil.example" }, []string{`homepage must be ` + homepage + `, got "https://evil.example"`}},
		{"terminal controls", func(app map[string]any) {
			app["name"], app["owner"] = "\x1b]0;evil\a\u009b2J"+strings.Repeat("n", 1000), map[string]any{"login": "\x1b[2J"}
			permissions(app)["\x1b[2J"], app["events"] = strings.Repeat("p", 1000), []string{"\r\n"}
		}, []string{`"\x1b]0;evil\a`, "nnn"}},
		{"script as address", func(app map[string]any) { app["html_url"] = "javascript:alert(1)" }, []string{"lacks id, address or key"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var answer map[string]any
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusCreated)
				if err := json.NewEncoder(w).Encode(answer); err != nil {
					t.Error(err)
				}
			}))
			defer srv.Close()
			m, _, err := NewManifest(srv.URL+"/octo/repo", "http://127.0.0.1:1/created")
			if err != nil {
				t.Fatal(err)
			}
			granted := map[string]any{}
			for name, access := range m.Permissions {
				granted[name] = access
			}
			answer = map[string]any{
				"id": 7, "name": m.Name, "owner": map[string]any{"login": "octo"}, "external_url": homepage, "html_url": srv.URL + "/apps/x",
				"permissions": granted, "events": []string{}, "pem": secret,
			}
			c.change(answer)
			made, err := Convert(t.Context(), Options{URL: srv.URL + "/octo/repo"}, m, "c0de")
			if c.want == nil {
				if err != nil || made.ID != 7 || made.Key != secret {
					t.Errorf("got %s, %v, want the App with its key", made, err)
				}
				return
			}
			if err == nil || made.Key != "" {
				t.Fatalf("got %s, %v, want an error and no key", made, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
			if len(err.Error()) > 2000 || strings.Contains(err.Error(), secret[100:140]) || strings.ContainsFunc(err.Error(), unicode.IsControl) {
				t.Errorf("error = %q, want neither key nor control characters, and at most 2000 bytes", err)
			}
		})
	}
}

func permissions(app map[string]any) map[string]any {
	granted, _ := app["permissions"].(map[string]any)
	return granted
}
