package repocheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// An operator who searches for a reason finds it explained.
func TestOperating_ExplainsEveryReason(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "reconciler", "reasons.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	doc := read(t, "docs/operating.md")
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		lit, ok := node.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		reason, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		n++
		if !strings.Contains(doc, "`"+reason+"`") {
			t.Errorf("docs/operating.md does not explain the reason `%s`", reason)
		}
		return true
	})
	if n == 0 {
		t.Error("reconciler/reasons.go has no reasons")
	}
}

// What an operator is told to look for in logs is what the code logs.
func TestOperating_QuotesLogLines(t *testing.T) {
	var code strings.Builder
	for _, file := range files(t, ".go") {
		if !strings.HasSuffix(file, "_test.go") {
			code.WriteString(read(t, file))
		}
	}
	_, below, found := strings.Cut(read(t, "docs/operating.md"), "\n| a log line of level error ")
	if !found {
		t.Fatal("docs/operating.md has no table of log lines")
	}
	for _, row := range table(t, strings.Split("| a log line"+below, "\n")) {
		quote, _, _ := strings.Cut(strings.TrimPrefix(row[0], "`"), "`")
		if !strings.Contains(code.String(), `.Error("`+strings.TrimSuffix(quote, "…")) {
			t.Errorf("docs/operating.md quotes %q, which nothing logs at level error", quote)
		}
	}
}

// A line of the log at level warn or error is a sentence of its own: who searches the code for it finds one place.
func TestLogs_WarningsAreSentencesOfTheirOwn(t *testing.T) {
	said := map[string]string{}
	for _, file := range files(t, ".go") {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "e2e/") || strings.HasPrefix(file, "internal/githubsim/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, read(t, file), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			lit, literal := call.Args[0].(*ast.BasicLit)
			if !ok || !literal || fun.Sel.Name != "Warn" && fun.Sel.Name != "Error" {
				return true
			}
			if words := len(strings.Fields(lit.Value)); words < 3 {
				t.Errorf("%s logs %s: say what that means, as a sentence", file, lit.Value)
			}
			if other := said[lit.Value]; other != "" {
				t.Errorf("%s and %s both log %s", other, file, lit.Value)
			}
			said[lit.Value] = file
			return true
		})
	}
	if len(said) < 50 {
		t.Errorf("%d warnings and errors are logged", len(said))
	}
}
