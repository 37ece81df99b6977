//go:build unix

package process

import "slices"

// Search says which processes are looked for: those to which any of it applies. All of it takes one pass over
// /proc, whose files the kernel writes anew for each reader.
type Search struct {
	Env, Value string // they carry Env=Value in their initial environment; Env "": none do
	Ancestor   int    // they descend from this process and are not it; 0: none do
	User       *User  // they are its own, as Processes says; nil: none are
	Ended      bool   // zombies of User, too: they have no environment and no descendants any more
}

// Find returns the processes that there are, in no order, each once. See the package comment for what it may miss: a
// process may fork during the search.
func (s Search) Find() ([]Ref, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	below := map[int]bool{}
	if s.Ancestor != 0 {
		below = descendants(all, s.Ancestor)
	}
	until := patience()
	var found []Ref
	for _, e := range all {
		if !e.ended && (below[e.ref.PID] || s.Env != "" && slices.Contains(e.markers(s.Env, until), s.Value)) ||
			s.User != nil && (s.Ended || !e.ended) && !e.kernel && s.User.runs(e.ref.PID) {
			found = append(found, e.ref)
		}
	}
	return found, nil
}

// Find returns the processes that carry env=value in their initial environment, in no order.
func Find(env, value string) ([]Ref, error) { return Search{Env: env, Value: value}.Find() }

// Processes returns the user's processes, in no order: those of which a uid is the user's, and those in a user
// namespace that was made by one of these uids, or in one below it.
func (u User) Processes() ([]Ref, error) { return Search{User: &u}.Find() }

// timers are the programs that start timed jobs for users: those of cron and at.
var timers = []string{"cron", "crond", "atd"}

// Timers returns the processes that start timed jobs, and those of the same names that they have started.
func Timers() ([]Ref, error) {
	all, err := table()
	var found []Ref
	for _, e := range all {
		if slices.Contains(timers, e.name) {
			found = append(found, e.ref)
		}
	}
	return found, err
}

// JobsAboutToStart returns the children of cron and at that are still root's and about to become a user's job: they run
// the program of their parent and have no child yet. One that waits for its job has that as its child.
func JobsAboutToStart() ([]Ref, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	of, parents := map[int]string{}, map[int]bool{}
	for _, e := range all {
		if slices.Contains(timers, e.name) && !e.ended {
			of[e.ref.PID] = e.name
		}
		parents[e.parent] = true
	}
	var found []Ref
	for _, e := range all {
		if name := of[e.ref.PID]; name != "" && of[e.parent] == name && !parents[e.ref.PID] {
			found = append(found, e.ref)
		}
	}
	return found, nil
}

// Marked returns, in one pass, those that carry env in their initial environment, by its value.
func Marked(env string) (map[string][]Ref, error) {
	all, err := table()
	if err != nil {
		return nil, err
	}
	until := patience()
	found := make(map[string][]Ref)
	for _, e := range all {
		if e.ended {
			continue
		}
		for _, v := range e.markers(env, until) {
			found[v] = append(found[v], e.ref)
		}
	}
	return found, nil
}

// descendants are the pids of those of all that descend from pid and are not it.
func descendants(all []entry, pid int) map[int]bool {
	found := map[int]bool{}
	for before := -1; before < len(found); { // once for each generation
		before = len(found)
		for _, e := range all {
			if e.ref.PID != pid && !e.ended && (e.parent == pid || found[e.parent]) {
				found[e.ref.PID] = true
			}
		}
	}
	return found
}
