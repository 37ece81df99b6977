package glob_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/glob"
)

// The test vectors of the prototype, and the edges of each rule. S52
func TestAny_S52(t *testing.T) {
	for _, c := range []struct {
		reason   string
		patterns []string
		name     string
		want     bool
	}{
		{"one of several", []string{"c*", "m*", "r*"}, "c6i.large", true},
		{"literal", []string{"c6i.large"}, "c6i.large", true},
		{"none of several", []string{"c*", "r*"}, "t4g.micro", false},
		{"no pattern", nil, "c6i.large", false},
		{"no pattern, no name", []string{}, "", false},
		{"empty pattern", []string{""}, "c6i.large", false},
		{"empty pattern, no name", []string{""}, "", true},
		{"anything", []string{"*"}, "c6i.large", true},
		{"anything, no name", []string{"*"}, "", true},
		{"end differs", []string{"c*g"}, "c6i.large", false},
		{"two stars", []string{"c**large"}, "c6i.large", true},
		{"wrong family", []string{"c*"}, "m5.large", false},
		{"star in front", []string{"*.large"}, "c6i.large", true},
		{"star in the middle", []string{"c*.large"}, "c6i.large", true},
		{"star stands for nothing", []string{"c6i*.large*"}, "c6i.large", true},
		{"star must be tried further", []string{"*a*ab"}, "aaab", true},
		{"the dot is literal", []string{"c6i.large"}, "c6iXlarge", false},
		{"a question mark is literal", []string{"c6?.large"}, "c6i.large", false},
		{"brackets are literal", []string{"c[6]i.large"}, "c6i.large", false},
		{"case of the pattern", []string{"C6I.*"}, "c6i.large", true},
		{"case of the name", []string{"c6i.*"}, "C6I.Large", true},
		{"anchored at the start", []string{"6i.large"}, "c6i.large", false},
		{"anchored at the end", []string{"c6i"}, "c6i.large", false},
		{"longer than the name", []string{"c6i.large."}, "c6i.large", false},
	} {
		if got := glob.Any(c.patterns, c.name); got != c.want {
			t.Errorf("Any(%q, %q) = %t, want %t (%s)", c.patterns, c.name, got, c.want, c.reason)
		}
	}
}

// S89: what cannot be meant is refused before anything happens.
func TestValidate_S89(t *testing.T) {
	for _, c := range []struct {
		pattern string
		ok      bool
	}{
		{"c6i.large", true}, {"*", true}, {"C*", true}, {"u-6tb1.*", true},
		{strings.Repeat("a", glob.MaxPattern), true}, {strings.Repeat("a", glob.MaxPattern+1), false},
		{"", false}, {"c6i large", false}, {"c6i,m5", false}, {"c?", false}, {"ç6i", false}, {"c6i\n", false}, {"c[6]", false},
		{"a/b", false}, {":", false}, {"`", false}, {"{", false}, {"@", false}, {"[", false},
	} {
		if err := glob.Validate(c.pattern); (err == nil) != c.ok {
			t.Errorf("Validate(%q) = %v, want ok %t", c.pattern, err, c.ok)
		}
	}
}

// oracle is Match by way of a regular expression.
func oracle(t interface{ Fatal(...any) }, pattern, name string) bool {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i, literal := range strings.Split(strings.ToLower(pattern), "*") {
		if i > 0 {
			b.WriteString(`.*`)
		}
		b.WriteString(regexp.QuoteMeta(literal))
	}
	b.WriteString(`\z`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return re.MatchString(strings.ToLower(name))
}

// Short texts of few letters meet all the ways in which stars can share a name.
func TestMatch_S52_AsARegularExpression(t *testing.T) {
	pattern := rapid.StringOfN(rapid.RuneFrom([]rune("abA.*")), 0, 8, -1)
	name := rapid.StringOfN(rapid.RuneFrom([]rune("abB.")), 0, 10, -1)
	for range 20 { // times rapid's 100 checks
		rapid.Check(t, func(t *rapid.T) {
			p, n := pattern.Draw(t, "pattern"), name.Draw(t, "name")
			if got, want := glob.Match(p, n), oracle(t, p, n); got != want {
				t.Fatalf("Match(%q, %q) = %t, want %t", p, n, got, want)
			}
		})
	}
}

// FuzzMatch compares any text; what is not UTF-8 must only not fail.
func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{
		{"c*", "c6i.large"}, {"*", ""}, {"", ""}, {"*a*a*a*b", strings.Repeat("a", 100)}, {"C**e", "c6i.largE"},
		{"ſ*", "S"}, {"İ*", "i̇x"}, {"\xff*", "\xffa"}, {"a\nb*", "a\nbc"}, {`\*.`, `\x.`},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		got := glob.Match(pattern, name)
		if !utf8.ValidString(pattern) || !utf8.ValidString(name) {
			return
		}
		if want := oracle(t, pattern, name); got != want {
			t.Errorf("Match(%q, %q) = %t, want %t", pattern, name, got, want)
		}
	})
}

// FuzzValidate: what is accepted matches itself and is safe to write anywhere.
func FuzzValidate(f *testing.F) {
	for _, s := range []string{"c*", "", "c6i.large", "a b", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if glob.Validate(pattern) != nil {
			return
		}
		if len(pattern) == 0 || len(pattern) > glob.MaxPattern || strings.ContainsAny(pattern, " \t\r\n'\"\\$`;&|<>(){}[]?,/\x00") {
			t.Errorf("Validate(%q) = nil", pattern)
		}
		if !glob.Match(pattern, strings.ReplaceAll(pattern, "*", "")) {
			t.Errorf("%q does not match itself without stars", pattern)
		}
	})
}

// A pattern of many stars takes time proportional to pattern times name, not exponential: this
// one would never end otherwise.
func TestMatch_ManyStarsEnd(t *testing.T) {
	if glob.Match(strings.Repeat("*a", 200)+"b", strings.Repeat("a", 2000)) {
		t.Error("matches a name that lacks the last letter")
	}
}

func BenchmarkMatch(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		glob.Match("c*.large", "c6i.xlarge")
	}
}
