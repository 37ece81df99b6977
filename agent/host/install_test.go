//go:build unix

package host

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3test"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/githubapi"
)

// The runner that the image has unpacked is taken if it is the one that is configured, else that one is fetched.
func TestMachine_RunnerOfTheImage(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for _, tt := range []struct {
		name, mark string
		want       bool
	}{{"Same", strings.ToUpper(sum) + "\n", true}, {"Other", strings.Repeat("cd", 32) + "\n", false}, {"Unmarked", "", false}} {
		t.Run(tt.name, func(t *testing.T) {
			asked := false
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked = true
				w.WriteHeader(http.StatusForbidden) // which no try cures
			}))
			defer web.Close()
			image := t.TempDir()
			for name, text := range map[string]string{"bin/Runner.Listener": "of the image", userdata.RunnerMark: tt.mark} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(image, name)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(image, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cfg, dir := config.Default(), t.TempDir()
			cfg.Agent.RunnerURL, cfg.Agent.RunnerSHA256 = config.EveryArch(web.URL), config.EveryArch(sum)
			m, err := newMachine(place(cfg, dir), site{id: "i-1", image: image, cache: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			err = m.install(t.Context())
			got, _ := os.ReadFile(filepath.Join(dir, runnerFolder, "bin", "Runner.Listener"))
			if (err == nil) != tt.want || asked == tt.want || (string(got) == "of the image") != tt.want {
				t.Errorf("install = %v, asked %t, listener %q, want that of the image: %t", err, asked, got, tt.want)
			}
		})
	}
}

// The runner comes out of a bucket with the credentials of the machine; what an operator must put right is not tried again.
func TestObject(t *testing.T) {
	s := s3test.New(t, "eu-west-1", "remuda-1")
	s.Set("remuda-1", "runner/0/r.tar.gz", []byte("the runner"))
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3": s.URL, "AWS_REGION": "eu-west-1", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": awstest.AccessKey, "AWS_SECRET_ACCESS_KEY": awstest.SecretKey,
	} {
		t.Setenv(name, value)
	}
	body, err := object(t.Context(), "s3://remuda-1/runner/0/r.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil || string(text) != "the runner" {
		t.Errorf("object = %q, %v", text, err)
	}
	if _, err := object(t.Context(), "s3://remuda-1/runner/1/r.tar.gz"); !errors.Is(err, githubapi.ErrRefused) || !strings.Contains(err.Error(), "s3:GetObject on bucket remuda-1/runner/1/r.tar.gz: not found") {
		t.Errorf("object that is not there = %v", err)
	}
	s.Allow(func(_, _, _ string) bool { return false })
	if _, err := object(t.Context(), "s3://remuda-1/runner/0/r.tar.gz"); !errors.Is(err, githubapi.ErrRefused) {
		t.Errorf("object that may not be read = %v", err)
	}
}
