package githubapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The permissions are those of docs/github.md and no others, and an App goes where it can be installed.
func TestNewManifest(t *testing.T) {
	for raw, want := range map[string]struct {
		permissions map[string]string
		actions     string
	}{
		"https://github.com/octo": {
			map[string]string{"organization_self_hosted_runners": "write", "actions": "write", "checks": "write"},
			"https://github.com/organizations/octo/settings/apps/new",
		},
		"https://ghes.example/octo/repo": {
			map[string]string{"administration": "write", "actions": "write", "checks": "write"},
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
		_, err := Convert(context.Background(), Options{URL: srv.URL + "/octo"}, "c0de")
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
	_, err := Convert(context.Background(), Options{URL: "http://127.0.0.1:1/octo"}, "c0de")
	if !errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "c0de") {
		t.Errorf("nobody there: %v", err)
	}
}
