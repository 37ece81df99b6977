package main

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// word is what may be an ID: a run of letters and digits, with neither beside it.
var word = regexp.MustCompile(`[0-9A-Za-z]+`)

// idsIn returns the IDs in text.
func idsIn(text string) []string {
	var ids []string
	for _, w := range word.FindAllString(text, -1) {
		if mechanism.MatchString(w) || hazard.MatchString(w) {
			ids = append(ids, w)
		}
	}
	return ids
}

// claims holds which tests say that they prove a line.
type claims map[string]map[test]bool

func (c claims) add(id string, t test) {
	if c[id] == nil {
		c[id] = map[test]bool{}
	}
	c[id][t] = true
}

// tests returns the tests that claim id, the plainest first.
func (c claims) tests(id string) []test {
	return slices.SortedFunc(maps.Keys(c[id]), compareTests(id))
}

// addNames adds what the names of tests say. Of TestStore/Claim_S61/again it is the subtest
// TestStore/Claim_S61 that claims S61.
func (c claims) addNames(ends outcomes) {
	for t := range ends {
		name := ""
		for element := range strings.SplitSeq(t.name, "/") {
			name = path.Join(name, element)
			for _, id := range idsIn(element) {
				c.add(id, test{t.pkg, name})
			}
		}
	}
}
