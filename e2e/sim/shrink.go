package sim

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"
)

// Exact returns the script whose story is that of o, told with r, without chance: the faults that fired are
// named one by one.
func Exact(o Script, r Report) Script {
	o.Rates, o.Faults = nil, nil
	for _, f := range r.Fired {
		o.Faults = append(o.Faults, f.Fault)
	}
	return o
}

// Shrinker looks for the shortest script that still breaks a law.
type Shrinker struct {
	Law  string
	Run  func(Script) Report
	Most int                           // stories to tell at most
	Log  func(format string, a ...any) // how far it is

	ran int
}

// Shrink returns a script without chance, with as few faults, steps and options as it found, that breaks the law
// as o does. Taking one more away mends it, unless the stories ran out.
func (s *Shrinker) Shrink(o Script) (Script, error) {
	r := s.Run(o)
	if !s.breaks(r) {
		return o, fmt.Errorf("shrink seed %d: its story does not break %q", o.Seed, s.Law)
	}
	was := o
	o = Exact(o, r)
	if !s.fails(o) {
		return o, fmt.Errorf("shrink seed %d: with its %d faults by number the story does not break %q any more", o.Seed, len(r.Fired), s.Law)
	}
	for {
		faults, steps, ran := len(o.Faults), len(o.Steps), s.ran
		o.Faults = minimize(o.Faults, func(f []Fault) bool {
			c := o
			c.Faults = f
			return s.fails(c)
		})
		o.Steps = minimize(o.Steps, func(steps []Step) bool {
			c := o
			c.Steps = steps
			return len(steps) > 0 && s.fails(c)
		})
		simpler := s.simplify(&o)
		s.Log("%d stories: %d faults and %d steps left of %d and %d", s.ran, len(o.Faults), len(o.Steps), len(r.Fired), len(was.Steps))
		if len(o.Faults) == faults && len(o.Steps) == steps && !simpler || s.ran >= s.Most || ran == s.ran {
			return o, nil
		}
	}
}

// fails reports whether the story of a script breaks the law. When the stories have run out, none does.
func (s *Shrinker) fails(o Script) bool {
	if s.ran >= s.Most {
		return false
	}
	s.ran++
	return s.breaks(s.Run(o))
}

func (s *Shrinker) breaks(r Report) bool {
	return slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Law == s.Law })
}

// minimize returns a smallest part of list, in its order, for which fails still holds, as it does for list:
// the algorithm ddmin of Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002.
func minimize[T any](list []T, fails func([]T) bool) []T {
	if len(list) == 0 || fails(nil) {
		return nil
	}
	for n := 2; len(list) > 1; {
		smaller, ok := smaller(list, n, fails)
		switch {
		case ok && len(smaller) <= (len(list)+n-1)/n:
			list, n = smaller, 2 // one part alone
		case ok:
			list, n = smaller, max(n-1, 2) // all but one part
		case n >= len(list):
			return list
		default:
			n = min(2*n, len(list))
		}
	}
	return list
}

// smaller tries each of n parts of list, and then all but each.
func smaller[T any](list []T, n int, fails func([]T) bool) ([]T, bool) {
	cut := func(i int) int { return i * len(list) / n }
	for i := range n {
		if part := list[cut(i):cut(i+1)]; fails(part) {
			return part, true
		}
	}
	if n == 2 {
		return nil, false // all but one is the other one
	}
	for i := range n {
		if rest := slices.Concat(list[:cut(i)], list[cut(i+1):]); fails(rest) {
			return rest, true
		}
	}
	return nil, false
}

// simplify gives every option of the script and every word of its steps its default, or a rounder value, where
// the law is broken all the same. It reports whether it could.
func (s *Shrinker) simplify(o *Script) bool {
	changed := false
	try := func(c Script) bool {
		ok := c.check() == nil && s.fails(c)
		if ok {
			*o, changed = c, true
		}
		return ok
	}
	for i, w := range words(reflect.ValueOf(*o)) {
		if w.name == "seed" {
			continue // another seed is another story
		}
		for _, value := range simpler(w) {
			if try(with(*o, i, value)) {
				break
			}
		}
	}
	for n := range o.Steps {
		for _, at := range rounder(o.Steps[n].At) {
			if (n == 0 || at >= o.Steps[n-1].At) && try(o.instead(n, step(at, o.Steps[n].Act))) {
				break
			}
		}
		for i, w := range words(reflect.ValueOf(o.Steps[n].Act)) {
			for _, value := range simpler(w) {
				a := with(o.Steps[n].Act, i, value)
				if legal(a) == nil && try(o.instead(n, step(o.Steps[n].At, a))) {
					break
				}
			}
		}
	}
	return changed
}

// instead returns the script with another nth step.
func (o Script) instead(n int, s Step) Script {
	o.Steps = slices.Clone(o.Steps)
	o.Steps[n] = s
	return o
}

// with returns a copy of a struct whose ith word has another value.
func with[T any](a T, i int, value any) T {
	c := reflect.New(reflect.TypeOf(a)).Elem()
	c.Set(reflect.ValueOf(a))
	w := words(c)[i].value
	w.Set(reflect.ValueOf(value).Convert(w.Type()))
	return c.Interface().(T) //nolint:forcetypeassert // it is a copy
}

// simpler returns simpler values of a word, the simplest first.
func simpler(w word) []any {
	var out []any
	if !w.first && !w.value.IsZero() {
		out = append(out, reflect.Zero(w.value.Type()).Interface())
	}
	switch {
	case w.value.Type() == durationType:
		for _, d := range rounder(time.Duration(w.value.Int())) {
			if d > 0 {
				out = append(out, d)
			}
		}
	case w.value.Kind() == reflect.Int && w.value.Int() > 1:
		out = append(out, 1)
	case w.value.Kind() == reflect.Float64:
		for _, f := range []float64{math.Round(w.value.Float()), math.Round(w.value.Float()*10) / 10} {
			if f != w.value.Float() {
				out = append(out, f)
			}
		}
	}
	return out
}

// rounder returns rounder durations that are not longer.
func rounder(d time.Duration) []time.Duration {
	var out []time.Duration
	for _, to := range []time.Duration{time.Hour, 10 * time.Minute, time.Minute, 10 * time.Second, time.Second} {
		if r := d.Truncate(to); r != d && (len(out) == 0 || out[len(out)-1] != r) {
			out = append(out, r)
		}
	}
	return out
}
