package repocheck_test

import (
	"slices"
	"strings"
	"testing"
)

// documented returns the modules of a section of docs/dependencies.md.
func documented(t *testing.T, heading string) []string {
	t.Helper()
	var out []string
	for _, row := range table(t, section(t, read(t, "docs/dependencies.md"), heading)) {
		out = append(out, strings.Trim(row[0], "`"))
	}
	return out
}

// imported returns the packages of other modules among paths.
func imported(paths ...[]string) []string {
	out := slices.DeleteFunc(slices.Concat(paths...), func(p string) bool { return standard(p) || own(p) })
	slices.Sort(out)
	return slices.Compact(out)
}

func TestDependencies_AreDocumented(t *testing.T) {
	linked, tests := documented(t, "## Linked into remuda"), documented(t, "## For tests only")
	inBinary := map[string]bool{}
	for p := range strings.FieldsSeq(string(goList(t, "-deps", "./cmd/remuda"))) {
		inBinary[p] = true
	}
	used := map[string]bool{}
	for _, p := range packages(t) {
		for _, path := range imported(p.Imports, p.TestImports, p.XTestImports) {
			list, name := linked, "Linked into remuda"
			if !inBinary[path] {
				list, name = slices.Concat(tests, linked), "For tests only" // or of a module that is linked anyway
			}
			i := slices.IndexFunc(list, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
			if i < 0 {
				t.Errorf("%s imports %s, which is not under %q in docs/dependencies.md", p.ImportPath, path, name)
				continue
			}
			used[list[i]] = true
		}
	}
	for _, m := range slices.Concat(linked, tests) {
		if !used[m] {
			t.Errorf("docs/dependencies.md lists %s, which nothing imports", m)
		}
	}
}
