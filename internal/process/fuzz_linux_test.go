package process

import (
	"slices"
	"strings"
	"testing"
)

// FuzzEnviron: the values found are those of whole entries, each once.
func FuzzEnviron(f *testing.F) {
	f.Add([]byte("XA=no\x00A=1\x00B=A=2\x00A=\x00A=1\x00"), "A")
	f.Add([]byte("\xff=\x00\x00\x00=x"), "\xff")
	f.Fuzz(func(t *testing.T, environ []byte, name string) {
		if strings.ContainsAny(name, "=\x00") {
			return // no name of a variable
		}
		var want []string
		for entry := range strings.SplitSeq(string(environ), "\x00") {
			if got, value, ok := strings.Cut(entry, "="); ok && got == name && !slices.Contains(want, value) {
				want = append(want, value)
			}
		}
		if got := valuesOf(environ, name); !slices.Equal(got, want) {
			t.Errorf("valuesOf(%q, %q) = %q, want %q", environ, name, got, want)
		}
	})
}
