package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// man has the test below write the pages, for releases: what makes them would double the program that they are about.
var man = flag.String("man", "", "folder to write the manual's pages into")

// Each verb has a page, whose date is the commit's (SOURCE_DATE_EPOCH).
func TestManPages_EachVerbHasOne(t *testing.T) {
	dir := *man
	if dir == "" {
		dir = t.TempDir()
	} else if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	root := newRootCmd(newApp(osStreams()))
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "remuda", Manual: "remuda"}, dir); err != nil {
		t.Fatal(err)
	}
	check := func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Contains(text, []byte(".SH NAME")) || !bytes.Contains(text, []byte(c.Short)) {
			t.Errorf("%s: %v; %.200s", name, err, text)
		}
	}
	check(root)
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			check(c)
		}
	}
}
