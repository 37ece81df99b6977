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
	"strconv"
	"strings"
)

// node names a declaration of a package: "Name", or ".Name" for the methods of that name.
type node struct{ pkg, name string }

// decl is what a declaration says and mentions.
type decl struct {
	ids      []string // in its comments; only of functions that can fail a test
	mentions []node
}

// graph holds the declarations of test files and conformance suites. It goes by names, not by types:
// a method call counts for every method of that name in its package, which can only link too much.
type graph struct {
	module string
	decls  map[node][]decl
	tests  []node // Test and Fuzz functions
}

// scan reads what the comments of all tests below root claim.
func scan(root string) (claims, error) {
	g := graph{decls: map[node][]decl{}}
	var err error
	if g.module, err = modulePath(root); err != nil {
		return nil, err
	}
	if err := walk(root, g.read); err != nil {
		return nil, fmt.Errorf("scan tests: %w", err)
	}
	out := claims{}
	for _, t := range g.tests {
		for _, id := range g.reached(t) {
			out.add(id, test(t))
		}
	}
	return out, nil
}

// addScripts adds what the comments of testscript files say. Their test is the subtest that has the
// name of the file, in the package of its folder or of the one above.
func (c claims) addScripts(root string, ends outcomes) error {
	module, err := modulePath(root)
	if err != nil {
		return err
	}
	err = walk(root, func(file, rel string) error {
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

// proves reports whether a file may hold tests or parts of them.
func proves(rel string) bool {
	return strings.HasSuffix(rel, "_test.go") || strings.HasSuffix(rel, ".go") && strings.HasSuffix(path.Dir(rel), "test")
}

// read adds the declarations of one file.
func (g *graph) read(file, rel string) error {
	if !proves(rel) {
		return nil
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg := path.Join(g.module, path.Dir(rel))
	imports := g.imports(f)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			g.function(f, pkg, imports, d, strings.HasSuffix(rel, "_test.go"))
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					for _, name := range values.Names {
						g.add(node{pkg, name.Name}, decl{mentions: mentions(values, pkg, imports)})
					}
				}
			}
		}
	}
	return nil
}

func (g *graph) add(n node, d decl) { g.decls[n] = append(g.decls[n], d) }

func (g *graph) function(f *ast.File, pkg string, imports map[string]string, fn *ast.FuncDecl, isTest bool) {
	n := node{pkg, fn.Name.Name}
	if fn.Recv != nil {
		n.name = "." + n.name
	}
	d := decl{mentions: mentions(fn, pkg, imports)}
	if canFail(fn) {
		for _, c := range f.Comments {
			if c == fn.Doc || fn.Pos() <= c.Pos() && c.End() <= fn.End() {
				d.ids = append(d.ids, idsIn(c.Text())...)
			}
		}
		if isTest && (strings.HasPrefix(n.name, "Test") || strings.HasPrefix(n.name, "Fuzz")) {
			g.tests = append(g.tests, n)
		}
	}
	g.add(n, d)
}

// imports returns the packages of this module that f imports, by the name that f gives them.
func (g *graph) imports(f *ast.File) map[string]string {
	out := map[string]string{}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !strings.HasPrefix(p, g.module+"/") {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		out[name] = p
	}
	return out
}

// canFail reports whether fn can fail a test: it takes a T, F or TB of a package testing or rapid, or
// calls the like of Errorf on something.
func canFail(fn *ast.FuncDecl) bool {
	found := takesTesting(fn.Type)
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			found = found || ok && failing[sel.Sel.Name] && len(call.Args) > 0 // err.Error() has none
		}
		return !found
	})
	return found
}

var failing = map[string]bool{"Error": true, "Errorf": true, "Fatal": true, "Fatalf": true}

func takesTesting(fn *ast.FuncType) bool {
	for _, p := range fn.Params.List {
		typ := p.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		if sel, ok := typ.(*ast.SelectorExpr); ok && (sel.Sel.Name == "T" || sel.Sel.Name == "F" || sel.Sel.Name == "TB") {
			return true
		}
	}
	return false
}

// mentions returns the declarations that n may use.
func mentions(n ast.Node, pkg string, imports map[string]string) []node {
	var out []node
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			out = append(out, node{pkg, n.Name})
		case *ast.SelectorExpr: // its name is no identifier of this package
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				out = append(out, node{imports[x.Name], n.Sel.Name})
				return false
			}
			out = append(out, node{pkg, "." + n.Sel.Name})
			ast.Inspect(n.X, visit)
			return false
		}
		return true
	}
	ast.Inspect(n, visit)
	return out
}

// reached returns the IDs of start and of all that it uses, directly or not.
func (g *graph) reached(start node) []string {
	seen := map[node]bool{start: true}
	var ids []string
	for queue := []node{start}; len(queue) > 0; queue = queue[1:] {
		for _, d := range g.decls[queue[0]] {
			ids = append(ids, d.ids...)
			for _, next := range d.mentions {
				if !seen[next] {
					seen[next] = true
					queue = append(queue, next)
				}
			}
		}
	}
	return ids
}
