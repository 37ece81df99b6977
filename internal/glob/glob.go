// Package glob matches instance types against the patterns of a request.
//
// A pattern is literal text in which * stands for any text, also none. It matches the whole
// name, without regard to case (S52).
package glob

import (
	"fmt"
	"strings"
)

// MaxPattern bounds a pattern, in bytes: EC2 takes 30 per allowed instance type (EC2 API,
// InstanceRequirementsRequest).
const MaxPattern = 30

// Validate reports what is wrong with a pattern that a user wrote.
func Validate(pattern string) error {
	if pattern == "" || len(pattern) > MaxPattern {
		return fmt.Errorf("must be 1 to %d characters, got %q", MaxPattern, pattern)
	}
	for _, c := range pattern {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("*.-", c) {
			return fmt.Errorf("may hold letters, digits, '.', '-' and '*', got %q", pattern)
		}
	}
	return nil
}

// Match reports whether name matches pattern.
func Match(pattern, name string) bool {
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// Any reports whether name matches one of patterns. No pattern matches nothing.
func Any(patterns []string, name string) bool {
	for _, p := range patterns {
		if Match(p, name) {
			return true
		}
	}
	return false
}
