// Package leak looks for secrets where none may be.
package leak

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Secrets are what nobody else may see, each with a name for people. It is safe for concurrent use.
type Secrets struct {
	mu  sync.Mutex
	all map[string]string // name by secret
}

// Add makes a secret known. Of one with several lines each long one is a secret: a part is as good.
func (s *Secrets) Add(name, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]string{}
	}
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= 9 && !strings.HasPrefix(line, "-----") {
			s.all[line] = name
		}
	}
}

// Names returns the names of all.
func (s *Secrets) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Compact(slices.Sorted(maps.Values(s.all)))
}

// In returns the names of those that text holds.
func (s *Secrets) In(text []byte) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for secret, name := range s.all {
		if bytes.Contains(text, []byte(secret)) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// All returns them.
func (s *Secrets) All() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.all))
}

// Files looks into every file below dir but those that skip accepts, and returns the names of what it
// found by file, and how many files it looked into. Files may come and go meanwhile.
func (s *Secrets) Files(dir string, skip func(path string) bool) (found map[string][]string, looked int, err error) {
	found = map[string][]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() || skip(path) {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		looked++
		if names := s.In(text); len(names) > 0 {
			found[path] = names
		}
		return err
	})
	return found, looked, err
}

// CommandLines are those of every process of this computer that lived while somebody looked.
type CommandLines struct {
	mu   sync.Mutex
	seen map[string]bool
}

// Watch looks until ctx ends, as often as it can afford: programs that register live for some milliseconds.
func (c *CommandLines) Watch(ctx context.Context) {
	for ctx.Err() == nil {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				continue // it has ended
			}
			c.mu.Lock()
			if c.seen == nil {
				c.seen = map[string]bool{}
			}
			c.seen[string(text)] = true
			c.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Seen returns them, arguments separated by NUL.
func (c *CommandLines) Seen() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.seen))
}

// Innocent wants the program that registers among them, and no secret in any but one of these names.
func (c *CommandLines) Innocent(t testing.TB, s *Secrets, except ...string) {
	t.Helper()
	runner := false
	for _, line := range c.Seen() {
		runner = runner || strings.Contains(line, "Runner.Listener") || strings.Contains(line, "simrunner")
		found := slices.DeleteFunc(s.In([]byte(line)), func(name string) bool { return slices.Contains(except, name) })
		if len(found) > 0 {
			t.Errorf("a command line holds the %s: %.80q…", strings.Join(found, ", "), line)
		}
	}
	if !runner {
		t.Error("no command line of the runner was seen")
	}
}
