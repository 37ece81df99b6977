package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// problem is what is wrong with a value, and in which line where that is known.
type problem struct {
	line int
	err  error
}

// composed reports whether s is a list or a map.
func (s Setting) composed() bool {
	k := s.in(new(Config)).Kind()
	return k == reflect.Map || k == reflect.Slice
}

// set gives s in c the value of n.
func (s Setting) set(c *Config, n *yaml.Node) []problem {
	v := s.in(c)
	var err error
	switch {
	case s.perArch():
		return s.setPerArch(c, n)
	case s.composed():
		v.SetZero() // it is replaced as a whole
		wrong := decode(v.Addr().Interface(), n, s.Key)
		if s.Key == "classes" {
			wrong = append(wrong, zeroIdle(n)...)
		}
		if v.Len() == 0 {
			v.SetZero() // as its default is
		}
		return wrong
	case n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null":
		err = errors.New("must be a single value")
	default:
		err = parse(v, n.Value)
	}
	if err != nil {
		return []problem{{n.Line, fmt.Errorf("%s: %w", s.Key, err)}}
	}
	return nil
}

// decode sets v, the map or list of a key, from n. The library holds a text to the fields it knows, but no node: so n
// is written first, one value a line, and a line that the library complains of is led back to key and line of n.
func decode(v any, n *yaml.Node, key string) []problem {
	plain(n)
	text, err := yaml.Marshal(n)
	var written yaml.Node
	if err == nil {
		err = yaml.Unmarshal(text, &written)
	}
	if err == nil {
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		err = d.Decode(v)
	}
	var kinds *yaml.TypeError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &kinds):
		return []problem{{n.Line, fmt.Errorf("%s: %w", key, err)}}
	}
	var wrong []problem
	for _, complaint := range kinds.Errors { // line 3: mapping key "small" already defined at line 1
		number, what, _ := strings.Cut(strings.TrimPrefix(complaint, "line "), ": ")
		what, _, _ = strings.Cut(what, " at line ")
		line, _ := strconv.Atoi(number)
		kind, target := otherKind(what)
		key, at, _ := find(n, written.Content[0], reflect.TypeOf(v).Elem(), place{key, line, kind, target})
		switch {
		case strings.HasPrefix(what, "field "): // field mmem not found in type config.Class
			what = fmt.Sprintf("unknown key %q: %s", key, suggest(key))
		case kind != 0:
			what = fmt.Sprintf("%s: must be %s, got %s", key, wanted(target), shown(at))
		default:
			what = key + ": " + what
		}
		wrong = append(wrong, problem{at.Line, errors.New(what)})
	}
	return wrong
}

// plain has the library take a number or a bool in quotes for one, and a fraction for no whole number.
func plain(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.ScalarNode {
		n.Tag = ""
		if tag := n.ShortTag(); tag != "!!int" && tag != "!!bool" {
			n.Tag = "!!str"
		}
	}
	for _, child := range n.Content {
		plain(child)
	}
}

// kindForm is the library's complaint of a value that its target does not take. It cuts the value short.
var kindForm = lazyregexp.New("(?s)^cannot unmarshal !!(\\w+)(?: `.*`)? into (.+)$")

// otherKind returns of which kind of node the library complains, and the type that it should be; 0 if it complains of
// something else.
func otherKind(what string) (yaml.Kind, string) {
	m := kindForm().FindStringSubmatch(what)
	if m == nil {
		return 0, ""
	}
	switch m[1] {
	case "map":
		return yaml.MappingNode, m[2]
	case "seq":
		return yaml.SequenceNode, m[2]
	default:
		return yaml.ScalarNode, m[2]
	}
}

// shown is what an error says that n is.
func shown(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode:
		return shown(n.Alias)
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!int":
		return n.Value
	default:
		return fmt.Sprintf("%q", Redact(n.Value))
	}
}

// wanted is what a type of Go takes.
func wanted(target string) string {
	for _, t := range []reflect.Type{reflect.TypeFor[Class](), reflect.TypeFor[GPU](), reflect.TypeFor[Warm](), reflect.TypeFor[WarmEntry](), reflect.TypeFor[ProcessType](), reflect.TypeFor[BudgetShare]()} {
		if target == t.String() {
			return "a mapping of " + strings.Join(fieldsOf(t), ", ")
		}
	}
	switch {
	case target == "time.Duration":
		return durations
	case target == "bool":
		return "true or false"
	case target == "string":
		return "a text"
	case strings.HasPrefix(target, "[]"):
		return "a list such as [a, b]"
	case strings.HasPrefix(target, "map["):
		return "a mapping such as {a: b}"
	case strings.HasPrefix(target, "float"):
		return "a number"
	default:
		return "a whole number"
	}
}

// place is what find looks for: at or below a key, in a line, of a kind that is not that of its type, unless the kind is 0.
type place struct {
	key    string
	line   int
	kind   yaml.Kind
	target string
}

// find returns key and node in n of what is written at p, where t is read; n if it is not there.
func find(n, written *yaml.Node, t reflect.Type, p place) (string, *yaml.Node, bool) {
	meant := written
	if written.Kind == yaml.AliasNode {
		meant = written.Alias
	}
	if meant.Line == p.line && meant.Kind == p.kind && t != nil && t.String() == p.target {
		return p.key, n, true
	}
	for i, child := range written.Content {
		in, name := p, ""
		if in.key = fmt.Sprintf("%s[%d]", p.key, i); written.Kind == yaml.MappingNode {
			name = written.Content[i-i%2].Value
			in.key = p.key + "." + name
		}
		below := within(t, name)
		if written.Kind == yaml.MappingNode && i%2 == 0 {
			below = reflect.TypeFor[string]()
		}
		if key, at, ok := find(n.Content[i], child, below, in); ok {
			return key, at, true
		}
	}
	return p.key, n, written.Line == p.line && p.kind == 0
}

// within is the type of what t holds, under a name in yaml if it is a struct; nil if nothing.
func within(t reflect.Type, name string) reflect.Type {
	switch {
	case t == nil:
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		return t.Elem()
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			if fieldName(f) == name {
				return f.Type
			}
		}
	}
	return nil
}

// durations are what a duration may be.
const durations = "a duration such as 250ms, 30s or 5m"

// parse sets v from text and says what v takes if text is not that.
func parse(v reflect.Value, text string) error {
	var value any = text
	var want string
	var err error
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		want = durations
		value, err = time.ParseDuration(text)
	case v.CanInt():
		want = "a whole number"
		value, err = strconv.ParseInt(text, 10, v.Type().Bits())
	case v.CanUint():
		want = "a whole number from 0"
		value, err = strconv.ParseUint(text, 10, v.Type().Bits())
	case v.CanFloat():
		want = "a number"
		value, err = strconv.ParseFloat(text, 64)
	case v.Kind() == reflect.Bool: // as YAML has them, no 1 and no T
		want = "true or false"
		if value = text == "true"; text != "true" && text != "false" {
			err = strconv.ErrSyntax
		}
	case !utf8.ValidString(text): // YAML, in which agents read it, has no other text
		return fmt.Errorf("must be UTF-8, got %q", Redact(text))
	}
	if err != nil {
		return fmt.Errorf("must be %s, got %q", want, text)
	}
	v.Set(reflect.ValueOf(value).Convert(v.Type()))
	return nil
}
