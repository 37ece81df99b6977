package statemachine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
)

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the tables say; run go generate (-file +tables):\n%s", path, diff)
	}
}

func TestMarkdown_IsTheDocument(t *testing.T) {
	golden(t, filepath.Join("..", "docs", "statemachine.md"), statemachine.Markdown())
}

func machines() []statemachine.Machine {
	return []statemachine.Machine{statemachine.InstanceMachine(), statemachine.RequestMachine()}
}

func TestMachine_Table(t *testing.T) {
	for _, m := range machines() {
		golden(t, filepath.Join("testdata", m.Name+".txt"), m.Table())
		for line := range strings.Lines(m.Table()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: line of %d columns: %s", m.Name, n, line)
			}
		}
	}
}

func TestMachine_Mermaid(t *testing.T) {
	for _, m := range machines() {
		golden(t, filepath.Join("testdata", m.Name+".mmd"), m.Mermaid())
	}
}

func TestMachine_JSON_RoundTrip(t *testing.T) {
	for _, m := range machines() {
		b, err := m.JSON()
		if err != nil {
			t.Fatal(err)
		}
		var got statemachine.Machine
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v in %s", m.Name, err, b)
		}
		if diff := cmp.Diff(m, got); diff != "" {
			t.Errorf("%s after JSON (-want +got):\n%s", m.Name, diff)
		}
	}
}

// Every form shows every rule: none may be lost by grouping.
func TestMachine_EveryFormShowsEveryRule(t *testing.T) {
	for _, m := range machines() {
		if got := strings.Count(m.Table(), "\n"); got <= len(m.Rules) {
			t.Errorf("%s: Table() has %d lines for %d rules", m.Name, got, len(m.Rules))
		}
		for _, r := range m.Rules {
			if !strings.Contains(statemachine.Markdown(), "| "+r.On+" | ") || !strings.Contains(statemachine.Markdown(), r.Why) {
				t.Errorf("Markdown() lacks %+v", r)
			}
			from := r.From
			if from == "" {
				from = "[*]"
			}
			if !mermaidHas(m.Mermaid(), from, r.To, r.On) {
				t.Errorf("%s: Mermaid() lacks %s --> %s: %s", m.Name, from, r.To, r.On)
			}
		}
	}
}

func mermaidHas(diagram, from, to, on string) bool {
	for line := range strings.Lines(diagram) {
		events, ok := strings.CutPrefix(strings.TrimSpace(line), from+" --> "+to+": ")
		if !ok {
			continue
		}
		for event := range strings.SplitSeq(events, ", ") {
			if event == on {
				return true
			}
		}
	}
	return false
}
