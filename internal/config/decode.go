package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// readFile sets what the file of l says. All that is wrong with it is told at once, each with its line and key.
func (l *Loaded) readFile(text []byte) error {
	docs := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	switch err := docs.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil // empty, or all comments
	case err != nil:
		return fmt.Errorf("%s: %w", l.File, err)
	}
	if err := docs.Decode(&more); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s:%d: must hold one YAML document only", l.File, more.Line)
	}
	seen := places{}
	seen.walk(&doc, "")
	for line, all := range seen {
		for _, p := range all {
			if set, ok := settingFor(p.key); ok && p.node.Tag != "!!null" {
				l.origins[p.key] = Origin{"file", fmt.Sprintf("%s:%d", l.File, line)}
				if set.composed() { // the default of a list or a map is replaced as a whole
					set.in(&l.Config).SetZero()
				}
			}
		}
	}
	into := yaml.NewDecoder(bytes.NewReader(text))
	into.KnownFields(true)
	where := func(line int) string { return fmt.Sprintf("%s:%d: ", l.File, line) }
	err := errors.Join(explain(into.Decode(&l.Config), where, seen), seen.fractions(where))
	for _, set := range settings {
		switch v := set.in(&l.Config); {
		case v.Kind() == reflect.String && !utf8.ValidString(v.String()):
			err = errors.Join(err, fmt.Errorf("%s: %s: must be UTF-8", l.File, set.Key))
		case v.Kind() == reflect.Slice && v.Len() == 0:
			v.SetZero() // as its default is
		}
	}
	return err
}

// place is a key of a file and what stands there.
type place struct {
	key  string
	node *yaml.Node
}

// places are the keys of a file, by line.
type places map[int][]place

// deepest is how deep any setting goes: section, setting, element, field of it.
const deepest = 4

// walk notes what is at and below n, whose key is given.
func (p places) walk(n *yaml.Node, key string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if strings.Count(key, ".") >= deepest {
		return
	}
	switch n.Kind {
	case yaml.DocumentNode:
		p.walk(n.Content[0], key)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, child := n.Content[i], n.Content[i+1]
			at := key
			if name.Tag != "!!merge" {
				at = join(key, name.Value)
				p[name.Line] = append(p[name.Line], place{at, child})
			}
			p.walk(child, at)
		}
	case yaml.SequenceNode:
		for i, child := range n.Content {
			p[child.Line] = append(p[child.Line], place{fmt.Sprintf("%s[%d]", key, i), child})
			if child.Kind == yaml.MappingNode {
				p.walk(child, fmt.Sprintf("%s[%d]", key, i))
			}
		}
	case yaml.ScalarNode, yaml.AliasNode:
	}
}

// at returns the key that a problem on a line is about: the last that fits, or "the file".
func (p places) at(line int, fits func(place) bool) string {
	for _, one := range slices.Backward(p[line]) {
		if fits(one) {
			return one.key
		}
	}
	return "the file"
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// What the decoder says of a problem; each begins with its line.
var (
	wrongKind = regexp.MustCompile("^line (\\d+): cannot unmarshal (!!\\w+)(?: `((?s:.*))`)? into (\\S+)$")
	unknown   = regexp.MustCompile(`^line (\d+): field (\S+) not found in type \S+$`)
	anyLine   = regexp.MustCompile(`^line (\d+): (.*)$`)
)

// takes says what a value of a type of Go must be.
func takes(typ string) string {
	switch {
	case typ == "time.Duration":
		return "must be a duration such as 250ms, 30s or 5m"
	case typ == "uint64":
		return "must be a whole number from 0"
	case strings.HasPrefix(typ, "int"):
		return "must be a whole number"
	case strings.HasPrefix(typ, "float"):
		return "must be a number"
	case typ == "string":
		return "must be a single value"
	case strings.HasPrefix(typ, "[]"):
		return "must be a list"
	}
	return "must hold keys and values"
}

// fractions returns an error for each number that would lose its fraction: the decoder would cut it off.
func (p places) fractions(where func(line int) string) error {
	var errs []error
	for _, line := range slices.Sorted(maps.Keys(p)) {
		for _, one := range p[line] {
			x, err := strconv.ParseFloat(one.node.Value, 64)
			if t := typeAt(one.key); one.node.ShortTag() == "!!float" && t != nil && (t.Kind() == reflect.Int || t.Kind() == reflect.Int64 || t.Kind() == reflect.Uint64) &&
				(err != nil || x != math.Trunc(x)) {
				errs = append(errs, fmt.Errorf("%s%s: %s, got %q", where(line), one.key, takes(t.String()), one.node.Value))
			}
		}
	}
	return errors.Join(errs...)
}

// typeAt returns the type of what a key of the file sets, nil if there is none.
func typeAt(key string) reflect.Type {
	t := reflect.TypeFor[Config]()
	for _, part := range strings.FieldsFunc(key, func(r rune) bool { return r == '.' || r == '[' }) {
		switch t.Kind() {
		case reflect.Map, reflect.Slice:
			t = t.Elem()
		case reflect.Struct:
			i := slices.IndexFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
				name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
				return name == part
			})
			if i < 0 {
				return nil
			}
			t = t.Field(i).Type
		default:
			return nil
		}
	}
	return t
}

// explain turns what the decoder says of lines into what it means for settings. where names the source of a line.
func explain(err error, where func(line int) string, seen places) error {
	var all *yaml.TypeError
	if !errors.As(err, &all) {
		return err
	}
	var errs []error
	for _, text := range all.Errors {
		m := anyLine.FindStringSubmatch(text)
		if m == nil {
			errs = append(errs, errors.New(text))
			continue
		}
		line, err := strconv.Atoi(m[1])
		if err != nil {
			return err
		}
		switch kind, field := wrongKind.FindStringSubmatch(text), unknown.FindStringSubmatch(text); {
		case kind != nil:
			value := strings.TrimSuffix(kind[3], "...")
			key := seen.at(line, func(p place) bool { return strings.HasPrefix(p.node.Value, value) && p.node.ShortTag() == kind[2] })
			text = key + ": " + takes(kind[4])
			if kind[3] != "" {
				text += fmt.Sprintf(", got %q", kind[3])
			}
		case field != nil:
			key := seen.at(line, func(p place) bool { return p.key == field[2] || strings.HasSuffix(p.key, "."+field[2]) })
			text = fmt.Sprintf("unknown key %q: %s", key, suggest(key))
		default:
			text = m[2]
		}
		errs = append(errs, errors.New(where(line)+text))
	}
	return errors.Join(errs...)
}
