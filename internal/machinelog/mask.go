package machinelog

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// masked replaces a secret. A shorter secret gets one star per byte, so that no text grows.
const masked = "***"

// minSecret is the minimum length of a known secret, in bytes. Shorter texts occur anywhere.
const minSecret = 8

// Patterns are the operator's expressions. Mask hides all matches.
type Patterns []*regexp.Regexp

// ParsePatterns compiles expressions. It rejects a pattern that matches the empty text or the stars, because it would hide everything.
func ParsePatterns(texts []string) (Patterns, error) {
	var out Patterns
	for i, text := range texts {
		p, err := regexp.Compile(text)
		if err != nil || p.MatchString("") || p.MatchString(masked) {
			return nil, fmt.Errorf("[%d]: must be a regular expression (RE2) that matches neither an empty text nor ***, got %q", i, text)
		}
		out = append(out, p)
	}
	return out, nil
}

// passes bounds how often Mask reads a text. Masking can reveal the next secret, for example the second of two with one separator. Two
// passes are usual.
const passes = 8

// Mask is Patterns.Mask without patterns.
func Mask(text string, secrets ...string) string { return Patterns(nil).Mask(text, secrets...) }

// Mask replaces the given secrets, matches of patterns and known forms of secrets by ***. If a name or a command marks a value as secret,
// Mask hides the value everywhere. Mask the whole text before you cut it, because a part of a secret has no known form.
func (p Patterns) Mask(text string, secrets ...string) string {
	var known []string
	for _, s := range secrets {
		known = append(known, shapes(s)...)
	}
	for range passes {
		before := text
		for _, s := range known {
			if len(s) >= minSecret {
				text = strings.ReplaceAll(text, s, masked)
			}
		}
		for _, pattern := range p {
			text = hide(text, pattern.FindAllStringIndex(text, -1), nil)
		}
		lower := strings.ToLower(text)
		for _, f := range forms {
			if slices.ContainsFunc(f.hints, func(hint string) bool { return strings.Contains(lower, hint) }) {
				text = f.hide(text, &known)
			}
		}
		if text = hideRandom(text); text == before {
			break
		}
	}
	return text
}

// hide replaces the matches at places. The last two numbers of each are the span to replace: the match or its only group.
func hide(text string, places [][]int, secret func(name, value string) bool) string {
	var b strings.Builder
	done := 0
	for _, at := range places {
		from, to := at[len(at)-2], at[len(at)-1]
		if from < done || secret != nil && !secret(text[at[0]:from], text[from:to]) {
			continue
		}
		b.WriteString(text[done:from])
		b.WriteString(masked[:min(len(masked), to-from)])
		done = to
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// maxLearned bounds how many values of one text are also hidden elsewhere in the text.
const maxLearned = 64

// hide applies one form. It adds values to known that the text may repeat without their name.
func (f form) hide(text string, known *[]string) string {
	return hide(text, f.match().FindAllStringSubmatchIndex(text, -1), func(name, value string) bool {
		if f.secret != nil && !f.secret(name, value) {
			return false
		}
		value = strings.Trim(value, `"'$`)
		if f.learn && len(*known) < maxLearned && len(value) >= minSecret && strings.ContainsAny(value, "0123456789") && !strings.ContainsAny(value, "*/\n") {
			*known = append(*known, value)
		}
		return true
	})
}

// minRandom is the minimum length of a word that hideRandom judges. Shorter names and random texts look alike.
const minRandom = 20

// hideRandom replaces random words: a mix of digits and letters of both cases that is unusual for names. Commits, digests, UUIDs and ids of
// AWS are in lower case, so they stay.
func hideRandom(text string) string {
	var places [][]int
	for i := 0; i < len(text); i++ {
		from := i
		for i < len(text) && kind(text[i]) != 0 {
			i++
		}
		digest := strings.HasPrefix(strings.ToLower(text[from:i]), "sha") || from > 1 && text[from-1] == ':' && kind(text[from-2]) == 'd'
		if i-from < minRandom || digest { // sha512-…, SHA256:…, h1:…
			continue
		}
		if text[from] != '/' {
			places = appendRandom(places, text, from, i)
			continue
		}
		for part := range strings.SplitSeq(text[from:i], "/") { // judge each part of a path alone
			places = appendRandom(places, text, from, from+len(part))
			from += len(part) + 1
		}
	}
	return hide(text, places, nil)
}

func appendRandom(places [][]int, text string, from, to int) [][]int {
	if to-from < minRandom || !random(text[from:to]) {
		return places
	}
	return append(places, []int{from, to})
}

// kind returns the class of a letter: l, u or d; '-' for the other letters of base64; 0 for a letter that ends a word.
func kind(c byte) byte {
	switch {
	case 'a' <= c && c <= 'z':
		return 'l'
	case 'A' <= c && c <= 'Z':
		return 'u'
	case '0' <= c && c <= '9':
		return 'd'
	case strings.IndexByte("+/_-", c) >= 0:
		return '-'
	}
	return 0
}

// weights compare how often one class of letters follows another in random base64 text and in names: 100 times the natural logarithm of the
// ratio. In names, letters of one class follow each other.
var weights = map[[2]byte]int{
	{'l', 'l'}: -64, {'l', 'u'}: 143, {'l', 'd'}: 47,
	{'u', 'l'}: -44, {'u', 'u'}: 34, {'u', 'd'}: 116,
	{'d', 'l'}: 125, {'d', 'u'}: 117, {'d', 'd'}: -154,
}

func random(word string) bool {
	seen, score := map[byte]bool{}, 0
	for i := range len(word) {
		seen[kind(word[i])] = true
		if i > 0 {
			score += weights[[2]byte{kind(word[i-1]), kind(word[i])}]
		}
	}
	return seen['l'] && seen['u'] && seen['d'] && score > 0
}

// shapes are a secret as programs print it: as it is, escaped for a URL, in base64, and in the lines into which they break
// what is long.
func shapes(secret string) []string {
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	out := []string{secret, url.QueryEscape(secret), strings.TrimRight(encoded, "=")}
	for _, whole := range []string{secret, encoded} {
		for _, columns := range []int{64, 76} { // of openssl and base64
			for line := range slices.Chunk([]byte(whole), columns) {
				if len(whole) > columns && len(line) >= columns/2 {
					out = append(out, string(line))
				}
			}
		}
	}
	return out
}
