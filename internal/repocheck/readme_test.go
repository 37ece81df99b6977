package repocheck_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/statemachine"
)

const (
	pictureBegin = "<!-- Picture of the state table, written by `make gen`. -->\n"
	pictureEnd   = "<!-- End of the picture. -->\n"
)

func TestReadme_ShowsTheStateTable(t *testing.T) {
	text := read(t, "README.md")
	before, rest, begins := strings.Cut(text, pictureBegin)
	_, after, ends := strings.Cut(rest, pictureEnd)
	if !begins || !ends {
		t.Fatalf("README.md: want %q, then %q", pictureBegin, pictureEnd)
	}
	want := before + pictureBegin + "```mermaid\n" + statemachine.InstanceMachine().Mermaid() + "```\n" + pictureEnd + after
	if text == want {
		return
	}
	if !*update {
		t.Fatal("README.md: the picture is not that of the table; run `make gen`")
	}
	if err := os.WriteFile(filepath.Join(root, "README.md"), []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What a newcomer types first must be what CI runs.
func TestReadme_FirstCommands(t *testing.T) {
	block := regexp.MustCompile("(?s)```(?:sh|console)\n(.*?)```")
	var commands []string
	for _, m := range block.FindAllStringSubmatch(read(t, "README.md"), -1) {
		for line := range strings.Lines(m[1]) {
			if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "git" && fields[0] != "cd" {
				command, _, _ := strings.Cut(strings.TrimSpace(line), " #")
				commands = append(commands, strings.TrimSpace(command))
			}
		}
	}
	if len(commands) < 2 || commands[0] != "make demo" || commands[1] != "make test" {
		t.Errorf("README.md: commands are %q, want make demo, then make test", commands)
	}
	ci := read(t, ".ci/run")
	for _, command := range []string{"make test", "make check", "make verify"} {
		if !strings.Contains(ci, command) {
			t.Errorf(".ci/run does not run %q", command)
		}
	}
}
