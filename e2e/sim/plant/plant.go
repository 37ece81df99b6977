// Package plant reads bugs kept as patches, and plants them in copies of the files they change.
//
// A patch is a unified diff below a header:
//
//	# H13: a lost reply counts as a lost race
//	# with seed=1 controllers=2 boot=10s
//	# at 0s run 100 count=2 jobs=2 job=5s
//	# fault controller/store.Put/Instance:idle>claimed/INSTANCE#i-00000000000000001 #1 lost-reply
//
// The first line names the hazard, the invariant or the commit that fixed the bug, and what is wrong. The others
// are the script of a story that shows it; without one, the campaigns must. A bug below what is simulated has instead
//
//	# killed by: ./fleet/ec2fleet TestFleet_KeepsTheContract
//
// the test that finds it, and counts in no rate.
package plant

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Bug is one patch.
type Bug struct {
	Path   string // of the patch
	ID     string // H13, or the commit of the fix
	Title  string
	Script string // lines of a script; "": none
	Files  []File

	// The unit test that finds a bug which no simulation can meet; "": none.
	Package, Test string
}

// exempt are the bugs that the campaigns are not expected to find: two are below what they simulate, and what the third
// does cannot be told from the program as it is.
var exempt = []string{"serial_saved_late", "first_page_only", "unprocessed_keys_absent"}

// Exempt reports whether the bug does not count in the rate of those found.
func (b Bug) Exempt() bool { return slices.Contains(exempt, b.Name()) }

// File is what a patch changes in one file.
type File struct {
	Path  string // in the repository
	Hunks []Hunk
}

// Hunk is one place that changes. Lines that stay are in both.
type Hunk struct{ Old, New []string }

// Name is the patch's file name without its ending.
func (b Bug) Name() string { return strings.TrimSuffix(filepath.Base(b.Path), ".patch") }

// All reads every patch of a folder, in the order of their names.
func All(dir string) ([]Bug, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil {
		return nil, fmt.Errorf("list patches: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("list patches: no *.patch in %s", dir)
	}
	var out []Bug
	for _, path := range paths {
		b, err := Read(path)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// Read reads one patch.
func Read(path string) (Bug, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Bug{}, fmt.Errorf("read patch: %w", err)
	}
	b, err := Parse(string(text))
	if err != nil {
		return Bug{}, fmt.Errorf("patch %s: %w", path, err)
	}
	b.Path = path
	return b, nil
}

// title is the form of the first line.
var title = regexp.MustCompile(`^# (H\d\d|invariant \d+|G\d+|ADR \d{4}|[0-9a-f]{7}): (\S.*)$`)

// killed is the form of the line that names a unit test.
var killed = regexp.MustCompile(`^# killed by: (\./[a-z0-9/]+) (Test\w+)$`)

// Parse reads a patch.
func Parse(text string) (Bug, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	m := title.FindStringSubmatch(lines[0])
	if m == nil {
		return Bug{}, fmt.Errorf("line 1: got %q, must be: # <H and two digits, invariant n, Gn, ADR nnnn or a commit>: <what is wrong>", lines[0])
	}
	b := Bug{ID: m[1], Title: m[2]}
	n := 1
	for ; n < len(lines) && strings.HasPrefix(lines[n], "# "); n++ {
		if m := killed.FindStringSubmatch(lines[n]); m != nil && b.Test == "" {
			b.Package, b.Test = m[1], m[2]
			continue
		}
		b.Script += strings.TrimPrefix(lines[n], "# ") + "\n"
	}
	if b.Test != "" && b.Script != "" {
		return Bug{}, errors.New("it has a unit test and a story, must have one of them")
	}
	for ; n < len(lines); n++ {
		line := lines[n]
		switch {
		case strings.HasPrefix(line, "--- a/"):
		case strings.HasPrefix(line, "+++ b/"):
			b.Files = append(b.Files, File{Path: strings.TrimPrefix(line, "+++ b/")})
		case strings.HasPrefix(line, "@@ ") && len(b.Files) > 0:
			f := &b.Files[len(b.Files)-1]
			f.Hunks = append(f.Hunks, Hunk{})
		default:
			if err := b.take(line); err != nil {
				return Bug{}, fmt.Errorf("line %d: %w", n+1, err)
			}
		}
	}
	if len(b.Files) == 0 {
		return Bug{}, errors.New("it changes no file: a line \"+++ b/<path>\" is missing")
	}
	return b, nil
}

// take adds a line to the last hunk.
func (b *Bug) take(line string) error {
	if len(b.Files) == 0 || len(b.Files[len(b.Files)-1].Hunks) == 0 || line == "" {
		return fmt.Errorf("got %q, must be a line of a unified diff", line)
	}
	hunks := b.Files[len(b.Files)-1].Hunks
	h := &hunks[len(hunks)-1]
	switch line[0] {
	case ' ':
		h.Old, h.New = append(h.Old, line[1:]), append(h.New, line[1:])
	case '-':
		h.Old = append(h.Old, line[1:])
	case '+':
		h.New = append(h.New, line[1:])
	default:
		return fmt.Errorf("got %q, must begin with a blank, + or -", line)
	}
	return nil
}

// Apply returns the changed files of a repository, by path. Line numbers do not count, so that a patch outlives
// changes elsewhere in a file: its old lines must be there exactly once.
func (b Bug) Apply(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, f := range b.Files {
		text, err := os.ReadFile(filepath.Join(root, f.Path))
		if err != nil {
			return nil, fmt.Errorf("patch %s no longer applies: %w", b.Path, err)
		}
		lines := strings.Split(string(text), "\n")
		for i, h := range f.Hunks {
			at := places(lines, h.Old)
			if len(at) != 1 {
				return nil, fmt.Errorf("patch %s no longer applies: hunk %d of %s is found %d times, must be once:\n%s",
					b.Path, i+1, f.Path, len(at), strings.Join(h.Old, "\n"))
			}
			lines = slices.Replace(lines, at[0], at[0]+len(h.Old), h.New...)
		}
		out[f.Path] = strings.Join(lines, "\n")
	}
	return out, nil
}

// places lists where block stands in lines.
func places(lines, block []string) []int {
	var out []int
	for i := 0; i+len(block) <= len(lines) && len(block) > 0; i++ {
		if slices.Equal(lines[i:i+len(block)], block) {
			out = append(out, i)
		}
	}
	return out
}
