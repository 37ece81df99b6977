package iam_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/deploy/iam"
)

// The commands of deploy/README.md make the same documents as Render.
func TestReadme_RendersTheSame(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "```sh\nNAME=")
	block, _, ends := strings.Cut(after, "```")
	if !found || !ends {
		t.Fatal("deploy/README.md: no block of sh begins with NAME=")
	}
	v := iam.Values{Region: "eu-west-1", Account: "111122223333", Name: "remuda", Repository: "owner/name"}
	for _, kind := range iam.Kinds() {
		if kind == iam.WorkflowSession {
			continue // not a role's
		}
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "NAME="+block+"render "+string(kind))
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if want := render(t, kind, v); err != nil || string(out) != want {
			t.Errorf("render %s = %v\n%s, want\n%s", kind, err, out, want)
		}
	}
}

// The placeholders of the documents are those of the list.
func TestReadme_ListsEveryPlaceholder(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range iam.Kinds() {
		template, err := iam.Template(kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range placeholder.FindAllString(string(template), -1) {
			if !strings.Contains(string(text), "`"+found+"`") {
				t.Errorf("deploy/iam/README.md does not list %s of %s.json", found, kind)
			}
		}
	}
}
