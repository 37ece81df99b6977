package bucket

import (
	"context"
	"fmt"
	"io"
)

// Upload puts a file under its checksum, unless it is there, and reports whether it had to; without apply, whether it would.
// What is there is what it should be: S3 has held it to the checksum. Nothing is deleted: machines of an older launch
// template, and a rollback, still need what was published before.
func (b *Bucket) Upload(ctx context.Context, kind, name, version string, f io.ReadSeeker, sum [32]byte, apply bool) (Artifact, bool, error) {
	a := Artifact{Key: kind + "/" + hexed(sum) + "/" + name, SHA256: hexed(sum), Version: version}
	if err := a.check(kind); err != nil {
		return a, false, fmt.Errorf("publish %s %s: %w", kind, name, err)
	}
	there, err := b.has(ctx, a.Key)
	if err != nil || there || !apply {
		return a, !there, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return a, false, fmt.Errorf("read %s: %w", name, err)
	}
	return a, true, b.put(ctx, a.Key, f, sum, nil)
}
