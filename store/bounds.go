package store

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// Bounds of a request. The action and the command line hold to them too; who writes a record without
// them is answered by Check.
const (
	MaxPatterns = 400 // allowed instance types that EC2 takes (EC2 API, InstanceRequirementsRequest)
	maxPattern  = 30  // bytes of one of them (there too)
	maxClass    = 32  // bytes of a class's name, see nameForm of the configuration
	maxShown    = 40  // bytes of a foreign text in an error
)

// MaxMessage bounds RunStatus.Message, in bytes: a sentence with a name of each kind.
const MaxMessage = 1000

// MaxSeats is how many instances one request may ask for. A status holds a seat of each and an item of DynamoDB
// at most 400 KB (DynamoDB, "Quotas"); a seat takes up to 130 bytes there, and the rest of a status some 3 kB.
const MaxSeats = 3000

// patternForm is the form of an instance type pattern. Patterns are parts of keys, and commas and bars separate the parts.
var patternForm = lazyregexp.New(`^[A-Za-z0-9*.-]{1,30}$`)

// Check says which fields of a request no fleet could serve, whatever is configured.
func (r RunRequest) Check() error {
	var errs []error
	if n := len(r.UsageClasses); n < 1 || n > 2 {
		errs = append(errs, fmt.Errorf("usageClass: must hold one or two of %s and %s, got %d", Spot, OnDemand, n))
	} else {
		for _, u := range r.UsageClasses {
			if u != Spot && u != OnDemand {
				errs = append(errs, fmt.Errorf("usageClass: must be %s or %s, got %s", Spot, OnDemand, shown(u)))
			}
		}
	}
	if n := len(r.AllowedInstanceTypes); n > MaxPatterns {
		errs = append(errs, fmt.Errorf("allowedInstanceTypes: must hold at most %d patterns, got %d", MaxPatterns, n))
	} else {
		for _, p := range r.AllowedInstanceTypes {
			if !patternForm().MatchString(p) {
				errs = append(errs, fmt.Errorf("allowedInstanceTypes: a pattern must have 1 to %d letters, digits or *.-, got %s", maxPattern, shown(p)))
				break
			}
		}
	}
	if len(r.ResourceClass) > maxClass {
		errs = append(errs, fmt.Errorf("resourceClass: must have at most %d characters, got %s", maxClass, shown(r.ResourceClass)))
	}
	return errors.Join(errs...)
}

// shown quotes the beginning of a text that others wrote.
func shown(text string) string {
	if len(text) > maxShown {
		return fmt.Sprintf("%.40q… (%d bytes)", text, len(text))
	}
	return fmt.Sprintf("%q", text)
}

// Head returns the beginning of text, at most so many bytes of valid UTF-8: JSON would replace each other byte
// by three.
func Head(text string, most int) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) <= most {
		return text
	}
	const mark = "…"
	end := most - len(mark)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// maxName bounds names and versions that others write, in bytes: what is longer is none.
const maxName = 200

// short holds fields, given by name and value, to maxName.
func short(fields ...string) error {
	for i := 0; i+1 < len(fields); i += 2 {
		if n := len(fields[i+1]); n > maxName {
			return fmt.Errorf("%s: must be at most %d bytes, got %d", fields[i], maxName, n)
		}
	}
	return nil
}
