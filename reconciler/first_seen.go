package reconciler

import "time"

// firstSeen remembers since when something without an owner was seen. Only one key of the sweeper uses it, and no key is
// looked at twice at once.
type firstSeen map[string]time.Time

func (s firstSeen) since(id string, now time.Time) time.Time {
	at, ok := s[id]
	if !ok {
		s[id] = now
		return now
	}
	return at
}

func (s firstSeen) retain(wanted func(string) bool) {
	for id := range s {
		if !wanted(id) {
			delete(s, id)
		}
	}
}
