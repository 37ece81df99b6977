package repocheck_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/store"
)

// records holds every type of package store that is stored, wholly or as a part of another.
var records = []any{
	store.RunRequest{}, store.KeptLimits{}, store.RunClient{}, store.RunStatus{}, store.Seat{}, store.Counts{},
	store.Instance{}, store.Registration{}, store.Heartbeat{}, store.Beat{}, store.Signal{}, store.SignalValue{},
	store.Watch{}, store.Launch{}, store.LaunchSeat{}, store.Lease{}, store.Health{}, store.Budget{}, store.GitHubBudget{}, store.Outage{}, store.DrainOrder{}, store.Floor{}, store.Demand{}, store.DemandRow{}, store.Costs{}, store.CostRow{}, store.Spent{}, store.UnpricedTime{},
}

// attributes returns the names under which the fields of a record are stored.
func attributes(record any) []string {
	var out []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(record)) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func TestDataModel_NamesEveryAttribute(t *testing.T) {
	doc := read(t, "docs/data-model.md")
	for _, record := range records {
		name := reflect.TypeOf(record).Name()
		var documented []string
		for _, row := range table(t, section(t, doc, "### "+name)) {
			documented = append(documented, strings.Trim(row[0], "`"))
		}
		slices.Sort(documented)
		if want := attributes(record); !slices.Equal(documented, want) {
			t.Errorf("docs/data-model.md, %s: attributes\n%v, want\n%v", name, documented, want)
		}
	}
}

// A record that is new in the source must not be missing from the list above.
func TestDataModel_NamesEveryRecord(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "store", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var stored, listed []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok && fields.Fields.NumFields() > 0 && fields.Fields.List[0].Tag != nil {
				stored = append(stored, spec.Name.Name)
			}
			return false
		})
	}
	for _, record := range records {
		listed = append(listed, reflect.TypeOf(record).Name())
		for _, f := range reflect.VisibleFields(reflect.TypeOf(record)) {
			if f.Anonymous { // its attributes are in the table of the record
				listed = append(listed, f.Type.Name())
			}
		}
	}
	slices.Sort(stored)
	slices.Sort(listed)
	listed = slices.Compact(listed)
	if !slices.Equal(stored, listed) {
		t.Errorf("records of package store are\n%v, this test has\n%v", stored, listed)
	}
}

// The attributes that every item has in DynamoDB are the constants of the codec, and no others.
func TestDataModel_NamesDynamoDBsOwnAttributes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "store", "dynamostore", "codec.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var own, documented []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			if strings.HasPrefix(name.Name, "attr") {
				own = append(own, strings.Trim(spec.Values[i].(*ast.BasicLit).Value, `"`))
			}
		}
		return false
	})
	for _, row := range table(t, section(t, read(t, "docs/data-model.md"), "### Item")) {
		if name := strings.Trim(row[0], "`"); name != "write" && len(row) == 2 {
			documented = append(documented, name)
		}
	}
	slices.Sort(own)
	slices.Sort(documented)
	if len(own) != 4 || !slices.Equal(own, documented) {
		t.Errorf("docs/data-model.md, Item: attributes\n%v, want those of store/dynamostore/codec.go\n%v", documented, own)
	}
}
