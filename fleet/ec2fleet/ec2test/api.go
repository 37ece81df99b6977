package ec2test

import (
	"slices"
	"strings"
	"testing"
)

// api is what EC2 holds all requests to.
type api struct {
	tb   testing.TB
	page int // how many things one answer lists; 0: all
}

// malformed fails the test: a request of ours that EC2 would refuse whatever there is.
func (a *api) malformed(action string, f *failure) *failure {
	if f != nil {
		a.tb.Errorf("%s: EC2 would refuse this request: %s: %s", action, f.code, f.message)
	}
	return f
}

// paged cuts a list to the page asked for and returns the element for the next one.
func paged[T any](a *api, q *node, all []T) (page []T, next string) {
	from := min(q.int("NextToken"), len(all))
	all = all[from:]
	if a.page == 0 || len(all) <= a.page {
		return all, ""
	}
	return all[:a.page], text("nextToken", from+a.page)
}

// picked returns what ids name, all if there are none, and the ids of which there is none.
func picked[T any](all []T, ids []string, id func(T) string) (found []T, missing []string) {
	if len(ids) == 0 {
		return all, nil
	}
	for _, want := range ids {
		at := slices.IndexFunc(all, func(one T) bool { return id(one) == want })
		if at < 0 {
			missing = append(missing, want)
			continue
		}
		found = append(found, all[at])
	}
	return found, missing
}

// tagged reports whether tags are what the filters on tags ask for.
func tagged(tags map[string]string, filters map[string][]string) bool {
	for name, values := range filters {
		if key, is := strings.CutPrefix(name, "tag:"); is && !slices.Contains(values, tags[key]) {
			return false
		}
	}
	return true
}
