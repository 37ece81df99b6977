package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decoder fills values from YAML strictly: an unknown or repeated key and a value of the wrong kind
// are errors. It goes on after each, so that all problems are reported together.
type decoder struct {
	file string // for messages; empty: the text has no file
	errs []error
	seen func(key string, line int) // called for each setting that was set
}

func (d *decoder) err() error { return errors.Join(d.errs...) }

func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if d.file != "" {
		err = fmt.Errorf("%s:%d: %w", d.file, n.Line, err)
	}
	d.errs = append(d.errs, err)
}

// value sets v from n. key is where v is.
func (d *decoder) value(v reflect.Value, n *yaml.Node, key string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	before := len(d.errs)
	switch v.Kind() {
	case reflect.Struct:
		d.mapping(v, n, key)
	case reflect.Map:
		d.entries(v, n, key)
	case reflect.Slice:
		d.list(v, n, key)
	default:
		d.scalar(v, n, key)
	}
	if _, ok := settingFor(key); ok && d.seen != nil && len(d.errs) == before {
		d.seen(key, n.Line)
	}
}

func (d *decoder) scalar(v reflect.Value, n *yaml.Node, key string) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.fail(n, "%s: must be a single value", key)
		return
	}
	if err := parseScalar(v, n.Value); err != nil {
		d.fail(n, "%s: %w", key, err)
	}
}

func (d *decoder) mapping(v reflect.Value, n *yaml.Node, key string) {
	fields, optional := map[string]reflect.Value{}, map[string]bool{}
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		fields[name], optional[name] = v.Field(i), option == "omitempty"
	}
	given := d.pairs(n, key, func(name string, at, child *yaml.Node) {
		field, ok := fields[name]
		if !ok {
			d.fail(at, "unknown key %q: %s", join(key, name), suggest(key, name, slices.Sorted(maps.Keys(fields))))
			return
		}
		d.value(field, child, join(key, name))
	})
	if isSection(key) || !given {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) { // an element of a list or map: all of it is needed
		if !hasKey(n, name) && !optional[name] {
			d.fail(n, "%s: must be set", join(key, name))
		}
	}
}

func (d *decoder) entries(v reflect.Value, n *yaml.Node, key string) {
	out := reflect.MakeMap(v.Type())
	if d.pairs(n, key, func(name string, _, child *yaml.Node) {
		element := reflect.New(v.Type().Elem()).Elem()
		d.value(element, child, join(key, name))
		out.SetMapIndex(reflect.ValueOf(name), element)
	}) {
		v.Set(out)
	}
}

func (d *decoder) list(v reflect.Value, n *yaml.Node, key string) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, "%s: must be a list", key)
		return
	}
	if len(n.Content) == 0 {
		v.SetZero() // as its default is
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, child := range n.Content {
		d.value(out.Index(i), child, fmt.Sprintf("%s[%d]", key, i))
	}
	v.Set(out)
}

// pairs calls yield for each key of n, and reports whether n is a mapping at all.
func (d *decoder) pairs(n *yaml.Node, key string, yield func(name string, at, child *yaml.Node)) bool {
	if isSection(key) && n.Tag == "!!null" {
		return true // everything in it is commented out
	}
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s: must hold keys and values", cmp.Or(key, "the file"))
		return false
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		at, child := n.Content[i], n.Content[i+1]
		if line, twice := lines[at.Value]; twice {
			d.fail(at, "key %q: given twice, first in line %d", join(key, at.Value), line)
			continue
		}
		lines[at.Value] = at.Line
		yield(at.Value, at, child)
	}
	return true
}

func hasKey(n *yaml.Node, name string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}
