package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/reference"
)

// secretService is Secrets Manager with one secret, which is there and holds nothing, as the stack makes it.
func secretService(t *testing.T, name string) (references *reference.Reader, value *atomic.Pointer[string]) {
	t.Helper()
	value = &atomic.Pointer[string]{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ SecretId, SecretString string } // as the service spells it
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		status, answer := http.StatusOK, map[string]string{}
		switch now := value.Load(); {
		case in.SecretId != name:
			status, answer = http.StatusBadRequest, map[string]string{"__type": "ResourceNotFoundException", "message": "Secrets Manager can't find the specified secret."}
		case call == "PutSecretValue":
			value.Store(&in.SecretString)
		case now == nil:
			status, answer = http.StatusBadRequest, map[string]string{
				"__type": "ResourceNotFoundException", "message": "Secrets Manager can't find the specified secret value for staging label: AWSCURRENT",
			}
		default:
			answer["SecretString"] = *now
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return &reference.Reader{ReadFile: os.ReadFile, Load: func(context.Context, string) (aws.Config, error) { return awstest.Config(t, srv.URL), nil }}, value
}

// The App goes to the secret that the stack made, in the form by which github.secret is read; what is there is not replaced unasked.
func TestInitApp_ToSecretsManager(t *testing.T) {
	const to = "secretsmanager:remuda/github"
	references, value := secretService(t, "remuda/github")
	r := startAppFor(t, references, "/octo", "--no-browser", "--to", to)
	r.ask(http.MethodGet, r.origin+"/?key="+r.key, nil)
	contains(t, r.make(), "is created and its key is stored")
	if status, page := r.ask(http.MethodPost, r.gitHub.URL+"/apps/remuda-octo/installations/new", nil); status != http.StatusOK {
		t.Errorf("install = %d %s", status, page)
	}
	r.until("last word", func() bool {
		_, page := r.ask(http.MethodGet, r.origin+"/", nil)
		return strings.Contains(page, "Done. The App is installed")
	})
	r.ends(exitDone)
	contains(t, r.out.String(), "Set github.secret to "+to)
	text := value.Load()
	if text == nil {
		t.Fatal("nothing was stored")
	}
	kept, err := parseGitHubSecret([]byte(*text))
	if err != nil || kept.AppID < 1 || githubapi.CheckKey([]byte(kept.Key)) != nil {
		t.Errorf("stored: %v, id %d", err, kept.AppID)
	}
	if said := r.out.String() + r.err.String(); strings.Contains(said, kept.Key[100:140]) {
		t.Error("the key was printed")
	}
	for args, says := range map[string]string{
		to:                       "must be empty, or --force given; it holds the App 1",
		"secretsmanager:another": "secretsmanager:GetSecretValue on secret another: not found",
	} {
		c := newCLI(nil)
		c.references, c.env = references, []string{"REMUDA_GITHUB_URL=https://github.com/octo"}
		if code := c.run(t.Context(), "init", "github-app", "--to", args); code == exitDone || !strings.Contains(c.err.String(), says) {
			t.Errorf("--to %s: code %d, %s, want %q", args, code, c.err.String(), says)
		}
	}
}

// A key that the target does not take after all is not lost.
func TestInitApp_StoredElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	file := filepath.Join(t.TempDir(), "app.json")
	r := startApp(t, "/octo", "--to", file)
	if err := os.WriteFile(file, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, r.make(), "its id and key are in", "remuda-github-app-1.json instead")
	r.ends(exitFailure)
	raw, err := os.ReadFile("remuda-github-app-1.json")
	if s, bad := parseGitHubSecret(raw); err != nil || bad != nil || s.AppID != 1 {
		t.Errorf("kept %+v, %v, %v", s.AppID, err, bad)
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "another's" {
		t.Errorf("the target was replaced: %v", err)
	}
}

// What cannot be stored is said before anything is served.
func TestInitApp_Usage(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "app.json")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const org = "REMUDA_GITHUB_URL=https://github.com/octo"
	for _, c := range []struct {
		env  string
		args []string
		want string
	}{
		{"", []string{"--to", taken}, "github.url: must name a repository or an organisation"},
		{org, nil, "--to: must be a file or secretsmanager:NAME"},
		{org, []string{"--to", "ssm:/remuda/github"}, `must be a file or secretsmanager:NAME to be stored in, got "ssm:/remuda/github"`},
		{org, []string{"--to", taken}, "must not be there yet, or --force given"},
		{org, []string{"--to", filepath.Join(taken, "below")}, "not a directory"},
		{org, []string{"--to", filepath.Join(t.TempDir(), "none", "x")}, "must be in a folder that can be written to"},
		{"REMUDA_GITHUB_URL=https://github.com/enterprises/big", []string{"--to", taken + "2"}, "neither a fine-grained token nor an App"},
	} {
		cli := newCLI(nil)
		cli.env = []string{c.env}
		cli.ends(t, exitUsage, append([]string{"init", "github-app", "--no-browser"}, c.args...)...)
		contains(t, cli.err.String(), c.want)
	}
}

// An existing file is replaced as a whole with --force alone.
func TestWriteSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for i, c := range []struct {
		replace, ok bool
	}{{false, true}, {false, false}, {true, true}} {
		if err := writeSecret(path, []byte("x"), c.replace); (err == nil) != c.ok {
			t.Errorf("%d: %v, want ok %v", i, err, c.ok)
		}
	}
}
