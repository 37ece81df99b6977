package config

import (
	"fmt"
	"reflect"
	"strings"
)

// Example returns a configuration file that says everything and changes nothing: every setting
// is commented out at its default.
func Example() string {
	var b strings.Builder
	b.WriteString(`# remuda configuration. Every setting is shown at its default and commented out.
# A setting can also be given as the environment variable named beside it, or as --set key=value;
# flags win over the environment, the environment over this file. Durations: 250ms, 30s, 5m, 1h30m.
`)
	section := ""
	for _, s := range settings {
		indent, name := "", s.Key
		if parent, child, ok := strings.Cut(s.Key, "."); ok {
			indent, name = "  ", child
			if parent != section {
				fmt.Fprintf(&b, "\n# %s\n%s:\n", sectionDoc(parent), parent)
			}
			section = parent
		} else {
			b.WriteString("\n")
		}
		if s.Key == "classes" {
			for _, field := range ClassFields() {
				fmt.Fprintf(&b, "#   %s: %s\n", field[0], field[1])
			}
		}
		fmt.Fprintf(&b, "%s# %s (%s)\n%s# %s: %s\n", indent, s.Doc, s.Env(), indent, name, s.yaml(Default()))
	}
	return b.String()
}

// sectionDoc is the doc line of a section of the file.
func sectionDoc(key string) string {
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") == key {
			return f.Tag.Get("doc")
		}
	}
	return ""
}

// yaml writes the value of s in c as it may stand in a file, on one line.
func (s Setting) yaml(c Config) string {
	if v := s.in(&c); v.Kind() == reflect.String || s.perArch() {
		return flow(v)
	}
	return s.Text(c)
}
