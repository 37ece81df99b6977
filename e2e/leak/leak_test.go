package leak

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSecrets(t *testing.T) {
	var s Secrets
	s.Add("token", "ghp_0123456789")
	s.Add("key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nshort\n-----END RSA PRIVATE KEY-----\n")
	for text, want := range map[string][]string{
		"":                                     nil,
		"-----BEGIN RSA PRIVATE KEY-----short": nil,
		`{"a":"ghp_0123456789"}`:               {"token"},
		"xMIIEowIBAAKCAQEAx ghp_0123456789":    {"key", "token"},
	} {
		if diff := cmp.Diff(want, s.In([]byte(text))); diff != "" {
			t.Errorf("In(%q) (-want +got):\n%s", text, diff)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "ghp_0123456789", "b/c": "ghp_0123456789", "b/d": "nothing"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, looked, err := s.Files(dir, func(path string) bool { return filepath.Base(path) == "a" })
	if diff := cmp.Diff(map[string][]string{filepath.Join(dir, "b/c"): {"token"}}, found); diff != "" || looked != 2 || err != nil {
		t.Errorf("Files() looked into %d, %v (-want +got):\n%s", looked, err, diff)
	}
}

// What a process was started with is seen, whichever user owns it.
func TestCommandLines(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var c CommandLines
	done := make(chan struct{})
	go func() { defer close(done); c.Watch(ctx) }()
	child := exec.CommandContext(ctx, "sleep", "123456")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if slices.ContainsFunc(c.Seen(), func(line string) bool { return strings.Contains(line, "sleep\x00123456") }) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("not seen within a minute")
		}
	}
	cancel()
	<-done
	if err := child.Wait(); err == nil {
		t.Error("the child was not killed")
	}
}
