package plant_test

import (
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/sim/plant"
)

// docs is a document with a table of an older form in it.
const docs = `above
<!-- planted bugs: go test ./e2e/sim/plant -update -->
| patch | of | what is wrong |
|---|---|---|
| ` + "`one`" + ` | H01 | this |
<!-- end of planted bugs -->
below
`

func TestDocument_KeepsWhatHuntsHaveBrought(t *testing.T) {
	bugs := []plant.Bug{
		{Path: "x/one.patch", ID: "H01", Title: "this"},
		{Path: "x/two.patch", ID: "H02", Title: "that", Script: "at 0s run 1\n"},
		{Path: "x/first_page_only.patch", ID: "H03", Title: "below"},
	}
	steps := []struct {
		what   string
		hunted map[string]plant.Hunted
		want   []string
	}{
		{"nothing hunted", nil, []string{"no bug was hunted yet, of 2.", "| `one` | H01 | this | – | – | – |"}},
		{"one found", map[string]plant.Hunted{"one": {By: "kills", Law: "G13 a|b", CPU: "7"}}, []string{
			"1 of 1 bugs were found, 100.0 %", "not hunted yet: `two`; exempt: `first_page_only`.", "| kills | G13 a/b | 7 |",
		}},
		{"the other not", map[string]plant.Hunted{"two": {By: plant.Nothing, CPU: "1800"}}, []string{
			"1 of 2 bugs were found, 50.0 %; not found: `two`; exempt", "| kills | G13 a/b | 7 |", "| `two` | H02 | that | nothing | – | 1800 |",
		}},
		{"only again", nil, []string{"| kills | G13 a/b | 7 |", "| nothing | – | 1800 |"}},
	}
	text := docs
	for _, step := range steps {
		var err error
		if text, err = plant.Document(text, bugs, step.hunted); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		for _, want := range append(step.want, "above\n", "below\n") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", step.what, want, text)
			}
		}
		if again, err := plant.Document(text, bugs, nil); again != text || err != nil {
			t.Errorf("%s: once more, %v, gives\n%s", step.what, err, again)
		}
	}
	if _, err := plant.Document("no marks\n", bugs, nil); err == nil {
		t.Error("no error without marks")
	}
}
