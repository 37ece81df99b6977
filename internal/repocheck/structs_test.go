package repocheck_test

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	gopackages "golang.org/x/tools/go/packages"
)

// holds says which parts of package reconciler a part may hold, beside the tenure that each has. Who is not held
// cannot be called: that is what keeps the parts apart. Anything that is not here, or is here and not held, fails.
var holds = map[string]string{
	"Operator": "manager",
	"manager":  "cache drainer fleetSweep instances launches notifications observer reaper requests scanner",

	"controller": "limitedLog",

	"cache":    "budget capacity index records",
	"records":  "floorRecords instanceRecords launchRecords orderRecords requestRecords",
	"index":    "records waiting",
	"capacity": "batch budget records waiting",

	"requests": "badRecords cache filler releases seats statuses",
	"filler":   "batch cache claims planner releases statuses waiting",
	"claims":   "cache observer runners waiting",
	"seats":    "batch cache",
	"statuses": "batch cache reasons seats",
	"reasons":  "batch cache exclusions outages waiting",
	"releases": "cache observer runners seats",

	"instances": "ahead breaker cache listeners observer runners",
	"ahead":     "cache outages runners",
	"listeners": "cache observer probes runners",
	"runners":   "cache",
	"offers":    "cache",

	"watcher":   "cache checkRuns lostJobs statuses stuckJobs",
	"lostJobs":  "cache checkRuns statuses",
	"stuckJobs": "cache checkRuns statuses",

	"launches": "adopter batch cache exclusions planner stock",
	"floors":   "batch cache releases stock",
	"stock":    "batch cache waiting",
	"planner":  "cache exclusions",
	"adopter":  "badRecords cache",

	"fleetSweep":    "adopter breaker cache",
	"runnerSweep":   "cache",
	"reaper":        "cache fleetSweep",
	"demands":       "cache",
	"drainer":       "badRecords cache drains",
	"scanner":       "badRecords cache costKeeper drainer waiting",
	"notifications": "cache drainer",
	"observer":      "badRecords breaker cache",
	"breaker":       "cache",
	"badRecords":    "cache limitedLog",
	"costKeeper":    "cache",
}

// Bounds of a type, promoted methods of this module counted, so that a reader can hold it in mind.
const (
	mostFields  = 12 // in package reconciler; Config and Snapshot are lists of values
	mostHeld    = 8
	mostMethods = 40
	mostInParts = 30 // methods, in package reconciler
)

// loadTypes returns the packages of this module that match, without their tests.
func loadTypes(t *testing.T, patterns ...string) []*gopackages.Package {
	t.Helper()
	out, err := gopackages.Load(&gopackages.Config{
		Mode: gopackages.NeedName | gopackages.NeedTypes | gopackages.NeedSyntax | gopackages.NeedTypesInfo | gopackages.NeedImports | gopackages.NeedFiles | gopackages.NeedExportFile,
		Dir:  root,
	}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range out {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
	}
	return out
}

// structs returns the struct types that a package declares, by name.
func structs(p *gopackages.Package) map[string]*types.Struct {
	out := map[string]*types.Struct{}
	for _, name := range p.Types.Scope().Names() {
		if tn, ok := p.Types.Scope().Lookup(name).(*types.TypeName); ok && !tn.IsAlias() {
			if s, ok := tn.Type().Underlying().(*types.Struct); ok {
				out[name] = s
			}
		}
	}
	return out
}

// heldBy returns the types with methods of its own package that the fields of a struct hold. What only others wrap, such
// as a value of a map, is no part.
func heldBy(p *gopackages.Package, s *types.Struct, parts map[string]bool) []string {
	var out []string
	for i := range s.NumFields() {
		typ := s.Field(i).Type()
		if generic, ok := typ.(*types.Named); ok && generic.TypeArgs().Len() == 1 { // atomic.Pointer
			typ = generic.TypeArgs().At(0)
		}
		if ptr, ok := typ.(*types.Pointer); ok {
			typ = ptr.Elem()
		}
		if named, ok := typ.(*types.Named); ok && named.Obj().Pkg() == p.Types && parts[named.Obj().Name()] {
			out = append(out, named.Obj().Name())
		}
	}
	slices.Sort(out)
	return out
}

// The parts of the reconciler hold whom the table says, and nobody else.
func TestReconciler_PartsHoldEachOther(t *testing.T) {
	p := loadTypes(t, "./reconciler")[0]
	declared := structs(p)
	parts := map[string]bool{}
	for name, s := range declared {
		for i := range s.NumFields() {
			if s.Field(i).Name() == "tenure" {
				parts[name] = true // what works in a tenure
			}
		}
	}
	for name, held := range holds {
		parts[name] = true
		for _, one := range strings.Fields(held) {
			parts[one] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if !parts[name] {
			if held := heldBy(p, declared[name], parts); len(held) > 0 {
				t.Errorf("%s holds %v and is no part: give it a row", name, held)
			}
			continue
		}
		held, want := heldBy(p, declared[name], parts), strings.Fields(holds[name])
		if !slices.Equal(held, want) {
			t.Errorf("%s holds %v, want %v", name, held, want)
		}
		if name != "manager" && len(held) > mostHeld {
			t.Errorf("%s holds %d parts, want at most %d", name, len(held), mostHeld)
		}
	}
	for name := range holds {
		if declared[name] == nil {
			t.Errorf("%s has a row and is no struct of reconciler", name)
		}
	}
}

// ownMethods counts the methods of a type and of its pointer, those promoted from types of this module included.
func ownMethods(named *types.Named) int {
	set, n := types.NewMethodSet(types.NewPointer(named)), 0
	for i := range set.Len() {
		if pkg := set.At(i).Obj().Pkg(); pkg != nil && own(pkg.Path()) {
			n++
		}
	}
	return n
}

// No type is too large to be read at once.
func TestTypes_AreSmall(t *testing.T) {
	for _, p := range loadTypes(t, "./...") {
		part := relative(p.PkgPath) == "reconciler" || strings.HasPrefix(relative(p.PkgPath), "reconciler/")
		bound := mostMethods
		if part {
			bound = mostInParts
		}
		for _, name := range p.Types.Scope().Names() {
			tn, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			where := fmt.Sprintf("%s.%s", relative(p.PkgPath), name)
			if named, ok := tn.Type().(*types.Named); ok {
				if n := ownMethods(named); n > bound {
					t.Errorf("%s has %d methods, want at most %d", where, n, bound)
				}
			}
			s, ok := tn.Type().Underlying().(*types.Struct)
			if ok && part && s.NumFields() > mostFields && where != "reconciler.Config" && where != "reconciler/audit.Snapshot" {
				t.Errorf("%s has %d fields, want at most %d", where, s.NumFields(), mostFields)
			}
		}
	}
}

// No file is too long to be read at once.
func TestFiles_AreShort(t *testing.T) {
	const most = 400
	for _, file := range files(t, ".go") {
		if n := strings.Count(read(t, file), "\n"); n > most {
			t.Errorf("%s has %d lines, want at most %d", file, n, most)
		}
	}
}
