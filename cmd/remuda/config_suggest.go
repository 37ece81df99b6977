package main

import (
	"fmt"
	"slices"
	"strings"
)

// manyKeys is more than any section has: a list of so many names helps nobody.
const manyKeys = 20

// suggest says what an unknown key may have been meant to be: the nearest of its siblings, or the
// same name elsewhere, or, where nothing is near, what may stand there.
func suggest(section, name string, siblings []string) string {
	near := nearest(name, siblings)
	for i := range near {
		near[i] = join(section, near[i])
	}
	for _, key := range settingKeys() {
		if last := key[strings.LastIndexByte(key, '.')+1:]; strings.EqualFold(last, name) && !slices.Contains(near, key) {
			near = append(near, key)
		}
	}
	switch {
	case len(near) > 0:
		return fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	case len(siblings) > manyKeys:
		return "`remuda config` lists all keys"
	default:
		return "known here are " + strings.Join(siblings, ", ")
	}
}

// nearest returns up to three of names that differ little from name, the nearest first.
func nearest(name string, names []string) []string {
	far := max(2, len(name)/3)
	var near []string
	for _, n := range names {
		if distance(strings.ToLower(name), strings.ToLower(n)) <= far {
			near = append(near, n)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int {
		return distance(strings.ToLower(name), strings.ToLower(a)) - distance(strings.ToLower(name), strings.ToLower(b))
	})
	return near[:min(3, len(near))]
}

// distance is the number of bytes to insert, delete or replace that make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
