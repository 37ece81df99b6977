package main

import (
	"fmt"
	"io"
	"strings"
)

// progress shows people what a waiting verb waits for: on a terminal in one line that is drawn over,
// elsewhere in one line per change.
type progress struct {
	w       io.Writer
	tty     bool
	columns func() int
	last    string // what was shown last
	drawn   bool   // a line without its end stands on the terminal
}

func newProgress(s streams) *progress {
	return &progress{w: s.err, tty: s.errTTY, columns: func() int {
		columns, _ := s.size()
		return columns
	}}
}

// eraseLine goes to the beginning of the line and clears it (ECMA-48 CR, EL).
const eraseLine = "\r\x1b[K"

// show says where things stand. Elsewhere than on a terminal it prints nothing unless what changed;
// clock is what changes all the time, such as the seconds waited.
func (p *progress) show(what, clock string) {
	what = strings.ReplaceAll(printable(what), "\n", " ")
	if p.tty {
		fmt.Fprint(p.w, eraseLine+cut(what+clock, p.columns()-1))
		p.drawn = true
		return
	}
	if what != p.last {
		fmt.Fprintln(p.w, what+clock)
	}
	p.last = what
}

// note prints a line of its own and leaves it.
func (p *progress) note(format string, args ...any) {
	p.clear()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// clear removes the live line, so that a result can take its place.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, eraseLine)
		p.drawn = false
	}
}
