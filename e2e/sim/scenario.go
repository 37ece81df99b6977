package sim

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/remuda-run/remuda/store"
)

// Scenario is a script as a file: why it is told, the story, and below a line of dashes what came of it.
//
//	# One sentence or two.
//	with seed=1 controllers=2 boot=10s
//	chance lost-reply=0.01
//	at 0s run 100 count=2 jobs=2 job=5s
//	# Why this happens, if it needs a word.
//	at 50s kill controller
//	fault controller/store.Put/RunStatus:Pending>Ready/RUN#100 #1 lost-reply
//	----
//	0.0s controller-1.1 leads, term 1
//
// There is one way to write each script: what ParseScenario accepts, String writes again, byte by byte.
type Scenario struct {
	About  []string // lines of the comment above, without #
	Script Script
	Output string // whole lines
}

const dashes = "----\n"

// String writes the scenario as ParseScenario reads it.
func (s Scenario) String() string {
	var b strings.Builder
	comment := func(line string) {
		if line != "" {
			line = " " + line
		}
		b.WriteString("#" + line + "\n")
	}
	for _, line := range s.About {
		comment(line)
	}
	if options := writeWords(reflect.ValueOf(s.Script)); options != "" {
		b.WriteString("with" + options + "\n")
	}
	if len(s.Script.Rates) > 0 {
		b.WriteString("chance")
		for _, kind := range slices.Sorted(maps.Keys(s.Script.Rates)) {
			fmt.Fprintf(&b, " %s=%s", kind, writeValue(reflect.ValueOf(s.Script.Rates[kind])))
		}
		b.WriteString("\n")
	}
	for _, step := range s.Script.Steps {
		if step.Why != "" {
			comment(step.Why)
		}
		b.WriteString(step.String() + "\n")
	}
	for _, f := range s.Script.Faults {
		b.WriteString("fault " + f.String() + "\n")
	}
	b.WriteString(dashes)
	b.WriteString(s.Output)
	return b.String()
}

// ParseScenario reads what String wrote. Its errors name the line, the field, the value and what is allowed.
func ParseScenario(text string) (Scenario, error) {
	var p parser
	above, output, ok := cutDashes(text)
	if !ok {
		return Scenario{}, errors.New(`script: no line "----", must be above the output, which may be empty`)
	}
	p.out.Output = output
	n := 0
	for line := range strings.Lines(above) {
		n++
		if err := p.line(strings.TrimSuffix(line, "\n")); err != nil {
			return Scenario{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if p.comment != nil && p.begun {
		return Scenario{}, fmt.Errorf("line %d: a comment above nothing, must be above a step", n)
	}
	if !p.begun {
		p.out.About = p.comment
	}
	if len(p.out.Script.Steps) == 0 {
		return Scenario{}, errors.New("script: no step, must have at least one: at <time> <what> <field>=<value>")
	}
	return p.out, p.canonical(text)
}

// cutDashes cuts a text at its first line of dashes.
func cutDashes(text string) (above, below string, ok bool) {
	if below, ok := strings.CutPrefix(text, dashes); ok {
		return "", below, true
	}
	above, below, ok = strings.Cut(text, "\n"+dashes)
	return above + "\n", below, ok
}

// parser reads a script line by line.
type parser struct {
	out     Scenario
	comment []string // read, and not yet of anything
	begun   bool     // past the comment above
	part    int      // of the script that the last line was of
}

// line reads one line.
func (p *parser) line(line string) error {
	if text, ok := strings.CutPrefix(line, "#"); ok {
		p.comment = append(p.comment, strings.TrimPrefix(text, " "))
		return nil
	}
	verb, rest, _ := strings.Cut(line, " ")
	part := slices.Index([]string{"with", "chance", "at", "fault"}, verb)
	switch {
	case part < 0:
		return fmt.Errorf("script: got %q, must begin with one of: #, with, chance, at, fault", verb)
	case part < p.part || part == p.part && p.begun && part < 2:
		return fmt.Errorf("%s: comes too late or twice, must be in this order: with, chance, at, fault", verb)
	}
	why, err := p.why(part == 2)
	if err != nil {
		return err
	}
	p.begun, p.part = true, part
	switch verb {
	case "with":
		return p.options(rest)
	case "chance":
		return p.rates(rest)
	case "at":
		s, err := ParseStep(line)
		if err != nil {
			return err
		}
		s.Why = why
		if n := len(p.out.Script.Steps); n > 0 && p.out.Script.Steps[n-1].At > s.At {
			return fmt.Errorf("step: got time %s, must be at least that of the step before, %s", s.At, p.out.Script.Steps[n-1].At)
		}
		p.out.Script.Steps = append(p.out.Script.Steps, s)
		return nil
	}
	f, err := ParseFault(rest)
	p.out.Script.Faults = append(p.out.Script.Faults, f)
	return err
}

// why takes the comment read so far: the first is the script's, unless there is none but a step's.
func (p *parser) why(step bool) (string, error) {
	c := p.comment
	p.comment = nil
	switch {
	case len(c) == 0:
		return "", nil
	case !p.begun:
		p.out.About = c
		return "", nil
	case !step || len(c) > 1 || c[0] == "":
		return "", fmt.Errorf("comment: got %q, must be one line above a step, or at the top", strings.Join(c, " "))
	}
	return c[0], nil
}

func (p *parser) options(text string) error {
	s := &p.out.Script
	if err := readWords("with", strings.Fields(text), reflect.ValueOf(s)); err != nil {
		return err
	}
	return s.check()
}

func (p *parser) rates(text string) error {
	known := Kinds()
	rates := Rates{}
	for _, f := range strings.Fields(text) {
		name, value, _ := strings.Cut(f, "=")
		if !slices.Contains(known, Kind(name)) {
			return fmt.Errorf("chance: got %q, must be one of: %s", f, list(known))
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x > 0 && x <= 1) {
			return fmt.Errorf("chance: %s: got %q, must be a fraction above 0, at most 1", name, value)
		}
		rates[Kind(name)] = x
	}
	p.out.Script.Rates = rates
	return nil
}

// canonical refuses a text that says the same as another one.
func (p *parser) canonical(text string) error {
	got, want := strings.Split(text, "\n"), strings.Split(p.out.String(), "\n")
	if slices.Equal(got, want) {
		return nil
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	got, want = append(got, ""), append(want, "")
	return fmt.Errorf("line %d: got %q, must be written %q", i+1, got[i], want[i])
}

// ParseFault reads what Fault.String wrote.
func ParseFault(text string) (Fault, error) {
	f := strings.Fields(text)
	if len(f) != 3 {
		return Fault{}, fmt.Errorf("fault: got %q, must be: <role>/<contract.Method>/<detail>/<about> #<n> <kind>", text)
	}
	c, err := ParseCall(f[0])
	if err != nil {
		return Fault{}, fmt.Errorf("fault: %w", err)
	}
	if roles := []Role{Controller, Agent, Client}; !slices.Contains(roles, c.Role) {
		return Fault{}, fmt.Errorf("fault: role: got %q, must be one of: %s", c.Role, list(roles))
	}
	n, err := strconv.Atoi(strings.TrimPrefix(f[1], "#"))
	if err != nil || n < 1 || !strings.HasPrefix(f[1], "#") {
		return Fault{}, fmt.Errorf("fault: number: got %q, must be # and a whole number, at least 1", f[1])
	}
	if kinds := c.Kinds(); !slices.Contains(kinds, Kind(f[2])) {
		return Fault{}, fmt.Errorf("fault: kind: got %q, must be one of: %s", f[2], list(kinds))
	}
	return Fault{c, n, Kind(f[2])}, nil
}

// Kinds returns every kind of fault.
func Kinds() []Kind {
	return []Kind{CrashBefore, CrashAfter, LostReply, Late, Twice, Throttled, Stale, Older, Torn, Forgets, Hangs, Fails}
}

// list writes what is allowed.
func list[T ~string](values []T) string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return strings.Join(out, ", ")
}

// check refuses options that no story can have.
func (o Script) check() error {
	if err := oneOf("with: mode", o.Mode, "", string(store.JIT), string(store.Token)); err != nil {
		return err
	}
	if o.NeverBoots > 1 {
		return fmt.Errorf("with: never-boots: got %v, must be a chance from 0 to 1", o.NeverBoots)
	}
	if o.Controllers > 9 {
		return fmt.Errorf("with: controllers: got %d, must be at most 9", o.Controllers)
	}
	return errors.Join(o.Floors.check(), o.Money.check())
}

// Run lives through the scenario's script and returns it with what came of it as the output.
func (s Scenario) Run(run func(Script) Report) (Scenario, Report) {
	var b strings.Builder
	script := s.Script
	script.Story = &b
	r := run(script)
	s.Output = b.String() + r.summary() + "\n"
	return s, r
}
