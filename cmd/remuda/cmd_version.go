package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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

// versionOptions are the flags of `remuda version`.
type versionOptions struct{ output string }

func newVersionCmd(a *app) *cobra.Command {
	o := &versionOptions{}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Prints the version of the program and of what it was built with.",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := o.validate(); err != nil {
				return asUsage(err)
			}
			return o.run(a.streams, currentVersion())
		},
	}
	o.flags(cmd.Flags())
	completes(cmd, "output", formatTable, formatJSON)
	return exits(cmd)
}

func (o *versionOptions) flags(fs *pflag.FlagSet) {
	fs.StringVarP(&o.output, "output", "o", formatTable, "table or json")
}

func (o *versionOptions) validate() error { return checkFormat(o.output, formatTable, formatJSON) }

func (o *versionOptions) run(s streams, v buildVersion) error {
	if o.output == formatJSON {
		return printJSON(s.out, v)
	}
	_, err := fmt.Fprintln(s.out, v)
	return err
}
