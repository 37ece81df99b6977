package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// suggest says what an unknown key may have been meant to be: one that is nearly the same, or has the same name
// elsewhere, or, where nothing is near, what may stand there.
func suggest(key string) string {
	section, name := cutLast(key)
	var near, here []string
	for _, s := range settings {
		in, known := cutLast(s.Key)
		if in == section {
			here = append(here, known)
		}
		if strings.EqualFold(known, name) || in == section && similar(known, name) {
			near = append(near, s.Key)
		}
	}
	for _, known := range fieldsAt(section) {
		here = append(here, known)
		if similar(known, name) {
			near = append(near, section+"."+known)
		}
	}
	switch {
	case len(near) > 0:
		return fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	case section == "" || len(here) == 0:
		return "`remuda config` lists all keys"
	}
	slices.Sort(here)
	return "known here are " + strings.Join(here, ", ")
}

// fieldsAt are those of a class, or of what is within one, where section is one of these.
func fieldsAt(section string) []string {
	switch part := strings.Split(section, "."); {
	case len(part) == 2 && part[0] == "classes":
		return fieldsOf(reflect.TypeFor[Class]())
	case len(part) == 3 && part[0] == "classes" && part[2] == "gpu":
		return fieldsOf(reflect.TypeFor[GPU]())
	case len(part) == 3 && part[0] == "classes" && part[2] == "warm":
		return fieldsOf(reflect.TypeFor[Warm]())
	case len(part) == 4 && part[0] == "classes" && strings.HasPrefix(part[3], "schedule["):
		return fieldsOf(reflect.TypeFor[WarmEntry]())
	case len(part) == 2 && part[0] == "budget" && strings.HasPrefix(part[1], "degrade["):
		return fieldsOf(reflect.TypeFor[BudgetShare]())
	default:
		return nil
	}
}

func cutLast(key string) (section, name string) {
	at := strings.LastIndexByte(key, '.')
	return key[:max(0, at)], key[at+1:]
}

// similar reports whether two names have the same letters, or one has those of the other and some more, or they differ by
// one.
func similar(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return strings.Contains(a, b) || strings.Contains(b, a) || mistyped(a, b)
}

// mistyped reports whether two names differ by one letter, or by the order of some.
func mistyped(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return len(a) <= 1 && len(b) <= 1 || slices.Equal(x, y)
}

// mistypedVariables reports variables that are none of ours and nearly named as one: others may begin like ours, and be
// anybody's.
func mistypedVariables(env map[string]string, known ...string) []error {
	var errs []error
	for _, s := range settings {
		known = append(known, s.Env())
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !strings.HasPrefix(name, envPrefix) || env[name] == "" || slices.Contains(known, name) {
			continue
		}
		if i := slices.IndexFunc(known, func(ours string) bool { return mistyped(name, ours) }); i >= 0 {
			errs = append(errs, fmt.Errorf("%s: unknown variable: did you mean %s?", name, known[i]))
		}
	}
	return errs
}
