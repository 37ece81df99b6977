package githubsim_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/awstest"
)

// The package of npm with GitHub's OpenAPI description, and the hash of its archive as npm writes it.
const (
	openapiPackage = "@octokit/openapi@23.0.2"
	openapiHash    = "pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg=="
)

// openapiFiles are those of it that are kept: github.com's, and what that has for an enterprise in addition.
var openapiFiles = []string{"api.github.com.json", "ghec.json"}

// openapiLimit bounds the download of 29 MB. Measured: 1 s; a slow line or a busy machine takes many times as long.
const openapiLimit = 5 * time.Minute

// openapiFolder returns a folder that holds openapiFiles. It is kept: its name says what is in it.
func openapiFolder(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	check(t, err)
	_, version, _ := strings.Cut(openapiPackage[1:], "@")
	dir := filepath.Join(cache, "remuda", "openapi-"+version)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if _, err := exec.LookPath("npm"); err != nil {
		leaveOut(t, "npm is not installed")
	}
	check(t, os.MkdirAll(filepath.Dir(dir), 0o750))
	partial, err := os.MkdirTemp(filepath.Dir(dir), "openapi-partial-") //nolint:usetesting // beside dir, since it becomes dir
	check(t, err)
	defer func() { check(t, os.RemoveAll(partial)) }()
	check(t, unpack(download(t), partial))
	if err := os.Rename(partial, dir); err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been faster
		t.Fatal(err)
	}
	return dir
}

// leaveOut skips the test, or fails it where nothing may be left out.
func leaveOut(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv(awstest.EnvRequire) == "1" {
		t.Fatal(reason)
	}
	_ = os.Getenv("REMUDA_TEST_RUN") // go test must not take this result from its cache
	t.Skipf("left out: GitHub's OpenAPI description: %s", reason)
}

// download returns the path of the package's archive.
func download(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), openapiLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", "--ignore-scripts", openapiPackage)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm pack %s: %v\n%s", openapiPackage, err, out)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(all) != 1 {
		t.Fatalf("npm pack %s made %v, %v, want one archive", openapiPackage, all, err)
	}
	return all[0]
}

// unpack writes openapiFiles of an archive with the right hash into a folder.
func unpack(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha512.New()
	if _, err := io.Copy(hash, f); err != nil {
		return err
	}
	if got := base64.StdEncoding.EncodeToString(hash.Sum(nil)); got != openapiHash {
		return fmt.Errorf("%s: hash is %s, want %s", openapiPackage, got, openapiHash)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	left := len(openapiFiles)
	for files := tar.NewReader(unzipped); left > 0; {
		head, err := files.Next()
		if err != nil {
			return fmt.Errorf("%s: %d of %v missing: %w", openapiPackage, left, openapiFiles, err)
		}
		for _, name := range openapiFiles {
			if head.Name == "package/generated/"+name {
				left--
				if err := write(filepath.Join(dir, name), files); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func write(path string, from io.Reader) error {
	raw, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}
