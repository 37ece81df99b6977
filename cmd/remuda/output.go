package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/remuda-run/remuda/store"
)

// Output formats of --output.
const (
	formatTable = "table"
	formatWide  = "wide"
	formatJSON  = "json"
)

// printJSON writes v indented.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

// printAs writes v as JSON, or else its text for people.
func printAs(w io.Writer, format string, v any, text string) error {
	if format == formatJSON {
		return printJSON(w, v)
	}
	_, err := io.WriteString(w, text)
	return err
}

// table is rows of cells under a header, for people.
type table struct {
	header []string
	rows   [][]string
	shrink []int  // columns that may be cut to make a line fit, the first to be cut first
	failed []bool // rows that are of something that failed; nil: none
}

// mark says whether the next row is of something that failed. It is called for every row, or for none.
func (t *table) mark(failed bool) { t.failed = append(t.failed, failed) }

func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = line(cell, maxCell)
	}
	t.rows = append(t.rows, cells)
}

// height is how many lines the table takes with an empty one before it; one without rows takes none.
func (t *table) height() int {
	if len(t.rows) == 0 {
		return 0
	}
	return len(t.rows) + 2
}

// Columns stand apart by gap, or by narrowGap where that makes the lines fit. A cut cell keeps
// minCell characters.
const (
	gap       = "  "
	narrowGap = " "
	minCell   = 6
)

// String renders the table in lines of at most width columns, or of any length if width is 0.
func (t *table) String(width int) string { return t.on(sheet{columns: width}) }

// on renders the table on a sheet, in as many lines as it takes.
func (t *table) on(s sheet) string {
	width := s.columns
	widths := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	between := gap
	if width > 0 && over(widths, between, width) > 0 {
		between = narrowGap
		t.fit(widths, over(widths, between, width))
	}
	var b strings.Builder
	for n, row := range append([][]string{t.header}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			cell = cut(cell, widths[i])
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + between)
		}
		text := strings.TrimRight(line.String(), " ")
		if n > 0 && t.failed != nil && t.failed[n-1] {
			text = s.paint(text)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// over is how much longer than width a line is.
func over(widths []int, between string, width int) int {
	total := len(between) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total - width
}

// fit takes excess from the columns that may be cut.
func (t *table) fit(widths []int, excess int) {
	for _, i := range t.shrink {
		take := min(excess, widths[i]-max(minCell, utf8.RuneCountInString(t.header[i])))
		if take > 0 {
			widths[i] -= take
			excess -= take
		}
	}
}

// cut shortens s to width columns and shows that it did.
func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	return string([]rune(s)[:width-1]) + "…"
}

// fields renders label and value pairs, one per line. Pairs without a value are left out.
func fields(pairs ...[2]string) string {
	widest := 0
	for _, p := range pairs {
		widest = max(widest, len(p[0]))
	}
	var b strings.Builder
	for _, p := range pairs {
		if p[1] == "" {
			continue
		}
		lines := strings.Split(strings.TrimRight(printable(p[1]), "\n"), "\n")
		fmt.Fprintf(&b, "%-*s%s%s\n", widest, p[0], gap, lines[0])
		for _, line := range lines[1:] {
			fmt.Fprintf(&b, "%*s%s%s\n", widest, "", gap, line)
		}
	}
	return b.String()
}

// none stands for a value that does not exist.
const none = "–"

// short writes a duration as people compare it: whole seconds, at most two units.
func short(d time.Duration) string {
	if d < 0 {
		return "-" + short(-d)
	}
	d = d.Truncate(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
}

// seconds writes a duration as programs and tables of results want it.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// orNone returns s, or the sign for nothing.
func orNone(s string) string { return cmp.Or(s, none) }

// checkFormat reports a format that is none of allowed.
func checkFormat(got string, allowed ...string) error {
	return asUsage(oneOf("--output", got, allowed))
}

// maxCell bounds a cell of a table, in bytes. A table pads its rows to the longest cell, and a workflow may have written that cell.
const maxCell = 1200

// line returns the beginning of a text as one line of at most most bytes.
func line(text string, most int) string {
	return store.Head(strings.ReplaceAll(printable(text), "\n", " "), most)
}

// printable keeps what a script or an agent wrote from controlling the terminal, or turning text around.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) && !unicode.Is(unicode.Bidi_Control, r) {
			return r
		}
		return -1
	}, s)
}
