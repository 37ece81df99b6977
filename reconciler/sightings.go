package reconciler

import "time"

// sightings remembers since when something without an owner was seen. Only one key of the sweeper uses it, and no key is
// looked at twice at once.
type sightings map[string]time.Time

func (s sightings) first(id string, now time.Time) time.Time {
	at, ok := s[id]
	if !ok {
		s[id] = now
		return now
	}
	return at
}

func (s sightings) keep(wanted func(string) bool) {
	for id := range s {
		if !wanted(id) {
			delete(s, id)
		}
	}
}
