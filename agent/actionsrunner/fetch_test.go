//go:build unix

package actionsrunner_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/internal/githubapi"
)

// hasty waits a thousandth of what it is asked to.
type hasty struct{ clock.RealClock }

func (h hasty) NewTimer(d time.Duration) clock.Timer   { return h.RealClock.NewTimer(d / 1000) }
func (h hasty) After(d time.Duration) <-chan time.Time { return h.RealClock.After(d / 1000) }

// packed makes a .tar.gz.
func packed(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(h.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// likeTheRunner has what the archive of the runner has (its layout: bin, externals with links).
func likeTheRunner(t *testing.T) []byte {
	return packed(t,
		tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755},
		tar.Header{Name: "./bin/", Typeflag: tar.TypeDir, Mode: 0o555},
		tar.Header{Name: "./bin/Runner.Listener", Typeflag: tar.TypeReg, Mode: 0o4755},
		tar.Header{Name: "./config.sh", Typeflag: tar.TypeReg, Mode: 0o755},
		tar.Header{Name: "./externals/node24/lib/npm-cli.js", Typeflag: tar.TypeReg, Mode: 0o644},
		tar.Header{Name: "./externals/node24/bin/npm", Typeflag: tar.TypeSymlink, Linkname: "../lib/npm-cli.js"},
		tar.Header{Name: "./externals/node24/bin/same", Typeflag: tar.TypeLink, Linkname: "externals/node24/lib/npm-cli.js"},
	)
}

// release serves an archive after some refusals, and counts requests.
func release(t *testing.T, content []byte, refusals ...int) (archive actionsrunner.Archive, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := int(requests.Add(1))
		switch {
		case n > len(refusals):
			_, _ = w.Write(content)
		case refusals[n-1] == 0: // breaks off
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write([]byte("x"))
		default:
			w.WriteHeader(refusals[n-1])
		}
	}))
	t.Cleanup(s.Close)
	return actionsrunner.Archive{
		URL: s.URL + "/runner.tar.gz?signature=hush", SHA256: fmt.Sprintf("%X", sha256.Sum256(content)), Cache: filepath.Join(t.TempDir(), "cache"),
		Clock: hasty{}, Log: slog.New(slog.DiscardHandler),
	}, requests
}

// H50: the archive is fetched once, though servers fail, verified, unpacked with its links and without
// set-id bits, and kept: another agent needs no network. What the cache was spoilt to is fetched anew.
func TestArchive_Unpack_H50(t *testing.T) {
	content := likeTheRunner(t)
	a, requests := release(t, content, http.StatusServiceUnavailable, 0, http.StatusTooManyRequests)
	var group sync.WaitGroup
	for range 3 { // agents of one computer
		dir := t.TempDir()
		group.Go(func() {
			if err := a.Unpack(t.Context(), dir); err != nil {
				t.Errorf("Unpack = %v", err)
				return
			}
			info, err := os.Stat(filepath.Join(dir, "bin/Runner.Listener"))
			if err != nil || info.Mode() != 0o755 {
				t.Errorf("bin/Runner.Listener = %v, %v, want a program without set-id bit", info, err)
			}
			for _, link := range []string{"npm", "same"} {
				if b, err := os.ReadFile(filepath.Join(dir, "externals/node24/bin", link)); err != nil || len(b) == 0 {
					t.Errorf("%s = %q, %v, want the file it links to", link, b, err)
				}
			}
		})
	}
	group.Wait()
	if got := requests.Load(); got != 4 {
		t.Errorf("%d requests, want 3 that fail and 1", got)
	}
	cached := filepath.Join(a.Cache, fmt.Sprintf("%x.tar.gz", sha256.Sum256(content)))
	if err := os.WriteFile(cached, []byte("spoilt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.Unpack(t.Context(), t.TempDir()); err != nil || requests.Load() != 5 {
		t.Errorf("Unpack with a spoilt cache = %v after %d requests, want 5", err, requests.Load())
	}
}

// H50: a wrong checksum is final, says so, and leaves nothing unpacked or cached.
func TestArchive_WrongChecksum_H50(t *testing.T) {
	a, requests := release(t, likeTheRunner(t))
	a.SHA256 = strings.Repeat("0", 64)
	dir := t.TempDir()
	err := a.Unpack(t.Context(), dir)
	if !errors.Is(err, actionsrunner.ErrChecksum) || !errors.Is(err, githubapi.ErrRefused) || !strings.Contains(err.Error(), "want 0000") {
		t.Errorf("Unpack = %v, want ErrChecksum, refused", err)
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("Unpack = %v, which shows the query of the URL", err)
	}
	left, _ := filepath.Glob(filepath.Join(a.Cache, "*.tar.gz*"))
	if unpacked, err := os.ReadDir(dir); err != nil || len(unpacked) > 0 || len(left) > 1 || requests.Load() != 1 {
		t.Errorf("unpacked %v, cached %v, %d requests, want nothing but a lock after 1", unpacked, left, requests.Load())
	}
}

func TestArchive_Refusals(t *testing.T) {
	a, requests := release(t, likeTheRunner(t), http.StatusNotFound)
	if err := a.Unpack(t.Context(), t.TempDir()); !errors.Is(err, githubapi.ErrRefused) || requests.Load() != 1 {
		t.Errorf("Unpack of what is not there = %v after %d requests, want refused after 1", err, requests.Load())
	}
	a.URL = "http://127.0.0.1:1/runner.tar.gz?signature=hush"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a.OnFailure = func(error) { cancel() } // after one try
	err := a.Unpack(ctx, t.TempDir())
	if !errors.Is(err, githubapi.ErrUnavailable) || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "hush") {
		t.Errorf("Unpack from nowhere = %v, want unavailable, and why, without the query", err)
	}
}

// The end of ctx in the middle of a try hides no reason: that of the try before is in the error.
func TestArchive_EndsInTheMiddleOfATry(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tries := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries == 2 {
			cancel()
			<-r.Context().Done()
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(s.Close)
	a, _ := release(t, nil)
	a.URL = s.URL
	if err := a.Unpack(ctx, t.TempDir()); !errors.Is(err, githubapi.ErrUnavailable) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "502 Bad Gateway") {
		t.Errorf("Unpack = %v, want that it was called off, and what the server answered before", err)
	}
}

// Nothing is written outside, and nothing that is neither file, folder nor link inside.
func TestArchive_Escapes(t *testing.T) {
	reg := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644} }
	link := func(name, to string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: to}
	}
	for name, headers := range map[string][]tar.Header{
		"Up":           {reg("../evil")},
		"UpInside":     {reg("bin/../../evil")},
		"Absolute":     {reg("/evil")},
		"LinkUp":       {link("bin/x", "../../evil")},
		"LinkAbsolute": {link("x", "/etc/passwd")},
		"ThroughLink":  {link("a", "b"), link("b", "."), {Name: "a/../c", Typeflag: tar.TypeSymlink, Linkname: "../evil"}},
		"HardLinkUp":   {{Name: "x", Typeflag: tar.TypeLink, Linkname: "../evil"}},
		"Device":       {{Name: "x", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}},
		"Pipe":         {{Name: "x", Typeflag: tar.TypeFifo}},
		"Twice":        {reg("x"), reg("x")},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "in")
			if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(top, "evil"), []byte("untouched"), 0o644)); err != nil {
				t.Fatal(err)
			}
			a, _ := release(t, packed(t, headers...))
			if err := a.Unpack(t.Context(), dir); err == nil {
				t.Error("Unpack = nil, want an error")
			}
			if b, err := os.ReadFile(filepath.Join(top, "evil")); err != nil || string(b) != "untouched" {
				t.Errorf("the file outside is %q, %v", b, err)
			}
			if out, err := os.ReadDir(top); err != nil || len(out) != 2 {
				t.Errorf("outside are %v, %v", out, err)
			}
		})
	}
	a, _ := release(t, []byte("no archive"))
	if err := a.Unpack(t.Context(), t.TempDir()); err == nil {
		t.Error("Unpack of something else = nil, want an error")
	}
}

// From a bucket an archive is fetched as from elsewhere: tried again while that helps, and held to its checksum.
func TestUnpack_S3(t *testing.T) {
	content := likeTheRunner(t)
	for name, tt := range map[string]struct {
		sum  [32]byte
		err  error // of the first try
		want error
	}{
		"Good":    {sha256.Sum256(content), nil, nil},
		"Busy":    {sha256.Sum256(content), errors.New("busy"), nil},
		"Refused": {sha256.Sum256(content), githubapi.ErrRefused, githubapi.ErrRefused},
		"Other":   {sha256.Sum256(nil), nil, actionsrunner.ErrChecksum},
	} {
		tries := 0
		a := actionsrunner.Archive{
			URL: "s3://remuda-1/runner/r.tar.gz", SHA256: fmt.Sprintf("%x", tt.sum), Cache: t.TempDir(), Clock: hasty{}, Log: slog.New(slog.DiscardHandler),
			S3: func(_ context.Context, url string) (io.ReadCloser, error) {
				if tries++; url != "s3://remuda-1/runner/r.tar.gz" {
					t.Errorf("asked for %s", url)
				}
				if tries == 1 && tt.err != nil {
					return nil, tt.err
				}
				return io.NopCloser(bytes.NewReader(content)), nil
			},
		}
		if err := a.Unpack(t.Context(), t.TempDir()); !errors.Is(err, tt.want) || tt.want == nil && err != nil || tries > 2 {
			t.Errorf("%s: Unpack = %v after %d tries, want %v", name, err, tries, tt.want)
		}
	}
}
