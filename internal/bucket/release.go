package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// ReleaseKey is the object that says what is published.
const ReleaseKey = "release.json"

// releaseSchema is the form of a Release. One that a reader of this schema would misread has another.
const releaseSchema = 1

// maxRelease bounds release.json, in bytes. One with two architectures has some 1,200.
const maxRelease = 64 << 10

// Release is what machines are to have: per architecture, in EC2's words, this program and the archive of the runner.
type Release struct {
	Schema  int                 `json:"schema"`
	Program map[string]Artifact `json:"program"`
	Runner  map[string]Artifact `json:"runner"`
}

// Artifact is an object that never changes: its checksum is in its key.
type Artifact struct {
	Key     string `json:"key"`
	SHA256  string `json:"sha256"` // 64 hexadecimal digits
	Version string `json:"version"`
}

// ErrNothingPublished says that a bucket has no release.json.
var ErrNothingPublished = errors.New("nothing is published there: run `remuda init --publish`")

// Release returns what is published, or ErrNothingPublished.
func (b *Bucket) Release(ctx context.Context) (Release, error) {
	r, _, err := b.release(ctx)
	return r, err
}

// release also returns the version of what it read, "" if there is nothing yet.
func (b *Bucket) release(ctx context.Context) (Release, string, error) {
	text, version, err := b.get(ctx, ReleaseKey, maxRelease)
	if errors.Is(err, errAbsent) {
		return Release{}, "", fmt.Errorf("%s: %w", b.URL(ReleaseKey), ErrNothingPublished)
	}
	if awserr.ClassOf(err) == awserr.Denied { // as S3 says it to who may not list the bucket, such as the controller
		err = fmt.Errorf("%w; so it is too if there is no such object: then run `remuda init --publish`", err)
	}
	if err != nil {
		return Release{}, "", err
	}
	r, err := parse(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", b.URL(ReleaseKey), err)
	}
	return r, version, err
}

// forms of an artifact. Keys have no character that is encoded in a URL (fleet/ec2fleet/userdata).
var (
	sumForm     = lazyregexp.New(`^[0-9a-f]{64}$`)
	nameForm    = lazyregexp.New(`^[A-Za-z0-9_~-][A-Za-z0-9_.~-]{0,199}$`)
	versionForm = lazyregexp.New(`^[A-Za-z0-9().+_-]{1,100}$`)
)

// parse reads a release and refuses one by which a machine could not be made. Keys that it does not know are a later
// version's.
func parse(text []byte) (Release, error) {
	var r Release
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("must be a release in JSON: %w", err)
	}
	if r.Schema != releaseSchema {
		return r, fmt.Errorf("schema: must be %d, got %d: published by another version of remuda", releaseSchema, r.Schema)
	}
	var errs []error
	for kind, artifacts := range r.kinds() {
		for _, arch := range slices.Sorted(maps.Keys(artifacts)) {
			if err := artifacts[arch].check(kind); err != nil {
				errs = append(errs, fmt.Errorf("%s.%s.%w", kind, arch, err))
			}
		}
	}
	return r, errors.Join(errs...)
}

// check reports what is wrong with an artifact of a kind, and names the field.
func (a Artifact) check(kind string) error {
	prefix := kind + "/" + a.SHA256 + "/"
	name, ok := strings.CutPrefix(a.Key, prefix)
	switch {
	case !sumForm().MatchString(a.SHA256):
		return fmt.Errorf("sha256: must be 64 hexadecimal digits, got %q", a.SHA256)
	case !ok || !nameForm().MatchString(name):
		return fmt.Errorf("key: must be %sNAME, got %q", prefix, a.Key)
	case !versionForm().MatchString(a.Version):
		return fmt.Errorf("version: must be 1 to 100 letters, digits and ().+_-, got %q", a.Version)
	}
	return nil
}

// Kinds of artifacts.
const (
	Program = "program"
	Runner  = "runner"
)

// kinds are the artifacts of r by their kind.
func (r Release) kinds() map[string]map[string]Artifact {
	return map[string]map[string]Artifact{Program: r.Program, Runner: r.Runner}
}

// announceTries is how often a release is written anew because another publisher was quicker.
const announceTries = 5

// Announce adds artifacts to what is published, in place of those of the same kind and architecture. Two publishers do
// not undo each other's.
func (b *Bucket) Announce(ctx context.Context, add Release) error {
	for try := 1; ; try++ {
		r, version, err := b.release(ctx)
		if err != nil && !errors.Is(err, ErrNothingPublished) {
			return err
		}
		r = r.with(add)
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return fmt.Errorf("encode release: %w", err)
		}
		err = b.put(ctx, ReleaseKey, bytes.NewReader(text), sha256.Sum256(text), &version)
		if !errors.Is(err, errChanged) || try == announceTries {
			return err
		}
	}
}

// with returns r and what is in add.
func (r Release) with(add Release) Release {
	out := Release{releaseSchema, maps.Clone(r.Program), maps.Clone(r.Runner)}
	if out.Program == nil {
		out.Program = map[string]Artifact{}
	}
	if out.Runner == nil {
		out.Runner = map[string]Artifact{}
	}
	maps.Copy(out.Program, add.Program)
	maps.Copy(out.Runner, add.Runner)
	return out
}

func encoded(sum [32]byte) string { return base64.StdEncoding.EncodeToString(sum[:]) }
