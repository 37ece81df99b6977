package config

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
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
		at, what, _ := strings.Cut(strings.TrimPrefix(complaint, "line "), ": ")
		what, _, _ = strings.Cut(what, " at line ")
		line, _ := strconv.Atoi(at)
		what, kind := inOurWords(what)
		key, line := find(n, written.Content[0], key, line, kind)
		if strings.HasPrefix(what, "field ") { // field mmem not found in type config.Class
			wrong = append(wrong, problem{line, fmt.Errorf("unknown key %q: %s", key, suggest(key))})
		} else {
			wrong = append(wrong, problem{line, fmt.Errorf("%s: %s", key, what)})
		}
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

// otherKind is the library's complaint of a value that its target does not take.
var otherKind = regexp.MustCompile("(?s)^cannot unmarshal !!(\\w+)(?: `(.*)`)? into (.+)$")

// inOurWords says what the library complains of without its types, and of which kind of node it is, 0 if of any.
func inOurWords(what string) (string, yaml.Kind) {
	m := otherKind.FindStringSubmatch(what)
	if m == nil {
		return what, 0
	}
	switch tag, got, target := m[1], m[2], m[3]; tag {
	case "map":
		return fmt.Sprintf("must be %s, got a mapping", wanted(target)), yaml.MappingNode
	case "seq":
		return fmt.Sprintf("must be %s, got a list", wanted(target)), yaml.SequenceNode
	case "str":
		return fmt.Sprintf("must be %s, got %q", wanted(target), got), yaml.ScalarNode
	default:
		return fmt.Sprintf("must be %s, got %s", wanted(target), got), yaml.ScalarNode
	}
}

// wanted is what a type of Go takes.
func wanted(target string) string {
	for _, t := range []reflect.Type{reflect.TypeFor[Class](), reflect.TypeFor[GPU](), reflect.TypeFor[ProcessType]()} {
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

// find returns key and line in n of what was written in the given line, of a kind unless that is 0; the line 0 if it was not
// there.
func find(n, written *yaml.Node, key string, line int, kind yaml.Kind) (string, int) {
	if written.Line == line && written.Kind == kind {
		return key, n.Line
	}
	for i, child := range written.Content {
		at := fmt.Sprintf("%s[%d]", key, i)
		if written.Kind == yaml.MappingNode {
			at = key + "." + written.Content[i-i%2].Value
		}
		if at, line := find(n.Content[i], child, at, line, kind); line > 0 {
			return at, line
		}
	}
	if written.Line == line && kind == 0 {
		return key, n.Line
	}
	return key, 0
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
