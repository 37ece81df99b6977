package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// Setting is one value of Config that is set as a whole: everything but the sections.
type Setting struct {
	Key string // as in the file: limits.claimGate
	Doc string // what it means, on one line

	Reloaded bool   // a running controller takes up another value; else it needs a restart
	form     string // of forms; "": it has checks of its own, or none
	index    []int  // of the field, for reflect.Value.FieldByIndex
}

// settings are all, in the order of the file.
var settings = listSettings(reflect.TypeFor[Config](), "", nil, false)

// Settings lists every setting in the order of the file. The caller must not change it.
func Settings() []Setting { return settings }

func listSettings(t reflect.Type, prefix string, index []int, reloaded bool) []Setting {
	var out []Setting
	for i := range t.NumField() {
		f := t.Field(i)
		key, at := prefix+f.Tag.Get("yaml"), append(slices.Clone(index), i)
		own := reloaded || f.Tag.Get("reload") == "yes"
		if f.Type.Kind() == reflect.Struct {
			out = append(out, listSettings(f.Type, key+".", at, own)...)
			continue
		}
		out = append(out, Setting{Key: key, Doc: f.Tag.Get("doc"), form: f.Tag.Get("is"), index: at, Reloaded: own})
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
	afterLetter = lazyregexp.New(`([a-z])([A-Z]|[0-9]+[A-Z])`)
	afterDigit  = lazyregexp.New(`([0-9])([A-Z])`)
)

// Env is the name of the environment variable that sets s: limits.claimGate is
// REMUDA_LIMITS_CLAIM_GATE.
func (s Setting) Env() string {
	words := afterDigit().ReplaceAllString(afterLetter().ReplaceAllString(s.Key, "${1}_${2}"), "${1}_${2}")
	return envPrefix + strings.ToUpper(strings.ReplaceAll(words, ".", "_"))
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
	if p, ok := v.Interface().(PerArch); ok && p.one() {
		return p[""]
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
