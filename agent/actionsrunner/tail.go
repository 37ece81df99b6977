package actionsrunner

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

const (
	chunk     = 32 << 10 // bytes read at once
	maxLine   = 4 << 10  // bytes; the rest of a longer line is dropped
	lastLines = 20       // lines kept for people
	tailBytes = 1500     // bytes of them; fits store.MaxDetail
)

// maxLog bounds the listener's output, in bytes. It prints two lines per job; one that prints this
// much is out of order.
const maxLog = 4 << 20

// errMuch says that a file is longer than maxLog. What is beyond is not read.
var errMuch = errors.New("actions runner: too much output")

// tail reads a growing file line by line.
type tail struct {
	file *os.File
	at   int64
	buf  []byte
	rest []byte // a line that has not ended yet
	seen []string
}

// openTail begins to read path at its start.
func openTail(path string) (*tail, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &tail{file: f, buf: make([]byte, chunk)}, nil
}

func (t *tail) close() { _ = t.file.Close() } // it was only read

// next calls yield for every whole line written since the last call.
func (t *tail) next(yield func(line string)) error {
	for t.at <= maxLog {
		n, err := t.file.ReadAt(t.buf, t.at)
		t.at += int64(n)
		t.take(t.buf[:n], yield)
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return errMuch
}

// finish is next for a file that grows no more: its last line may lack an end.
func (t *tail) finish(yield func(line string)) error {
	err := t.next(yield)
	if len(t.rest) > 0 {
		t.take([]byte{'\n'}, yield)
	}
	return err
}

func (t *tail) take(b []byte, yield func(line string)) {
	for {
		part, after, ended := bytes.Cut(b, []byte{'\n'})
		t.rest = append(t.rest, part[:min(len(part), maxLine-len(t.rest))]...)
		if !ended {
			return
		}
		line := strings.TrimRight(string(t.rest), "\r")
		t.rest = t.rest[:0]
		t.seen = append(t.seen, line)
		if len(t.seen) > lastLines {
			t.seen = append(t.seen[:0], t.seen[1:]...)
		}
		yield(line)
		b = after
	}
}

// last returns the end of what was read, for people, with *** in place of each secret. A part of one
// where a line was cut is one too.
func (t *tail) last(secrets ...string) string {
	seen := slices.Clone(t.seen)
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		for i, line := range seen {
			line = strings.ReplaceAll(line, secret, "***")
			for n := len(secret) - 1; n > 0 && len(t.seen[i]) == maxLine; n-- {
				line = strings.TrimSuffix(line, secret[:n])
			}
			seen[i] = line
		}
	}
	text := strings.TrimSpace(strings.Join(seen, "\n"))
	if len(text) > tailBytes {
		text = text[len(text)-tailBytes:]
		if _, whole, ok := strings.Cut(text, "\n"); ok { // skip a partial line: it may be the rest of a secret, which no mask detects
			text = whole
		}
	}
	return strings.ToValidUTF8(text, "")
}
