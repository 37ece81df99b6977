package main

import (
	"strings"
	"testing"
)

// Elsewhere than on Linux, what has machines there says so before it does anything; what has none works.
func TestOtherSystems_NoMachines(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		refused string // what the error names; "": nothing is
		args    []string
	}{
		{"agent", []string{"agent", "--dir", dir}},
		{"dev", []string{"dev", "--dir", dir + "/dev"}},
		{"controller: fleet process://", []string{"controller", "--set", "github.url=https://github.com/owner/name", "--store", "sqlite://" + dir + "/db", "--fleet", "process://" + dir + "/fleet"}},
		// The next that is missing is no system.
		{"", []string{"controller", "--set", "github.url=https://github.com/owner/name", "--set", "ec2.subnets=[]", "--store", "sqlite://" + dir + "/db", "--fleet", "ec2://main?region=eu-west-1"}},
	} {
		c := newCLI(nil)
		c.system = "darwin"
		c.env = []string{"REMUDA_GITHUB_TOKEN=ghs_0"}
		c.ends(t, exitUsage, tt.args...)
		want := "remuda: " + tt.refused + ": needs Linux, this is darwin; "
		if got := c.err.String(); strings.HasPrefix(got, want) != (tt.refused != "") || strings.Contains(got, "needs Linux") != (tt.refused != "") {
			t.Errorf("remuda %s: %s, want %q", strings.Join(tt.args, " "), got, want)
		}
		if c.opened > 0 {
			t.Errorf("remuda %s opened the store", tt.args[0])
		}
	}
}
