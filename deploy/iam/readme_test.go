package iam_test

import (
	"os"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/deploy/iam"
)

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
