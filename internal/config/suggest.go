package config

import (
	"fmt"
	"slices"
	"strings"
)

// suggest says what an unknown key may have been meant to be: one that is nearly the same, or has the same name
// elsewhere, or, where nothing is near, what may stand there.
func suggest(key string) string {
	section, name := cutLast(key)
	var near, here []string
	for _, s := range settings {
		in, known := cutLast(s.Key)
		if in == section {
			here = append(here, known)
		}
		if strings.EqualFold(known, name) || in == section && similar(known, name) {
			near = append(near, s.Key)
		}
	}
	switch {
	case len(near) > 0:
		return fmt.Sprintf("did you mean %s?", strings.Join(near, " or "))
	case section == "" || len(here) == 0:
		return "`remuda config` lists all keys"
	}
	slices.Sort(here)
	return "known here are " + strings.Join(here, ", ")
}

func cutLast(key string) (section, name string) {
	at := strings.LastIndexByte(key, '.')
	return key[:max(0, at)], key[at+1:]
}

// similar reports whether two names have the same letters, or one has those of the other and some more.
func similar(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if strings.Contains(a, b) || strings.Contains(b, a) {
		return true
	}
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}
