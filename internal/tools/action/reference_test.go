package action_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"go.yaml.in/yaml/v3"
)

const root = "../../.."

var update = flag.Bool("update", false, "write the generated parts of docs/action.md anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// field is an input or an output.
type field struct {
	Name        string `yaml:"-"`
	Description string `yaml:"description"`
	Default     string `yaml:"default"`
}

// fields are those of a mapping, in the order of the file.
type fields []field

func (f *fields) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		one := field{Name: n.Content[i].Value}
		if err := n.Content[i+1].Decode(&one); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	return nil
}

type metadata struct {
	Inputs  fields `yaml:"inputs"`
	Outputs fields `yaml:"outputs"`
	Runs    struct {
		Using, Main, Post string
		PostIf            string `yaml:"post-if"`
	} `yaml:"runs"`
}

func readMetadata(t *testing.T) metadata {
	t.Helper()
	var m metadata
	if err := yaml.Unmarshal(read(t, "action.yml"), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// generated are the parts of docs/action.md between markers, by name.
func generated(t *testing.T) map[string]string {
	t.Helper()
	m := readMetadata(t)
	var inputs, outputs strings.Builder
	inputs.WriteString("| input | default | meaning |\n|---|---|---|\n")
	for _, f := range m.Inputs {
		value := "–"
		if f.Default != "" {
			value = "`" + f.Default + "`"
		}
		fmt.Fprintf(&inputs, "| `%s` | %s | %s |\n", f.Name, value, f.Description)
	}
	outputs.WriteString("| output | meaning |\n|---|---|\n")
	for _, f := range m.Outputs {
		fmt.Fprintf(&outputs, "| `%s` | %s |\n", f.Name, f.Description)
	}
	return map[string]string{
		"inputs":  inputs.String(),
		"outputs": outputs.String(),
		"example": "```yaml\n" + string(read(t, "examples/ci.yml")) + "```\n",
		"release": "```yaml\n" + job(t, "examples/release-job.yml", "release") + "```\n",
	}
}

// job returns the last job of a workflow, as it stands there.
func job(t *testing.T, file, name string) string {
	t.Helper()
	head := "  " + name + ":\n"
	_, text, found := strings.Cut(string(read(t, file)), "\n"+head)
	if !found {
		t.Fatalf("%s: no job %s", file, name)
	}
	return head + text
}

// The reference is that of action.yml, and the example is one that is checked.
func TestReference_IsThatOfTheAction(t *testing.T) {
	const name = "docs/action.md"
	was := string(read(t, name))
	text := was
	for part, want := range generated(t) {
		begin, end := "<!-- generated: "+part+" -->\n", "<!-- end -->"
		before, rest, found := strings.Cut(text, begin)
		_, after, ends := strings.Cut(rest, end)
		if !found || !ends {
			t.Fatalf("%s: no %q with %q after it", name, begin, end)
		}
		text = before + begin + want + end + after
	}
	if text == was {
		return
	}
	if !*update {
		t.Fatalf("%s: differs from action.yml or an example: run make gen", name)
	}
	if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// GitHub starts what action.yml names, on a version of Node.js that it has.
func TestMetadata_RunsTheBundle(t *testing.T) {
	runs := readMetadata(t).Runs
	if runs.Using != "node24" || runs.Main != "action/dist/index.js" || runs.Post != "action/dist/post.js" || runs.PostIf != "always()" {
		t.Errorf("runs = %+v, want node24 and the bundle, its post step always", runs)
	}
	for _, script := range []string{runs.Main, runs.Post} {
		_ = read(t, script)
	}
}
