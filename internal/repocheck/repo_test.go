package repocheck_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write generated parts of documents")

// root is the module's folder, seen from this package's.
const root = "../.."

// read returns the text of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// files returns the paths of all files that are part of the repository and end so.
func files(t *testing.T, suffix string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && rel != "." && d.Name() != ".github"
		if d.IsDir() && (hidden || rel == "bin" || rel == "dist" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(rel, suffix) {
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatalf("files(%q) found none", suffix)
	}
	return out
}

// goList runs go list at the module's root and returns its output.
func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out
}

// section returns the lines of text below the first heading that reads so, up to the next of the same
// or a higher level.
func section(t *testing.T, text, heading string) []string {
	t.Helper()
	level := strings.Count(strings.SplitN(heading, " ", 2)[0], "#")
	var out []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		marks := len(line) - len(strings.TrimLeft(line, "#"))
		switch {
		case line == heading:
			inside = true
		case inside && marks > 0 && marks <= level && strings.HasPrefix(line[marks:], " "):
			return out
		case inside:
			out = append(out, line)
		}
	}
	if !inside {
		t.Fatalf("no heading %q", heading)
	}
	return out
}

// table returns the rows of the first Markdown table among lines, without its head.
func table(t *testing.T, lines []string) [][]string {
	t.Helper()
	var rows [][]string
	for _, line := range lines {
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("table has %d rows, want a head, a rule and more", len(rows))
	}
	return rows[2:]
}
