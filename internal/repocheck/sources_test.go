package repocheck_test

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	document   = regexp.MustCompile(`[A-Za-z0-9_./:*-]*[A-Za-z0-9_]\.md\b`)
	paragraph  = regexp.MustCompile(`§|\b[Ii]ssue #?\d+\b`)
	goalID     = regexp.MustCompile(`\bG(\d{1,2})\b`)
	decisionID = regexp.MustCompile(`\bADR (\d{4})\b`)
	invariant  = regexp.MustCompile(`\b[Ii]nvariants? (\d{1,2})\b`)
)

// cites are the kinds of files that may cite something.
var cites = []string{".go", ".md", ".ts", ".mjs", ".patch", ".txt", ".txtar", ".yml", ".json", ".service", "Makefile"}

// Whoever reads a file here can look up whatever it rests on: nothing cites a text that is not in the repository.
func TestSources_AreInTheRepository(t *testing.T) {
	goals, decisions := read(t, "docs/goals.md"), read(t, "docs/adr/README.md")
	invariants := strings.Join(section(t, read(t, "docs/architecture.md"), "## Invariants"), "\n")
	for _, kind := range cites {
		for _, file := range files(t, kind) {
			if strings.HasPrefix(file, "internal/tools/") || strings.HasPrefix(file, "internal/repocheck/") || strings.HasSuffix(file, "package-lock.json") {
				continue // their tests write documents of their own
			}
			text := read(t, file)
			if kind == ".md" {
				text = fence.ReplaceAllString(text, "")
			}
			for _, name := range document.FindAllString(text, -1) {
				if !strings.ContainsAny(name, ":*") && !exists(path.Join(path.Dir(file), name)) && !exists(name) && !exists("docs/"+name) {
					t.Errorf("%s: cites %s, which is not in the repository", file, name)
				}
			}
			if found := paragraph.FindString(text); found != "" {
				t.Errorf("%s: cites %q, and no document here has that", file, found)
			}
			for _, m := range goalID.FindAllStringSubmatch(text, -1) {
				if !strings.Contains(goals, "\n| G"+m[1]+" |") {
					t.Errorf("%s: cites G%s, which docs/goals.md does not have", file, m[1])
				}
			}
			for _, m := range decisionID.FindAllStringSubmatch(text, -1) {
				if !strings.Contains(decisions, "["+m[1]+"]") {
					t.Errorf("%s: cites ADR %s, which docs/adr does not have", file, m[1])
				}
			}
			for _, m := range invariant.FindAllStringSubmatch(text, -1) {
				if n, err := strconv.Atoi(m[1]); err != nil || !strings.Contains(invariants, "\n"+strconv.Itoa(n)+". ") {
					t.Errorf("%s: cites invariant %s, which docs/architecture.md does not have", file, m[1])
				}
			}
		}
	}
}
