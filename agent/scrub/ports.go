package scrub

import (
	"slices"

	"github.com/remuda-run/remuda/internal/ports"
)

// ports lists the TCP sockets that listen, of anyone on a machine of its own, else of the runner's
// user; none where no user is the runs' alone: then jobs and the machine's own services cannot be distinguished, and what descends from jobs is ended without.
func (s Scrubber) ports() ([]string, error) {
	if s.User == nil {
		return nil, nil
	}
	all, err := ports.Listening()
	var found []string
	for _, l := range all {
		if s.Whole || l.UID == s.User.UID {
			found = append(found, l.Port)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), err
}
