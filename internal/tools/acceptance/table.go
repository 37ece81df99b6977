package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// here is the mark of a line that the embedded back ends can show. Any other mark says what it takes, or,
// after notMet, what is still to be done.
const (
	here   = "here"
	notMet = "not met: "
)

// line is one row of docs/acceptance.md.
type line struct {
	id        string
	severity  string // C, H, M or L of a hazard; "" of a mechanism
	statement string
	applies   string // here, or what it takes
}

// required reports whether a test must pass for l: every mechanism that can be shown here, and every
// hazard that costs money, isolation, work or capacity.
func (l line) required() bool {
	return l.applies == here && (l.severity == "" || l.severity == "C" || l.severity == "H")
}

// unmet returns what has to be done before l can hold; "" if nothing has.
func (l line) unmet() string {
	what, _ := strings.CutPrefix(l.applies, notMet)
	if what == l.applies {
		return ""
	}
	return what
}

var (
	mechanism = regexp.MustCompile(`^S\d\d$`)
	hazard    = regexp.MustCompile(`^H\d\d$`)
	severity  = regexp.MustCompile(`^[CHML]$`)
)

// readTable reads the rows of all tables in a Markdown file whose first cell is an ID:
// | Snn | statement | applies | or | Hnn | severity | statement | applies |.
func readTable(name string) ([]line, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	var lines []line
	seen := map[string]bool{}
	number := 0
	for row := range strings.Lines(string(text)) {
		number++
		l, ok, err := parseRow(row)
		if err == nil && ok && seen[l.id] {
			err = fmt.Errorf("%s stands there twice", l.id)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if ok {
			seen[l.id] = true
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s: no row found", name)
	}
	return lines, nil
}

// parseRow reads one row. It returns false for any other text.
func parseRow(row string) (line, bool, error) {
	cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	var l line
	switch id := cells[0]; {
	case mechanism.MatchString(id) && len(cells) == 3:
		l = line{id: id, statement: cells[1], applies: cells[2]}
	case hazard.MatchString(id) && len(cells) == 4 && severity.MatchString(cells[1]):
		l = line{id: id, severity: cells[1], statement: cells[2], applies: cells[3]}
	case mechanism.MatchString(id), hazard.MatchString(id):
		return line{}, false, fmt.Errorf("row of %s has the wrong cells", id)
	default:
		return line{}, false, nil
	}
	if l.statement == "" || l.applies == "" || l.applies == strings.TrimSpace(notMet) {
		return line{}, false, fmt.Errorf("row of %s has an empty cell", l.id)
	}
	return l, true, nil
}
