package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readFile sets what a file says.
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
	var errs []error
	l.walk(doc.Content[0], "", 1, func(line int, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s:%d: %w", l.File, line, fmt.Errorf(format, args...)))
	})
	return errors.Join(errs...)
}

// walk sets the settings in n, whose key stands in line, and remembers where each is.
func (l *Loaded) walk(n *yaml.Node, key string, line int, fail func(line int, format string, args ...any)) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	s, ok := settingFor(key)
	switch {
	case ok:
		for _, p := range s.set(&l.Config, n) {
			fail(cmp.Or(p.line, line), "%w", p.err)
		}
		l.origins[key] = Origin{"file", fmt.Sprintf("%s:%d", l.File, line)}
		return
	case !isSection(key):
		fail(line, "unknown key %q: %s", key, suggest(key))
		return
	case n.ShortTag() == "!!null":
		return // everything in it is commented out
	case n.Kind != yaml.MappingNode:
		fail(line, "%s: must hold keys and values", cmp.Or(key, "the file"))
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		child, at := n.Content[i].Value, n.Content[i].Line
		if key != "" {
			child = key + "." + child
		}
		if first, twice := lines[child]; twice {
			fail(at, "key %q: given twice, first in line %d", child, first)
			continue
		}
		lines[child] = at
		l.walk(n.Content[i+1], child, at, fail)
	}
}

// isSection reports whether key names a part of the file that holds settings. "" is the file.
func isSection(key string) bool {
	return key == "" || slices.ContainsFunc(settings, func(s Setting) bool { return strings.HasPrefix(s.Key, key+".") })
}
