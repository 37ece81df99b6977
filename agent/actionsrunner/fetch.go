//go:build unix

package actionsrunner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v4"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/logkey"
)

// ErrChecksum says that the archive of the runner is not the one that was configured (H50).
var ErrChecksum = errors.New("actions runner: wrong checksum")

// Archive is one version of the runner program, as GitHub publishes it: a .tar.gz.
type Archive struct {
	URL       string // http or https, or s3 if there is S3
	SHA256    string // 64 hexadecimal digits
	Cache     string // folder that keeps archives by checksum; agents of one computer may share it
	Clock     clock.WithTicker
	Log       *slog.Logger
	S3        func(ctx context.Context, url string) (io.ReadCloser, error) // opens s3://bucket/key; its error wraps githubapi.ErrRefused if trying again is of no use
	OnFailure func(error)                                                  // is given why a download failed that will be tried again; nil: only the log says so
}

// maxArchive bounds an archive, in bytes: those of version 2.336.0 have some 200 MB.
const maxArchive = 2 << 30

// fetchLimit bounds one download: 1 MB/s for an archive of today. fetchFirst and fetchMax bound the
// pause between two: a release server that is busy or away is not helped by haste.
const (
	fetchLimit = 5 * time.Minute
	fetchFirst = time.Second
	fetchMax   = 30 * time.Second
)

// Unpack puts the program into dir, which must be empty. It fetches the archive unless the cache has
// it, again and again while that may help; nothing of an archive is unpacked before its checksum was
// found right. Errors wrap githubapi.ErrRefused, or githubapi.ErrUnavailable if ctx ended before the
// server answered as it should; a wrong checksum is ErrChecksum besides.
func (a Archive) Unpack(ctx context.Context, dir string) error {
	f, err := a.open(ctx)
	if err == nil {
		defer f.Close()
		err = unpack(f, dir)
	}
	if err != nil {
		return fmt.Errorf("runner program %s: %w", shown(a.URL), err)
	}
	return nil
}

// shown is a URL without what may be a signature.
func shown(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "(no URL)"
	}
	u.RawQuery, u.Fragment = "", ""
	return u.Redacted()
}

// open returns the verified archive, read from its start.
func (a Archive) open(ctx context.Context) (*os.File, error) {
	if err := os.MkdirAll(a.Cache, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(a.Cache, strings.ToLower(a.SHA256)+".tar.gz")
	unlock, err := a.lock(ctx, path+".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	f, err := a.verified(path)
	if err == nil || !errors.Is(err, os.ErrNotExist) && !errors.Is(err, ErrChecksum) {
		return f, err
	}
	var why error // of the last try that ctx did not cut short: it says more than the end of ctx
	try := func() error {
		err := a.fetch(ctx, path)
		if ctx.Err() == nil {
			why = err
		}
		return err
	}
	again := func(err error, wait time.Duration) {
		if a.OnFailure != nil {
			a.OnFailure(err)
		}
		a.Log.Warn("the runner program could not be fetched; it is tried again", logkey.Error, err, logkey.Seconds, wait.Seconds())
	}
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(fetchFirst), backoff.WithMaxInterval(fetchMax), backoff.WithMaxElapsedTime(0))
	began := a.Clock.Now()
	if err := backoff.RetryNotifyWithTimer(try, backoff.WithContext(pause, ctx), again, &timer{clock: a.Clock}); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", githubapi.ErrUnavailable, errors.Join(err, why))
		}
		return nil, err
	}
	a.Log.Info("runner program fetched", logkey.Seconds, a.Clock.Since(began).Seconds())
	return a.verified(path)
}

// lock keeps other agents of the computer from fetching the same archive, until unlock.
func (a Archive) lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil // that ends the lock
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%w: another agent fetches it: %w", githubapi.ErrUnavailable, context.Cause(ctx)), f.Close())
		case <-a.Clock.After(lookOnline):
		}
	}
}

// verified opens a file and returns it at its start, if its checksum is right; else it is removed.
func (a Archive) verified(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	if err == nil {
		err = a.compare(sum.Sum(nil))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return f, nil
}

func (a Archive) compare(sum []byte) error {
	if got := hex.EncodeToString(sum); !strings.EqualFold(got, a.SHA256) {
		return fmt.Errorf("%w: %w: SHA-256 is %s, want %s (agent.runnerSha256)", githubapi.ErrRefused, ErrChecksum, got, strings.ToLower(a.SHA256))
	}
	return nil
}

// fetch downloads the archive once. What trying again cannot cure is backoff.Permanent.
func (a Archive) fetch(ctx context.Context, path string) (err error) {
	if strings.HasPrefix(a.URL, "s3://") && a.S3 != nil {
		ctx, cancel := context.WithTimeout(ctx, fetchLimit)
		defer cancel()
		body, err := a.S3(ctx, a.URL)
		switch {
		case errors.Is(err, githubapi.ErrRefused):
			return backoff.Permanent(err)
		case err != nil:
			return fmt.Errorf("%w: %w", githubapi.ErrUnavailable, err)
		}
		defer body.Close()
		return a.keep(path, body)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() // documented to be one
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: fetchLimit}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL, nil)
	if err != nil {
		return backoff.Permanent(fmt.Errorf("%w: %w", githubapi.ErrRefused, err))
	}
	resp, err := client.Do(req)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) { // its text repeats the URL
			err = at.Err
		}
		return fmt.Errorf("%w: %w", githubapi.ErrUnavailable, err)
	}
	defer resp.Body.Close()
	switch status := resp.StatusCode; {
	case status == http.StatusOK:
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return fmt.Errorf("%w: the server answers %s", githubapi.ErrUnavailable, resp.Status)
	default:
		return backoff.Permanent(fmt.Errorf("%w: the server answers %s (agent.runnerUrl)", githubapi.ErrRefused, resp.Status))
	}
	return a.keep(path, resp.Body)
}

// keep writes what is delivered to path, if it has the checksum.
func (a Archive) keep(path string, body io.Reader) error {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return backoff.Permanent(err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), io.LimitReader(body, maxArchive+1))
	if cerr := f.Close(); err != nil {
		return fmt.Errorf("%w: %w", githubapi.ErrUnavailable, err)
	} else if cerr != nil {
		return backoff.Permanent(cerr)
	}
	if n > maxArchive {
		return backoff.Permanent(errors.Join(fmt.Errorf("%w: longer than %d MiB", githubapi.ErrRefused, maxArchive>>20), os.Remove(part)))
	}
	if err := a.compare(sum.Sum(nil)); err != nil {
		return backoff.Permanent(errors.Join(err, os.Remove(part)))
	}
	return backoff.Permanent(os.Rename(part, path))
}

// timer makes the pauses of package backoff follow a clock.
type timer struct {
	clock clock.WithTicker
	clock.Timer
}

// Start implements backoff.Timer.
func (t *timer) Start(d time.Duration) { t.Stop(); t.Timer = t.clock.NewTimer(d) }

// Stop implements backoff.Timer.
func (t *timer) Stop() {
	if t.Timer != nil {
		t.Timer.Stop()
	}
}
