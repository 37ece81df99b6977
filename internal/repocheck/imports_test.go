package repocheck_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const module = "github.com/remuda-run/remuda"

// pkg is what go list says of a package of this module. Paths of this module are relative to it.
type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	var out []pkg
	dec := json.NewDecoder(bytes.NewReader(goList(t, "-json=ImportPath,Imports,TestImports,XTestImports", "./...")))
	for {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = relative(p.ImportPath)
		out = append(out, p)
	}
}

func relative(p string) string { return strings.TrimPrefix(p, module+"/") }

// own reports whether p is a package of this module.
func own(p string) bool { return p == module || strings.HasPrefix(p, module+"/") }

// standard reports whether p is a package of the standard library: only others have a dot in their
// first element.
func standard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return !strings.Contains(first, ".")
}

// suite reports whether p, relative, is a conformance suite.
func suite(p string) bool { return strings.HasSuffix(p, "test") && strings.Contains(p, "/") }

// rule is a row of the table in CONTRIBUTING.md.
type rule struct {
	packages string   // a path, or a path and everything below it
	own      []string // of this module; nil is none
	others   []string // prefixes of other modules; nil is none
	anyOwn   bool
	anyOther bool
}

// covers reports whether the rule is about p.
func (r rule) covers(p string) bool {
	if prefix, ok := strings.CutSuffix(r.packages, "/..."); ok {
		return p == prefix || strings.HasPrefix(p, prefix+"/")
	}
	return p == r.packages
}

// allows reports whether the rule lets a package import p.
func (r rule) allows(p string) bool {
	switch {
	case standard(p):
		return true
	case own(p):
		return r.anyOwn || slices.Contains(r.own, relative(p))
	default:
		return r.anyOther || slices.ContainsFunc(r.others, func(prefix string) bool {
			return p == prefix || strings.HasPrefix(p, prefix+"/")
		})
	}
}

func rules(t *testing.T) []rule {
	t.Helper()
	var out []rule
	for _, row := range table(t, section(t, read(t, "CONTRIBUTING.md"), "## Packages and what they may import")) {
		if len(row) != 4 {
			t.Fatalf("row %q has %d cells, want 4", row[0], len(row))
		}
		r := rule{packages: strings.Trim(row[0], "`")}
		r.own, r.anyOwn = cell(t, row[2])
		r.others, r.anyOther = cell(t, row[3])
		out = append(out, r)
	}
	return out
}

var quoted = regexp.MustCompile("`([^`]+)`")

// cell reads "any", "–", or paths in back quotes; a{b,c} stands for ab and ac.
func cell(t *testing.T, text string) (paths []string, all bool) {
	t.Helper()
	switch text {
	case "any":
		return nil, true
	case "–":
		return nil, false
	}
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		head, rest, braces := strings.Cut(m[1], "{")
		if !braces {
			paths = append(paths, m[1])
			continue
		}
		list, tail, _ := strings.Cut(rest, "}")
		for item := range strings.SplitSeq(list, ",") {
			paths = append(paths, head+item+tail)
		}
	}
	if len(paths) == 0 {
		t.Fatalf("cell %q: want any, – or paths in back quotes", text)
	}
	return paths, false
}

func TestImports_KeepTheTable(t *testing.T) {
	table := rules(t)
	used := map[string]bool{}
	for _, p := range packages(t) {
		i := slices.IndexFunc(table, func(r rule) bool { return r.covers(p.ImportPath) })
		if i < 0 {
			t.Errorf("%s has no row in CONTRIBUTING.md", p.ImportPath)
			continue
		}
		used[table[i].packages] = true
		for _, imported := range p.Imports {
			if !table[i].allows(imported) {
				t.Errorf("%s imports %s, which its row in CONTRIBUTING.md does not allow", p.ImportPath, imported)
			}
		}
	}
	for _, r := range table {
		if !used[r.packages] {
			t.Errorf("row %s of CONTRIBUTING.md has no package", r.packages)
		}
	}
}

// Nobody may build on what only tests, or only people, use.
func TestImports_OfSuitesAndCommands(t *testing.T) {
	e2e := rule{packages: "e2e/..."}
	for _, p := range packages(t) {
		if e2e.covers(p.ImportPath) {
			continue
		}
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			to := relative(imported)
			if p.ImportPath == "reconciler" && to == "e2e/sim" && !slices.Contains(p.Imports, imported) {
				continue // whose stories its world tells
			}
			if own(imported) && (e2e.covers(to) || strings.HasPrefix(to, "cmd/") || strings.HasPrefix(to, "internal/tools/")) {
				t.Errorf("%s imports %s", p.ImportPath, to)
			}
		}
		if suite(p.ImportPath) {
			continue
		}
		for _, imported := range p.Imports {
			if own(imported) && suite(imported) {
				t.Errorf("%s imports the suite %s outside its tests", p.ImportPath, relative(imported))
			}
		}
	}
}

func TestImports_BinaryHasNoTestCode(t *testing.T) {
	deps := strings.Fields(string(goList(t, "-deps", "./cmd/remuda")))
	if !slices.Contains(deps, module+"/store") {
		t.Fatalf("go list -deps ./cmd/remuda = %d packages without %s/store", len(deps), module)
	}
	for _, p := range deps {
		if p == "testing" || own(p) && suite(p) {
			t.Errorf("cmd/remuda is linked with %s", p)
		}
	}
}

// What runs a template calls methods by names that the linker cannot know, so it keeps every exported method of every type,
// and EC2's client has thousands: stripped for linux/amd64, the binary has 78 MB instead of 32, and gzipped 20 instead of 11.
// Every machine downloads it when it boots. To import a package of templates costs nothing: gomponents calls nothing of it
// but a function that escapes, and cobra runs a template only where one is set. So others may not, and the size tells the rest.
func TestImports_BinaryStaysSmall(t *testing.T) {
	const most = 45 << 20
	may := []string{"github.com/spf13/cobra", "html/template", "maragu.dev/gomponents"}
	deps := goList(t, "-deps", "-tags=grpcnotrace", `-f={{.ImportPath}} {{join .Imports " "}}`, "./cmd/remuda")
	for line := range strings.Lines(string(deps)) {
		p := strings.Fields(line)
		if !slices.Contains(may, p[0]) && (slices.Contains(p[1:], "html/template") || slices.Contains(p[1:], "text/template")) {
			t.Errorf("%s, which cmd/remuda is linked with, imports a package of templates", p[0])
		}
	}
	binary := filepath.Join(t.TempDir(), "remuda")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags=grpcnotrace", "-ldflags=-s -w", "-o", binary, "./cmd/remuda")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most {
		t.Errorf("cmd/remuda has %d bytes, want %d at most: go build -ldflags=-dumpdep shows who reaches a <ReflectMethod>", info.Size(), most)
	}
}

// The linter says in the editor what the table says here.
func TestImports_LinterHasTheSameTable(t *testing.T) {
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]struct {
						Mode  string   `yaml:"list-mode"`
						Files []string `yaml:"files"`
						Allow []string `yaml:"allow"`
					} `yaml:"rules"`
				} `yaml:"depguard"`
			} `yaml:"settings"`
		} `yaml:"linters"`
	}
	if err := yaml.Unmarshal([]byte(read(t, ".golangci.yml")), &config); err != nil {
		t.Fatal(err)
	}
	guarded := config.Linters.Settings.Depguard.Rules
	for _, r := range rules(t) {
		if r.anyOwn || r.anyOther || strings.HasPrefix(r.packages, "internal/") {
			continue
		}
		guard := guarded[r.packages]
		delete(guarded, r.packages)
		want := []string{"$gostd"}
		for _, p := range r.own {
			want = append(want, path.Join(module, p)+"$") // the package alone, not what is below it
		}
		want = append(want, r.others...)
		if !slices.Equal(guard.Allow, want) {
			t.Errorf(".golangci.yml: depguard rule %s allows\n%v, want\n%v", r.packages, guard.Allow, want)
		}
		if files := []string{"**/" + r.packages + "/*.go", "!$test"}; guard.Mode != "strict" || !slices.Equal(guard.Files, files) {
			t.Errorf(".golangci.yml: depguard rule %s is %q on %v, want strict on %v", r.packages, guard.Mode, guard.Files, files)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(guarded)) {
		t.Errorf(".golangci.yml: depguard rule %s has no row in CONTRIBUTING.md", name)
	}
}

// The check itself must be able to fail.
func TestRule_Allows(t *testing.T) {
	r := rule{packages: "store", own: []string{"statemachine"}, others: []string{"github.com/a/b"}}
	tests := []struct {
		imported string
		want     bool
	}{
		{"context", true},
		{"net/http", true},
		{module + "/statemachine", true},
		{module + "/statemachine/below", false},
		{module + "/pool", false},
		{"github.com/a/b", true},
		{"github.com/a/b/below", true},
		{"github.com/a/bc", false},
	}
	for _, tt := range tests {
		if got := r.allows(tt.imported); got != tt.want {
			t.Errorf("allows(%s) = %t, want %t", tt.imported, got, tt.want)
		}
	}
}
