package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Setting is one value of Config that is set as a whole: everything but the sections.
type Setting struct {
	Key   string // as in the file: limits.claimGate
	Doc   string
	index []int // of the field, for reflect.Value.FieldByIndex
}

// settings are all, in the order of the file.
var settings = listSettings(reflect.TypeFor[Config](), "", nil)

// Settings lists every setting in the order of the file. The caller must not change it.
func Settings() []Setting { return settings }

func listSettings(t reflect.Type, prefix string, index []int) []Setting {
	var out []Setting
	for i := range t.NumField() {
		f := t.Field(i)
		key, at := prefix+f.Tag.Get("yaml"), append(slices.Clone(index), i)
		if f.Type.Kind() == reflect.Struct {
			out = append(out, listSettings(f.Type, key+".", at)...)
			continue
		}
		out = append(out, Setting{Key: key, Doc: f.Tag.Get("doc"), index: at})
	}
	return out
}

// settingFor returns the setting of key.
func settingFor(key string) (Setting, bool) {
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Key == key })
	if i < 0 {
		return Setting{}, false
	}
	return settings[i], true
}

// Words of a key begin at a capital letter, and at a number that a word follows.
var (
	afterLetter = regexp.MustCompile(`([a-z])([A-Z]|[0-9]+[A-Z])`)
	afterDigit  = regexp.MustCompile(`([0-9])([A-Z])`)
)

// Env is the name of the environment variable that sets s: limits.claimGate is
// REMUDA_LIMITS_CLAIM_GATE.
func (s Setting) Env() string {
	words := afterDigit.ReplaceAllString(afterLetter.ReplaceAllString(s.Key, "${1}_${2}"), "${1}_${2}")
	return "REMUDA_" + strings.ToUpper(strings.ReplaceAll(words, ".", "_"))
}

func (s Setting) in(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(s.index) }

// Value returns the value of s in c.
func (s Setting) Value(c Config) any { return s.in(&c).Interface() }

// Text returns the value of s in c as a flag would take it.
func (s Setting) Text(c Config) string {
	v := s.in(&c)
	if d, ok := v.Interface().(time.Duration); ok {
		return DurationText(d)
	}
	if k := v.Kind(); k == reflect.Map || k == reflect.Slice || k == reflect.Float64 {
		return flow(v)
	}
	return fmt.Sprint(v.Interface())
}

// DurationText is d as people write it: without the zero units of Duration.String.
func DurationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// flow writes a number, a map or a list of flat structs as YAML on one line, keys sorted.
func flow(v reflect.Value) string {
	var node yaml.Node
	if err := node.Encode(v.Interface()); err != nil {
		return fmt.Sprint(v.Interface())
	}
	node.Style = yaml.FlowStyle
	out, err := yaml.Marshal(&node)
	if err != nil {
		return fmt.Sprint(v.Interface())
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// composed reports whether s is a list or a map, which are written as YAML on one line.
func (s Setting) composed() bool {
	k := s.in(new(Config)).Kind()
	return k == reflect.Map || k == reflect.Slice
}

// set parses text, as it comes from the environment or from a flag. Errors name the Setting.
func (s Setting) set(c *Config, text string) error {
	v := s.in(c)
	if v.Kind() == reflect.String {
		if !utf8.ValidString(text) { // YAML, in which agents read it, has no other text
			return fmt.Errorf("%s: must be UTF-8, got %q", s.Key, Redact(text))
		}
		v.SetString(text)
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("%s: must be YAML on one line, got %q: %w", s.Key, text, err)
	}
	if empty := len(doc.Content) == 0 || doc.Content[0].Tag == "!!null"; empty && !s.composed() {
		return fmt.Errorf("%s: %s, got %q", s.Key, takes(v.Type().String()), text)
	}
	if s.composed() {
		v.SetZero()
	}
	if len(doc.Content) == 0 {
		return nil
	}
	seen := places{1: {{s.Key, doc.Content[0]}}}
	seen.walk(&doc, s.Key)
	into := yaml.NewDecoder(strings.NewReader(text))
	into.KnownFields(true)
	where := func(int) string { return "" }
	return errors.Join(explain(into.Decode(v.Addr().Interface()), where, seen), seen.fractions(where))
}
