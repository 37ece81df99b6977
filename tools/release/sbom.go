package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

const unknown = "NOASSERTION" // SPDX's word

// notInID is what an SPDX identifier may not hold.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// licenceRow is a line of docs/dependencies.md.
var licenceRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|:]+) \\|")

// sbom lists every module that is linked, and Go's standard library, for each target.
func (r *release) sbom() error {
	dependencies, err := os.ReadFile(filepath.Join(r.root, "docs/dependencies.md"))
	if err != nil {
		return err
	}
	licences := map[string]string{"std": "BSD-3-Clause"}
	for _, row := range licenceRow.FindAllStringSubmatch(string(dependencies), -1) {
		licences[row[1]] = strings.ReplaceAll(row[2], ", ", " AND ")
	}
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: "remuda-" + r.version,
		CreationInfo: &spdx.CreationInfo{Created: r.time.UTC().Format("2006-01-02T15:04:05Z"), Creators: []common.Creator{{CreatorType: "Organization", Creator: "remuda"}}},
	}
	packages := map[common.ElementID]*spdx.Package{}
	relate := func(a common.ElementID, kind string, b common.ElementID) {
		doc.Relationships = append(doc.Relationships, &spdx.Relationship{RefA: common.DocElementID{ElementRefID: a}, Relationship: kind, RefB: common.DocElementID{ElementRefID: b}})
	}
	for _, t := range targets {
		info := r.built[t]
		if info == nil {
			continue
		}
		doc.DocumentNamespace = fmt.Sprintf("https://github.com/remuda-run/remuda/sbom/%s-%s", r.version, r.revision)
		program := common.ElementID(notInID.ReplaceAllString(fmt.Sprintf("Package-remuda-%s-%s", t.os, t.arch), "-"))
		packages[program] = spdxPackage(program, "remuda_"+t.os+"_"+t.arch, r.version, "Apache-2.0", info.Main.Path)
		relate("DOCUMENT", common.TypeRelationshipDescribe, program)
		std := &debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
		for _, m := range append(slices.Clone(info.Deps), std) {
			if m.Replace != nil {
				m = m.Replace
			}
			id := common.ElementID(notInID.ReplaceAllString("Package-"+m.Path+"-"+m.Version, "-"))
			packages[id] = spdxPackage(id, m.Path, m.Version, licenceOf(licences, m.Path), m.Path)
			relate(program, common.TypeRelationshipDependsOn, id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(packages)) {
		doc.Packages = append(doc.Packages, packages[id])
	}
	f, err := os.Create(filepath.Join(r.out, fmt.Sprintf("remuda_%s_sbom.spdx.json", r.version)))
	if err != nil {
		return err
	}
	if err := spdxjson.Write(doc, f, spdxjson.Indent(" ")); err != nil {
		return err
	}
	return f.Close()
}

func spdxPackage(id common.ElementID, name, version, licence, module string) *spdx.Package {
	url := "pkg:golang/" + module + "@" + version
	if module == "std" {
		url = "pkg:golang/stdlib@" + version
	}
	return &spdx.Package{
		PackageSPDXIdentifier: id, PackageName: name, PackageVersion: version, PackageDownloadLocation: unknown,
		PackageLicenseConcluded: licence, PackageLicenseDeclared: licence, PackageCopyrightText: unknown, IsFilesAnalyzedTagPresent: true,
		PackageExternalReferences: []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: url}},
	}
}

// licenceOf is what docs/dependencies.md says of a module, or of the one that its path is below.
func licenceOf(licences map[string]string, module string) string {
	for path := module; path != "." && path != "/"; path = filepath.Dir(path) {
		if l, ok := licences[path]; ok {
			return l
		}
	}
	return unknown
}
