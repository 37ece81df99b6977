package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/e2e/sim/lived"
	"github.com/remuda-run/remuda/e2e/sim/plant"
)

// verdict is what a hunt for one bug brought.
type verdict struct {
	Patch    string        `json:"patch"` // hash of its text
	Revision string        `json:"revision"`
	Budget   time.Duration `json:"budget"`
	CPU      time.Duration `json:"cpu"`
	By       string        `json:"by"`              // the mode that found it, or plant.Nothing
	Story    string        `json:"story,omitempty"` // of the mode
	Law      string        `json:"law,omitempty"`   // or how it crashed
	Text     string        `json:"text,omitempty"`
}

// verdicts are kept by the name of the bug.
type verdicts map[string]verdict

// unitTest is who finds a bug that no campaign can meet.
const unitTest = "its unit test"

// holds reports whether a verdict is still of this bug, in this revision of the tree. What was not found may be with a
// larger budget.
func (v verdict) holds(b plant.Bug, o options) (bool, error) {
	patch, err := hashFile(b.Path)
	return err == nil && v.Patch == patch && v.Revision == o.revision &&
		(v.By != plant.Nothing || v.Budget >= o.budget), err
}

// hunted is the verdict for the table of the docs.
func (v verdict) hunted() plant.Hunted {
	return plant.Hunted{By: v.By, Law: v.Law, CPU: strconv.Itoa(int(v.CPU.Round(time.Second).Seconds()))}
}

// line tells the verdict of a bug.
func (v verdict) line(b plant.Bug) string {
	cells := fmt.Sprintf("  %-26s %-8s", b.Name(), b.ID)
	seconds := fmt.Sprintf("%.1f CPU-s", v.CPU.Seconds())
	if v.By == plant.Nothing {
		return fmt.Sprintf("%s %-8s NOT FOUND, %s\n", cells, v.By, seconds)
	}
	return fmt.Sprintf("%s %-8s %s, %s (%s: %s)\n", cells, v.By, v.Law, seconds, v.Story, cut(v.Text, 120))
}

// read makes a verdict of what a hunt said and how it ended; ok is false if it has none: the hunt itself failed.
func read(last lived.StoryRef, find *lived.Find, text string, err error, hung bool) (v verdict, ok bool) {
	switch {
	case find != nil:
		law := find.Law
		if find.Expect {
			law = "expected: " + law
		}
		return verdict{By: find.Mode, Story: find.Story, Law: law, Text: find.Text}, true
	case hung:
		return verdict{By: "a crash in " + last.Mode, Story: last.Story, Law: "a crash: it hangs", Text: "the story had no end"}, true
	case err == nil:
		return verdict{By: plant.Nothing}, true
	}
	for line := range strings.Lines(text) {
		for _, mark := range []string{"panic: ", "fatal error: ", "SIGSEGV: "} {
			if strings.HasPrefix(line, mark) {
				return verdict{By: "a crash in " + last.Mode, Story: last.Story, Law: "a crash: " + cut(strings.TrimSpace(line), 80), Text: strings.TrimSpace(line)}, true
			}
		}
	}
	return verdict{}, false
}

// cut shortens a text to n bytes or a little less.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
