package main

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// setting is one value of Config that is set as a whole: everything but the sections.
type setting struct {
	key   string // as in the file: limits.claimGate
	doc   string
	index []int // of the field, for reflect.Value.FieldByIndex
}

// settings lists every setting in the order of the file.
var settings = listSettings(reflect.TypeFor[Config](), "", nil)

func listSettings(t reflect.Type, prefix string, index []int) []setting {
	var out []setting
	for i := range t.NumField() {
		f := t.Field(i)
		key, at := prefix+f.Tag.Get("yaml"), append(slices.Clone(index), i)
		if f.Type.Kind() == reflect.Struct {
			out = append(out, listSettings(f.Type, key+".", at)...)
			continue
		}
		out = append(out, setting{key: key, doc: f.Tag.Get("doc"), index: at})
	}
	return out
}

// settingFor returns the setting of key.
func settingFor(key string) (setting, bool) {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
	if i < 0 {
		return setting{}, false
	}
	return settings[i], true
}

// isSection reports whether key names a part of the file that holds settings. "" is the file.
func isSection(key string) bool {
	return key == "" || slices.ContainsFunc(settings, func(s setting) bool { return strings.HasPrefix(s.key, key+".") })
}

func settingKeys() []string {
	keys := make([]string, len(settings))
	for i, s := range settings {
		keys[i] = s.key
	}
	return keys
}

// Words of a key begin at a capital letter, and at a number that a word follows.
var (
	afterLetter = regexp.MustCompile(`([a-z])([A-Z]|[0-9]+[A-Z])`)
	afterDigit  = regexp.MustCompile(`([0-9])([A-Z])`)
)

// env is the name of the environment variable that sets s: limits.claimGate is
// REMUDA_LIMITS_CLAIM_GATE.
func (s setting) env() string {
	words := afterDigit.ReplaceAllString(afterLetter.ReplaceAllString(s.key, "${1}_${2}"), "${1}_${2}")
	return "REMUDA_" + strings.ToUpper(strings.ReplaceAll(words, ".", "_"))
}

func (s setting) in(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(s.index) }

// value returns the value of s in c.
func (s setting) value(c Config) any { return s.in(&c).Interface() }

// text returns the value of s in c as set would take it.
func (s setting) text(c Config) string {
	v := s.in(&c)
	if d, ok := v.Interface().(time.Duration); ok {
		return durationText(d)
	}
	if k := v.Kind(); k == reflect.Map || k == reflect.Slice {
		return flow(v)
	}
	return fmt.Sprint(v.Interface())
}

// durationText is d as people write it: without the zero units of Duration.String.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// flow writes a map or a list of flat structs as YAML on one line, keys sorted.
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

// set parses text, as it comes from the environment or from a flag. Lists and maps are written as
// YAML on one line. Errors name the setting.
func (s setting) set(c *Config, text string) error {
	v := s.in(c)
	if k := v.Kind(); k != reflect.Map && k != reflect.Slice {
		if err := parseScalar(v, text); err != nil {
			return fmt.Errorf("%s: %w", s.key, err)
		}
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("%s: must be YAML on one line, got %q: %w", s.key, text, err)
	}
	if len(doc.Content) == 0 {
		v.SetZero()
		return nil
	}
	d := decoder{}
	d.value(v, doc.Content[0], s.key)
	return d.err()
}

// parseScalar sets v from text and says what v takes if text is not that.
func parseScalar(v reflect.Value, text string) error {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("must be a duration such as 250ms, 30s or 5m, got %q", text)
		}
		v.SetInt(int64(d))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(text) { // YAML, in which agents read it, has no other text
			return fmt.Errorf("must be UTF-8, got %q", redact(text))
		}
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("must be a whole number, got %q", text)
		}
		v.SetInt(n)
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("must be a whole number from 0, got %q", text)
		}
		v.SetUint(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("must be a number, got %q", text)
		}
		v.SetFloat(x)
	default:
		panic("config: no parser for " + v.Type().String()) // a test sets every setting
	}
	return nil
}
