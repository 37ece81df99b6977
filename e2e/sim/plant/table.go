package plant

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The marks between which the table stands in docs/reliability.md.
const (
	begin = "<!-- planted bugs: go test ./e2e/sim/plant -update -->\n"
	end   = "<!-- end of planted bugs -->\n"
)

// Hunted is what the campaigns made of a bug, without its story.
type Hunted struct {
	By  string // the mode that found it, or Nothing
	Law string // that it broke
	CPU string // seconds of a processor
}

// Nothing has found it.
const Nothing = "nothing"

// none stands where nothing is known yet.
const none = "–"

// Document writes the table of planted bugs and the rate of those found into the text of docs/reliability.md. What
// became of the hunts is in hunted, by the name of the bug; of the others the text keeps what it has.
func Document(text string, bugs []Bug, hunted map[string]Hunted) (string, error) {
	above, rest, found := strings.Cut(text, begin)
	table, below, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("the marks %q and %q must be there", begin, end)
	}
	all := rows(table)
	maps.Copy(all, hunted)
	var b strings.Builder
	b.WriteString(above + begin + rate(bugs, all) + "\n\n")
	b.WriteString("| patch | of | what is wrong | found by | what broke | CPU-s |\n|---|---|---|---|---|---|\n")
	for _, bug := range bugs {
		h, ok := all[bug.Name()]
		if !ok {
			h = Hunted{none, none, none}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", bug.Name(), bug.ID, cell(bug.Title), h.By, cell(h.Law), h.CPU)
	}
	return b.String() + end + below, nil
}

// cell keeps a text from being more than one cell.
func cell(text string) string {
	if text == "" {
		return none
	}
	return strings.NewReplacer("|", "/", "\n", " ").Replace(text)
}

// rows reads what a table says of hunts.
func rows(table string) map[string]Hunted {
	out := map[string]Hunted{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 6 || !strings.HasPrefix(cells[0], "| `") {
			continue
		}
		name := strings.Trim(cells[0], "| `")
		out[name] = Hunted{cells[3], cells[4], strings.TrimSuffix(cells[5], " |")}
	}
	return out
}

// rate says how many of the bugs that count were found.
func rate(bugs []Bug, all map[string]Hunted) string {
	var r Rate
	for _, b := range bugs {
		h, ok := all[b.Name()]
		r.Add(b, ok && h.By != none, h.By)
	}
	return r.String() + "."
}

// Rate counts what the campaigns find.
type Rate struct {
	Found, Counted int
	Missed         []string // counted, and not found
	Open           []string // not hunted yet
	Exempt         []string
}

// Add counts a bug.
func (r *Rate) Add(b Bug, judged bool, by string) {
	switch {
	case b.Exempt():
		r.Exempt = append(r.Exempt, b.Name())
	case !judged:
		r.Open = append(r.Open, b.Name())
	case by == Nothing:
		r.Counted++
		r.Missed = append(r.Missed, b.Name())
	default:
		r.Counted++
		r.Found++
	}
}

// Percent is the share of those found.
func (r Rate) Percent() float64 { return 100 * float64(r.Found) / float64(max(r.Counted, 1)) }

// String says it in a sentence.
func (r Rate) String() string {
	var b strings.Builder
	if r.Counted == 0 {
		return fmt.Sprintf("Without their own stories no bug was hunted yet, of %d", len(r.Open))
	}
	fmt.Fprintf(&b, "Without their own stories %d of %d bugs were found, %s %%", r.Found, r.Counted, strconv.FormatFloat(r.Percent(), 'f', 1, 64))
	list := func(what string, names []string) {
		if len(names) > 0 {
			fmt.Fprintf(&b, "; %s: `%s`", what, strings.Join(slices.Sorted(slices.Values(names)), "`, `"))
		}
	}
	list("not found", r.Missed)
	if len(r.Open) > 3 {
		fmt.Fprintf(&b, "; %d are not hunted yet", len(r.Open))
	} else {
		list("not hunted yet", r.Open)
	}
	list("exempt", r.Exempt)
	return b.String()
}
