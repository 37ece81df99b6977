// Package ensure says what was done, or would be done, to make the resources of an installation exist, or to be rid of them.
package ensure

import "fmt"

// Action is what became of a resource.
type Action string

// The actions. Those that begin with Would are of a dry run.
const (
	Created     Action = "created"
	Updated     Action = "updated"
	Unchanged   Action = "unchanged"
	WouldCreate Action = "would create"
	WouldUpdate Action = "would update"
	Reachable   Action = "reachable" // something that is not ours, and serves
	Deleted     Action = "deleted"
	WouldDelete Action = "would delete"
	WouldEnd    Action = "would end"
)

// Step is one resource and what became of it.
type Step struct {
	Resource string // kind and name, such as "table remuda"
	Action   Action
	Detail   string // what differed; "" if nothing needs saying
}

// Removal is the step of what was deleted or, without apply, would be.
func Removal(resource string, apply bool) Step {
	if apply {
		return Step{Resource: resource, Action: Deleted}
	}
	return Step{Resource: resource, Action: WouldDelete}
}

func (s Step) String() string {
	if s.Detail == "" {
		return fmt.Sprintf("%s: %s", s.Resource, s.Action)
	}
	return fmt.Sprintf("%s: %s (%s)", s.Resource, s.Action, s.Detail)
}
