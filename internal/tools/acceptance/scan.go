package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// scan reads what the comments of all tests below root claim. A test speaks for itself alone: what a
// helper says, or a check that every test of a kind runs beside its own, would make each of them a proof
// of everything.
func scan(root, module string) (claims, error) {
	out := claims{}
	err := walk(root, func(file, rel string) error {
		if !strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && isTest(fn) {
				out.addComments(f, fn, test{path.Join(module, path.Dir(rel)), fn.Name.Name})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("scan tests: %w", err)
	}
	return out, nil
}

// isTest reports whether go test runs fn as a test: Test or Fuzz with one T or F.
func isTest(fn *ast.FuncDecl) bool {
	if fn.Recv != nil || len(fn.Type.Params.List) != 1 {
		return false
	}
	star, ok := fn.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && (strings.HasPrefix(fn.Name.Name, "Test") && sel.Sel.Name == "T" ||
		strings.HasPrefix(fn.Name.Name, "Fuzz") && sel.Sel.Name == "F")
}

// addComments adds what the comments above and inside fn say.
func (c claims) addComments(f *ast.File, fn *ast.FuncDecl, t test) {
	for _, text := range f.Comments {
		if text == fn.Doc || fn.Pos() <= text.Pos() && text.End() <= fn.End() {
			for _, id := range idsIn(text.Text()) {
				c.add(id, t)
			}
		}
	}
}

// addScripts adds what the comments of testscript files say. Their test is the subtest that has the
// name of the file, in the package of its folder or of the one above.
func (c claims) addScripts(root, module string, ends outcomes) error {
	err := walk(root, func(file, rel string) error {
		name, isScript := strings.CutSuffix(path.Base(rel), ".txtar")
		if !isScript {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		pkg := path.Join(module, path.Dir(rel))
		for t := range ends {
			if path.Base(t.name) != name || t.pkg != pkg && t.pkg != path.Dir(pkg) {
				continue
			}
			for line := range strings.Lines(string(text)) {
				if strings.HasPrefix(line, "#") {
					for _, id := range idsIn(line) {
						c.add(id, t)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("scan scripts: %w", err)
	}
	return nil
}

// modulePath returns the path in the first line of go.mod that names it.
func modulePath(root string) (string, error) {
	name := filepath.Join(root, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read module path: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if p, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(p), nil
		}
	}
	return "", fmt.Errorf("read module path: %s has none", name)
}

// walk calls visit with every file of the module below root and its path with slashes. Like go, it
// passes over other modules, testdata and hidden folders.
func walk(root string, visit func(file, rel string) error) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return visit(file, filepath.ToSlash(rel))
		}
		if rel == "." {
			return nil
		}
		_, modErr := os.Stat(filepath.Join(file, "go.mod"))
		if d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || modErr == nil {
			return fs.SkipDir
		}
		return nil
	})
}
