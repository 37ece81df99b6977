package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// take opens a file, or fetches one, and holds it to its checksum. What is fetched has no name and goes with the process.
func take(ctx context.Context, s artifactSource) (_ *os.File, sum [32]byte, err error) {
	var f *os.File
	if remote(s.from) {
		f, err = fetched(ctx, s.from)
	} else {
		f, err = os.Open(s.from)
		if failed := (*os.PathError)(nil); errors.As(err, &failed) { // names what may be a URL with a typing error
			err = fmt.Errorf("open %s: %w", shownURL(s.from), failed.Err)
		}
	}
	if err != nil {
		return nil, sum, err
	}
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(f, maxFetch+1))
	hash.Sum(sum[:0])
	switch got := hex.EncodeToString(sum[:]); {
	case err != nil:
	case n > maxFetch:
		err = fmt.Errorf("%s has more than %d bytes", shownURL(s.from), int64(maxFetch))
	case s.sum != "" && got != s.sum:
		err = fmt.Errorf("%s has SHA-256 %s, want %s", shownURL(s.from), got, s.sum)
	}
	if err != nil {
		return nil, sum, errors.Join(err, f.Close())
	}
	return f, sum, nil
}

// shownURL is a text with a URL without credentials, and without a query, which may be a signature. Names of files stay.
func shownURL(raw string) string {
	shown := config.Redact(raw)
	if i := strings.IndexAny(shown, "?#"); i >= 0 && strings.Contains(shown, "://") {
		return shown[:i]
	}
	return shown
}

// nameIn is the name of a file, or of what is at the path of a URL: a query, such as a signature, is no part of it.
func nameIn(from string) string {
	if u, err := url.Parse(from); err == nil && remote(from) {
		from = u.Path
	}
	return path.Base(from)
}

// get asks for a URL and returns the body of its answer.
func get(ctx context.Context, from string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: no URL", shownURL(from))
	}
	resp, err := http.DefaultClient.Do(req)
	if failed := (*url.Error)(nil); errors.As(err, &failed) {
		err = failed.Err // without the URL, which may hold a signature
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", shownURL(from), err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("fetch %s: %s", shownURL(from), resp.Status), resp.Body.Close())
	}
	return resp.Body, nil
}

// nameless is a file for what is on its way to the bucket.
func nameless(from io.Reader) (*os.File, error) {
	f, err := os.CreateTemp("", "remuda-publish-")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = io.Copy(f, io.LimitReader(from, maxFetch+1))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func fetched(ctx context.Context, url string) (*os.File, error) {
	body, err := get(ctx, url)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	f, err := nameless(body)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", shownURL(url), err)
	}
	return f, nil
}

// unpackedProgram is the program in an archive of a release, or f, which is one.
func unpackedProgram(f *os.File, sum [32]byte, from string) (*os.File, [32]byte, error) {
	if !strings.HasSuffix(nameIn(from), ".tar.gz") {
		return f, sum, nil
	}
	defer f.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, sum, err
	}
	packed, err := gzip.NewReader(f)
	if err != nil {
		return nil, sum, fmt.Errorf("unpack %s: %w", shownURL(from), err)
	}
	for files := tar.NewReader(packed); ; {
		header, err := files.Next()
		if err != nil {
			return nil, sum, fmt.Errorf("unpack %s: find remuda: %w", shownURL(from), err)
		}
		if header.Typeflag != tar.TypeReg || path.Base(header.Name) != "remuda" {
			continue
		}
		program, err := nameless(files)
		if err != nil {
			return nil, sum, fmt.Errorf("unpack %s: %w", shownURL(from), err)
		}
		hash := sha256.New()
		if _, err := io.Copy(hash, program); err != nil {
			return nil, sum, errors.Join(err, program.Close())
		}
		hash.Sum(sum[:0])
		return program, sum, nil
	}
}

// releases is where this program's are.
const releases = "https://github.com/remuda-run/remuda/releases/download/"

// releasedForm is the version of a release, as the toolchain has it.
var releasedForm = lazyregexp.New(`^v([0-9]+\.[0-9]+\.[0-9]+)$`)

// released is the archive of a version of this program for an architecture, with the checksum that its release has.
func released(ctx context.Context, version, arch string) (s artifactSource, err error) {
	m := releasedForm().FindStringSubmatch(version)
	if m == nil {
		return s, fmt.Errorf("there is no release of version %s: give --program %s=FILE", version, arch)
	}
	name := "remuda_" + m[1] + "_linux_" + goArch[arch] + ".tar.gz"
	body, err := get(ctx, releases+version+"/SHA256SUMS")
	if err != nil {
		return s, err
	}
	defer body.Close()
	const most = 64 << 10 // a line has 100 bytes, a release a dozen files
	for lines := bufio.NewScanner(io.LimitReader(body, most)); lines.Scan(); {
		if sum, file, _ := strings.Cut(lines.Text(), " "); strings.TrimLeft(file, " *") == name {
			return artifactSource{releases + version + "/" + name, sum}, nil
		}
	}
	return s, fmt.Errorf("SHA256SUMS of release %s has no %s: give --program %s=FILE", version, name, arch)
}
