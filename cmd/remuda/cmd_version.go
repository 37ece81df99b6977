package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version and revision are set by the linker in a release, whose builds do not depend on where they are made.
var version, revision string

// buildVersion is what `remuda version -o json` prints. Its shape is documented in docs/cli.md.
type buildVersion struct {
	Version  string `json:"version"`  // of the module; "(devel)" for a build from a work tree
	Revision string `json:"revision"` // of the work tree, "" if unknown
	Modified bool   `json:"modified"` // the work tree had changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// currentVersion reads what the toolchain put into this binary.
func currentVersion() buildVersion {
	v := buildVersion{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.read(info)
	}
	if version != "" {
		v.Version = version
		v.Revision, v.Modified = strings.CutSuffix(revision, "-modified")
	}
	return v
}

func (v *buildVersion) read(info *debug.BuildInfo) {
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
}

// String is one line for people.
func (v buildVersion) String() string {
	revision := ""
	if v.Revision != "" {
		revision = " " + v.Revision[:min(12, len(v.Revision))]
		if v.Modified {
			revision += " (modified)"
		}
	}
	return fmt.Sprintf("remuda %s%s %s %s/%s", v.Version, revision, v.Go, v.OS, v.Arch)
}

func newVersionCmd(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Prints the version of the program and of what it was built with.",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkFormat(output, formatTable, formatJSON); err != nil {
				return err
			}
			v := currentVersion()
			return printAs(a.out, output, v, v.String()+"\n")
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", formatTable, "table or json")
	completes(cmd, "output", formatTable, formatJSON)
	return exits(cmd)
}
