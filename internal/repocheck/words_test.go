package repocheck_test

import (
	"regexp"
	"strings"
	"testing"
)

// retiredWord is a word that is no longer used for something, because the field has another or one is enough.
type retiredWord struct {
	word    string // a regular expression of whole words; words inside an identifier count, case does not
	instead string
	except  *regexp.Regexp // files, by their whole names
}

// but names the files in which a word stays, beside accepted decisions and past changes, which are not edited, and these
// checks. Of documents only the prose counts, without code and blocks.
func but(files ...string) *regexp.Regexp {
	return regexp.MustCompile(`^(` + strings.Join(append(files, `docs/adr/.*`, `docs/changelog/.*`, `internal/repocheck/.*`), "|") + `)$`)
}

// retired is the one list of these words. What is retired here must be gone: its failure says what to write instead.
var retired = []retiredWord{
	// Keyrings are rings; a table of databases that exist has the word, and so have names of the simulation that draw latencies.
	{`rings?|rung|ringing`, "notify, notification", but(`internal/process/.*`, `e2e/contain/kernel_help_test\.go`,
		`store/sqlitestore/(statements|errors_test)\.go`, `e2e/sim/(gates|fault|coverage_test)\.go`)},
	{`(un)?heard|hears?`, "read, observe, silent, report", but()},
	{`brakes?|braked`, "circuit breaker", but()},
	{`foundlings?|strangers?`, "orphan machine, orphan runner", but()},
	{`bury|buried`, "finalize, end", but()},
	{`untold`, "unconfirmed", but()},
	{`weather`, "fault", but(`e2e/sim/random\.go`)}, // it draws faults by that name
	{`befalls?|harm(s|ed)?`, "fault, disturb, happens to", but()},
	{`hopeless`, "unsatisfiable", but()},
	{`excuses?|excused`, "hold the gate, exempt", but()},
	{`plant`, "backends", but(`e2e/sim/.*`, `docs/reliability\.md`, `internal/tools/.*`)}, // a planted bug is one
	{`in so many words`, "explicitly", but()},
	{`in vain`, "for nothing", but()},
	{`no fence`, "isolates nothing", but()},
	{`likewise`, "also, the same", but()},
	{`whoever`, "anyone who", but(`docs/bugs\.md`)}, // which quotes subjects of commits
}

var (
	span = regexp.MustCompile("`[^`\n]*`")
	hump = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// plain returns the text of a file in which words are looked for, with its lines in place.
func plain(file, text string) string {
	if strings.HasSuffix(file, ".md") {
		text = fence.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
		return span.ReplaceAllString(text, "")
	}
	return hump.ReplaceAllString(strings.ReplaceAll(text, "_", " "), "$1 $2")
}

func TestWords_Retired(t *testing.T) {
	texts := map[string]string{}
	for _, kind := range []string{".md", ".go", ".ts"} {
		for _, file := range files(t, kind) {
			texts[file] = plain(file, read(t, file))
		}
	}
	for _, r := range retired {
		word := regexp.MustCompile(`(?i)\b(` + r.word + `)\b`)
		for file, text := range texts {
			if r.except.MatchString(file) {
				continue
			}
			for _, at := range word.FindAllStringIndex(text, -1) {
				t.Errorf("%s:%d: %q is retired; say: %s", file, 1+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], r.instead)
			}
		}
	}
}

// A word of the glossary is explained once there, and used in the documents: else nobody needs it explained.
func TestGlossary_WordsAreUsed(t *testing.T) {
	defined := regexp.MustCompile(`(?m)^\| \*\*(.+?)\*\* \|`)
	var elsewhere strings.Builder
	for _, file := range files(t, ".md") {
		if file != "docs/glossary.md" && !strings.HasPrefix(file, "docs/changelog/") {
			elsewhere.WriteString(strings.ToLower(read(t, file)))
		}
	}
	seen := map[string]bool{}
	for _, m := range defined.FindAllStringSubmatch(read(t, "docs/glossary.md"), -1) {
		word := m[1]
		if seen[word] {
			t.Errorf("docs/glossary.md: %s is explained twice", word)
		}
		seen[word] = true
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(word)).MatchString(elsewhere.String()) {
			t.Errorf("docs/glossary.md: %s is used in no other document", word)
		}
	}
	if len(seen) < 25 {
		t.Errorf("docs/glossary.md explains %d words", len(seen))
	}
}

// The index of the documents has them all.
func TestDocs_IndexIsComplete(t *testing.T) {
	index := read(t, "docs/README.md")
	for _, file := range files(t, ".md") {
		if name, ok := strings.CutPrefix(file, "docs/"); ok && !strings.Contains(name, "/") && name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}
