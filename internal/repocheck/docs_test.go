package repocheck_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	docLink  = regexp.MustCompile(`docs/[a-z0-9/-]+\.md(#[a-z0-9-]+)?`)
	filePath = regexp.MustCompile("`((?:[a-z0-9_.*-]+/)+[a-z0-9_.*-]*|[A-Za-z0-9._-]+\\.(?:md|yml|mod))`")
	target   = regexp.MustCompile("`make ([a-z0-9-]+)")
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fence    = regexp.MustCompile("(?s)```.*?```")
)

// anchors returns what a link may point to inside a document, as GitHub forms it from the headings.
func anchors(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		out = append(out, slug)
	}
	return out
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

// checkLink reports a link from file to another place of the repository that is not there.
func checkLink(t *testing.T, file, to string) {
	t.Helper()
	name, anchor, _ := strings.Cut(to, "#")
	if name == "" {
		name = file
	}
	if !exists(name) {
		t.Errorf("%s: %s does not exist", file, to)
		return
	}
	if anchor != "" && !slices.Contains(anchors(read(t, name)), anchor) {
		t.Errorf("%s: %s has no heading #%s", file, name, anchor)
	}
}

func TestDocs_LinksLeadSomewhere(t *testing.T) {
	for _, file := range files(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(fence.ReplaceAllString(read(t, file), ""), -1) {
			switch to := m[1]; {
			case strings.Contains(to, "://"):
			case strings.HasPrefix(to, "#"):
				checkLink(t, file, to)
			default:
				checkLink(t, file, path.Join(path.Dir(file), to))
			}
		}
	}
}

// Package comments and the linter's configuration point to documents, too.
func TestDocs_CodePointsToSections(t *testing.T) {
	n := 0
	for _, file := range append(files(t, ".go"), "Makefile", ".golangci.yml", "tools/go.mod") {
		for _, to := range docLink.FindAllString(read(t, file), -1) {
			if !strings.HasPrefix(file, "internal/tools/") { // its tests write documents of their own
				checkLink(t, file, to)
				n++
			}
		}
	}
	if n == 0 {
		t.Error("no Go file points to a document, want the package comments to")
	}
}

// topLevel are the folders whose paths a document writes in back quotes.
var topLevel = []string{".ci", ".github", "agent", "cmd", "docs", "e2e", "fleet", "internal", "pool", "reconciler", "statemachine", "store", "tools"}

func TestDocs_NameFilesThatExist(t *testing.T) {
	for _, file := range files(t, ".md") {
		for _, m := range filePath.FindAllStringSubmatch(fence.ReplaceAllString(read(t, file), ""), -1) {
			name := strings.TrimSuffix(m[1], "...")
			if first, _, found := strings.Cut(name, "/"); found && !slices.Contains(topLevel, first) {
				continue // a path elsewhere, such as a package of another module
			}
			matches, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name)))
			if err != nil || len(matches) == 0 {
				t.Errorf("%s: `%s` does not exist", file, m[1])
			}
		}
	}
}

func TestDocs_NameTargetsThatExist(t *testing.T) {
	makefile := "\n" + read(t, "Makefile")
	for _, file := range files(t, ".md") {
		for _, m := range target.FindAllStringSubmatch(read(t, file), -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: `make %s` has no target", file, m[1])
			}
		}
	}
}

// The documents speak of the project alone: no path of anybody's machine.
func TestDocs_NoPathsOfAMachine(t *testing.T) {
	private := regexp.MustCompile(`/(home|root|Users)/[a-z]`)
	for _, suffix := range []string{".md", ".go", ".yml"} {
		for _, file := range files(t, suffix) {
			if found := private.FindString(read(t, file)); found != "" {
				t.Errorf("%s: names %s…", file, found)
			}
		}
	}
}

// A decision has its three parts on one page, and a number of its own.
func TestADR_Form(t *testing.T) {
	numbered := regexp.MustCompile(`^docs/adr/(\d{4})-[a-z0-9-]+\.md$`)
	last := 0
	for _, file := range files(t, ".md") {
		m := numbered.FindStringSubmatch(file)
		if m == nil {
			if strings.HasPrefix(file, "docs/adr/") && file != "docs/adr/README.md" {
				t.Errorf("%s: want NNNN-title.md", file)
			}
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		if n != last+1 {
			t.Errorf("%s: want number %04d", file, last+1)
		}
		last = n
		text := read(t, file)
		for _, part := range []string{"## Context", "## Decision", "## Consequences"} {
			section(t, text, part)
		}
		if lines := strings.Count(text, "\n"); lines > 60 {
			t.Errorf("%s: %d lines, want one page of at most 60", file, lines)
		}
		if !strings.Contains(read(t, "docs/adr/README.md"), "("+path.Base(file)+")") {
			t.Errorf("docs/adr/README.md does not list %s", path.Base(file))
		}
	}
}

// A change is one file: its kind, one line for users, a paragraph.
func TestChangelog_Form(t *testing.T) {
	form := regexp.MustCompile(`^(Added|Changed|Fixed|Removed|Security): \S.{9,98}[^.\n]\n\n\S`)
	for _, file := range files(t, ".md") {
		if strings.HasPrefix(file, "docs/changelog/unreleased/") && !form.MatchString(read(t, file)) {
			t.Errorf("%s: want \"Kind: one line of 11 to 100 characters, no stop\", an empty line and a paragraph", file)
		}
	}
}

func TestContributing_IsShort(t *testing.T) {
	const most = 88 // two pages, of which the table of packages takes most and grows by a line with each
	for _, file := range []string{"CONTRIBUTING.md", "AGENTS.md"} {
		if lines := strings.Count(read(t, file), "\n"); lines > most {
			t.Errorf("%s: %d lines, want at most %d", file, lines, most)
		}
	}
}
