package sim

import (
	"fmt"
	"sync"
	"time"
)

// Violation is a law that did not hold.
type Violation struct {
	At   time.Duration
	Law  string
	Text string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s", v.At.Round(time.Millisecond), v.Law, v.Text)
}

// verdicts are all violations of a story.
type verdicts struct {
	w *World

	mu     sync.Mutex
	all    []Violation
	told   map[string]bool // violations that are told once
	waived map[string]bool // laws that do not hold here, and reasons that exempt a machine's end: see Live
}

func newVerdicts(w *World) *verdicts {
	return &verdicts{w: w, told: map[string]bool{}, waived: map[string]bool{}}
}

// broke notes a violation.
func (v *verdicts) broke(law, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.waived[law] {
		return
	}
	one := Violation{v.w.since(), law, fmt.Sprintf(format, args...)}
	if v.w.o.Hasty && len(v.all) == 0 {
		close(v.w.spoilt)
	}
	v.all = append(v.all, one)
	v.w.transcript.tellf("VIOLATED %s: %s", one.Law, one.Text)
}

// once notes a violation that lasts a single time.
func (v *verdicts) once(law, what, format string, args ...any) {
	v.mu.Lock()
	told := v.told[law+what]
	v.told[law+what] = true
	v.mu.Unlock()
	if !told {
		v.broke(law, format, args...)
	}
}

// waive lets laws, or reasons for which a healthy machine ends, be.
func (v *verdicts) waive(what ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range what {
		v.waived[w] = true
	}
}

// waives reports whether a law, or a reason, was waived.
func (v *verdicts) waives(what string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.waived[what]
}
