// Package step runs the steps of a workflow job that use a JavaScript action, as GitHub's runner does.
//
// What a step sees and what becomes of what it says follows the sources of actions/runner, which each
// rule names (paths below src). It is the part that such an action can notice: inputs, files, state,
// workflow commands, signals, post. Containers, composite actions, pre and problem matchers are not there.
package step

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/internal/awstest"
)

// Action is the metadata of a JavaScript action.
type Action struct {
	dir     string
	Inputs  []Input  // in the order of the file
	Outputs []string // names, in the order of the file
	Main    string   // script of the step itself, below the action's folder
	Post    string   // script that runs at the end of the job; "": none
	PostIf  string   // its condition; "": always()
}

// Input is an input that an action declares.
type Input struct{ Name, Default string }

// file is action.yml. Names and values of scalars are taken as they are written: GitHub reads none of
// them as a number or a boolean.
type file struct {
	Inputs  yaml.Node `yaml:"inputs"`
	Outputs yaml.Node `yaml:"outputs"`
	Runs    struct {
		Using  string `yaml:"using"`
		Main   string `yaml:"main"`
		Pre    string `yaml:"pre"`
		Post   string `yaml:"post"`
		PostIf string `yaml:"post-if"`
	} `yaml:"runs"`
}

// Load reads the action in a folder: its action.yml, and whether its scripts are there.
func Load(dir string) (*Action, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("load action: %w", err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "action.yml"))
	if err != nil {
		return nil, fmt.Errorf("load action: %w", err)
	}
	var f file
	if err := yaml.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("load action: action.yml: %w", err)
	}
	// Runner.Worker/ActionManifestManager.cs, ConvertRuns. Older ones are refused there by now.
	if !slices.Contains([]string{"node20", "node24"}, f.Runs.Using) || f.Runs.Pre != "" {
		return nil, fmt.Errorf("load action: runs.using %q, runs.pre %q: only node20 and node24 without pre are known here", f.Runs.Using, f.Runs.Pre)
	}
	a := &Action{dir: dir, Main: f.Runs.Main, Post: f.Runs.Post, PostIf: f.Runs.PostIf}
	for _, script := range []string{a.Main, a.Post} {
		if script == "" && a.Main != "" {
			continue
		}
		if info, err := os.Stat(filepath.Join(dir, script)); err != nil || info.IsDir() {
			return nil, fmt.Errorf("load action: script %q: must be a file of the action: %w", script, err)
		}
	}
	for name, value := range pairs(&f.Inputs) {
		in := Input{Name: name}
		for key, v := range pairs(value) {
			if key == "default" {
				in.Default = v.Value
			}
		}
		a.Inputs = append(a.Inputs, in)
	}
	for name := range pairs(&f.Outputs) {
		a.Outputs = append(a.Outputs, name)
	}
	return a, nil
}

// RequireNode leaves a test out, with a word, where there is no Node.js.
func RequireNode(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("node"); err == nil {
		return
	}
	if os.Getenv(awstest.EnvRequire) == "1" {
		t.Fatal("node is not installed")
	}
	t.Skip("left out: the action: node is not installed")
}

// pairs yields the members of a mapping in their order.
func pairs(n *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i].Value, n.Content[i+1]) {
				return
			}
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// inputs merges what a workflow gives with the defaults. What is given as empty stays empty, names
// ignore case, and every declared input is there (Runner.Worker/ActionRunner.cs, RunAsync). unexpected
// are those that the action does not declare; they are handed over all the same, with a warning.
func (a *Action) inputs(with, github map[string]string) (merged map[string]string, unexpected []string, err error) {
	merged = map[string]string{}
	for name, value := range with {
		merged[name] = value
		if !slices.ContainsFunc(a.Inputs, func(in Input) bool { return strings.EqualFold(in.Name, name) }) {
			unexpected = append(unexpected, name)
		}
	}
	for _, in := range a.Inputs {
		given := false
		for name := range with {
			given = given || strings.EqualFold(name, in.Name)
		}
		if given {
			continue
		}
		merged[in.Name] = expression.ReplaceAllStringFunc(in.Default, func(text string) string {
			name, ok := strings.CutPrefix(expression.FindStringSubmatch(text)[1], "github.")
			value, known := github[name]
			if !ok || !known {
				err = fmt.Errorf("default of input %s: %s is not known here", in.Name, text)
			}
			return value
		})
	}
	slices.Sort(unexpected)
	return merged, unexpected, err
}

// variable is the environment variable of an input: spaces become underscores and nothing else changes
// but the case, so that a dash stays a dash (Runner.Worker/Handlers/Handler.cs, AddInputsToEnvironment).
func variable(input string) string {
	return "INPUT_" + strings.ToUpper(strings.ReplaceAll(input, " ", "_"))
}
