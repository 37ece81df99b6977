package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The architectures that a class may have, in EC2's words.
const (
	ArchX86 = "x86_64"
	ArchARM = "arm64"
)

// Architectures are all that a class may have.
func Architectures() []string { return []string{ArchX86, ArchARM} }

// NativeArch is the architecture of this program.
func NativeArch() string {
	if runtime.GOARCH == "amd64" {
		return ArchX86
	}
	return runtime.GOARCH
}

// PerArch is a text that is one for every architecture, under "", or one for each. Nil is none.
type PerArch map[string]string

// EveryArch is text for every architecture.
func EveryArch(text string) PerArch {
	if text == "" {
		return nil
	}
	return PerArch{"": text}
}

// For returns the text for an architecture, "" if there is none.
func (p PerArch) For(arch string) string {
	if text, ok := p[arch]; ok {
		return text
	}
	return p[""]
}

// one reports whether p is one text for every architecture, or none at all.
func (p PerArch) one() bool {
	_, every := p[""]
	return len(p) == 0 || every
}

// shown is p as people write it: a text or a mapping.
func (p PerArch) shown() any {
	if p.one() {
		return p[""]
	}
	return map[string]string(p)
}

// MarshalYAML writes p as a text or a mapping.
func (p PerArch) MarshalYAML() (any, error) { return p.shown(), nil }

// MarshalJSON writes p as a text or a mapping.
func (p PerArch) MarshalJSON() ([]byte, error) { return json.Marshal(p.shown()) }

// Redacted is p without credentials that someone put into a URL.
func (p PerArch) Redacted() PerArch {
	out := maps.Clone(p)
	for arch, text := range out {
		out[arch] = Redact(text)
	}
	return out
}

// perArch reports whether s is a PerArch.
func (s Setting) perArch() bool { return s.in(new(Config)).Type() == reflect.TypeFor[PerArch]() }

// setPerArch gives s in c a text, or a mapping, which the environment and flags give as a text in braces.
func (s Setting) setPerArch(c *Config, n *yaml.Node) []problem {
	fail := func(line int, err error) []problem { return []problem{{line, fmt.Errorf("%s: %w", s.Key, err)}} }
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(n.Value, "{") {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(n.Value), &doc); err != nil {
			return fail(n.Line, fmt.Errorf("must be a text, or a mapping in YAML: %w", err))
		}
		doc.Content[0].Line = n.Line
		n = doc.Content[0]
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" && utf8.ValidString(n.Value):
		s.in(c).Set(reflect.ValueOf(EveryArch(n.Value)))
		return nil
	case n.Kind != yaml.MappingNode:
		return fail(n.Line, fmt.Errorf("must be a text, or a mapping of %s to one each", strings.Join(Architectures(), " and ")))
	}
	var texts map[string]string
	if wrong := decode(&texts, n, s.Key); len(wrong) > 0 {
		return wrong
	}
	for _, arch := range slices.Sorted(maps.Keys(texts)) {
		if !slices.Contains(Architectures(), arch) {
			return fail(n.Line, fmt.Errorf("unknown architecture %q: known are %s", arch, strings.Join(Architectures(), ", ")))
		}
		if texts[arch] == "" {
			return fail(n.Line, fmt.Errorf("must not be empty for %s: leave it out", arch))
		}
	}
	if len(texts) == 0 {
		texts = nil
	}
	s.in(c).Set(reflect.ValueOf(PerArch(texts)))
	return nil
}
