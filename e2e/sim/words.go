package sim

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The words of a script are the fields of a struct, under the names in their tags: `script:"count"` is
// written count=2, a true bool as its name alone, a zero value not at all. A field tagged
// `script:"id,first"` is written without its name, before all others, and never left out.

// word is one field.
type word struct {
	name  string
	first bool
	value reflect.Value
}

// words returns the fields of v that a script writes.
func words(v reflect.Value) []word {
	var out []word
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Struct {
			out = append(out, words(v.Field(i))...)
			continue
		}
		tag := v.Type().Field(i).Tag.Get("script")
		if name, rest, _ := strings.Cut(tag, ","); name != "" {
			out = append(out, word{name, rest == "first", v.Field(i)})
		}
	}
	return out
}

// writeWords writes the fields of v, each with a blank before it.
func writeWords(v reflect.Value) string {
	var b strings.Builder
	for _, w := range words(v) {
		switch {
		case w.first:
			b.WriteString(" " + writeValue(w.value))
		case w.value.IsZero():
		case w.value.Kind() == reflect.Bool:
			b.WriteString(" " + w.name)
		default:
			b.WriteString(" " + w.name + "=" + writeValue(w.value))
		}
	}
	return b.String()
}

// readWords sets the fields of v, a pointer to a struct. what names it in errors.
func readWords(what string, texts []string, v reflect.Value) error {
	fields := words(v.Elem())
	for _, w := range fields {
		if !w.first {
			break
		}
		if len(texts) == 0 {
			return fmt.Errorf("%s: %s is missing: must be %s", what, w.name, allowed(w.value))
		}
		if err := readValue(w.value, texts[0]); err != nil {
			return fmt.Errorf("%s: %s: %w", what, w.name, err)
		}
		texts = texts[1:]
	}
	seen := map[string]bool{}
	for _, text := range texts {
		name, value, given := strings.Cut(text, "=")
		i := slices.IndexFunc(fields, func(w word) bool { return !w.first && w.name == name })
		if i < 0 {
			return fmt.Errorf("%s: got %q, must be one of: %s", what, text, names(fields))
		}
		if seen[name] {
			return fmt.Errorf("%s: %s: got it twice, must be there once", what, name)
		}
		seen[name] = true
		if isBool := fields[i].value.Kind() == reflect.Bool; isBool != !given {
			return fmt.Errorf("%s: %s: got %q, must be %s", what, name, text, usage(fields[i]))
		}
		if !given {
			fields[i].value.SetBool(true)
			continue
		}
		if err := readValue(fields[i].value, value); err != nil {
			return fmt.Errorf("%s: %s: %w", what, name, err)
		}
	}
	return nil
}

// names lists what may be written.
func names(fields []word) string {
	var out []string
	for _, w := range fields {
		if !w.first {
			out = append(out, usage(w))
		}
	}
	if len(out) == 0 {
		return "nothing more"
	}
	return strings.Join(out, ", ")
}

// usage shows how a field is written.
func usage(w word) string {
	if w.value.Kind() == reflect.Bool {
		return w.name
	}
	return w.name + "=" + strings.ReplaceAll(allowed(w.value), " ", "-")
}

var durationType = reflect.TypeFor[time.Duration]()

// allowed says what a value of that type may be.
func allowed(v reflect.Value) string {
	switch {
	case v.Type() == durationType:
		return "duration"
	case v.Kind() == reflect.Int || v.Kind() == reflect.Uint64:
		return "number"
	case v.Kind() == reflect.Float64:
		return "fraction"
	case v.Kind() == reflect.Slice:
		return "texts,with,commas"
	}
	return "text"
}

// writeValue writes one value.
func writeValue(v reflect.Value) string {
	switch {
	case v.Type() == durationType:
		return writeDuration(time.Duration(v.Int()))
	case v.Kind() == reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case v.Kind() == reflect.Slice:
		return strings.Join(v.Interface().([]string), ",") //nolint:forcetypeassert // there is no other slice
	}
	return fmt.Sprint(v)
}

// plain is what a text may consist of, so that it needs no quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9._*/#@:+-]+$`)

// readValue sets v.
func readValue(v reflect.Value, text string) (err error) {
	switch {
	case v.Type() == durationType:
		var d time.Duration
		if d, err = time.ParseDuration(text); err == nil && d < 0 {
			err = errors.New("negative")
		}
		v.SetInt(int64(d))
		return refuse(err, text, "a duration such as 90s or 10m, at least 0s")
	case v.Kind() == reflect.Int:
		var n int
		if n, err = strconv.Atoi(text); err == nil && n < 0 {
			err = errors.New("negative")
		}
		v.SetInt(int64(n))
		return refuse(err, text, "a whole number, at least 0")
	case v.Kind() == reflect.Uint64:
		var n uint64
		n, err = strconv.ParseUint(text, 10, 64)
		v.SetUint(n)
		return refuse(err, text, "a whole number, at least 0")
	case v.Kind() == reflect.Float64:
		var f float64
		if f, err = strconv.ParseFloat(text, 64); err == nil && !(f >= 0 && f <= 1000) {
			err = errors.New("out of range")
		}
		v.SetFloat(f)
		return refuse(err, text, "a fraction from 0 to 1000")
	case v.Kind() == reflect.Slice:
		out := strings.Split(text, ",")
		if slices.ContainsFunc(out, func(t string) bool { return !plain.MatchString(t) }) {
			err = errors.New("characters")
		}
		v.Set(reflect.ValueOf(out))
		return refuse(err, text, "texts of letters, digits and ._*/#@:+- with commas between")
	}
	if !plain.MatchString(text) {
		err = errors.New("characters")
	}
	v.SetString(text)
	return refuse(err, text, "a text of letters, digits and ._*/#@:+-")
}

// refuse says what is allowed instead, if err stands in the way. The cause would only repeat it.
func refuse(err error, got, want string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("got %q, must be %s", got, want)
}

// writeDuration is Duration.String without the zeros at its end.
func writeDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
