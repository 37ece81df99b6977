package main

import (
	"fmt"
	"strings"
)

// progress shows people what a waiting verb waits for: on a terminal in one line that is drawn over,
// elsewhere in one line per change.
type progress struct {
	streams
	last  string // what was shown last
	drawn bool   // a line without its end stands on the terminal
}

func newProgress(s streams) *progress {
	return &progress{streams: s}
}

// eraseLine goes to the beginning of the line and clears it (ECMA-48 CR, EL).
const eraseLine = "\r\x1b[K"

// show says where things stand. Elsewhere than on a terminal it prints nothing unless what changed;
// clock is what changes all the time, such as the seconds waited.
func (p *progress) show(what, clock string) {
	what = strings.ReplaceAll(printable(what), "\n", " ")
	if p.errTTY {
		columns, _ := p.size()
		what = cut(what, columns-1-len(clock)) // that time passes is seen on a narrow terminal, too
		fmt.Fprint(p.err, eraseLine+cut(what+clock, columns-1))
		p.drawn = true
		return
	}
	if what != p.last {
		fmt.Fprintln(p.err, what+clock)
	}
	p.last = what
}

// note prints a line of its own and leaves it.
func (p *progress) note(format string, args ...any) {
	p.clear()
	fmt.Fprintln(p.err, printable(fmt.Sprintf(format, args...)))
}

// clear removes the live line, so that a result can take its place.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.err, eraseLine)
		p.drawn = false
	}
}
