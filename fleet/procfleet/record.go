//go:build unix

package procfleet

import (
	"slices"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/process"
)

// record is instance.json. Only decide and the steps in run.go move its State.
type record struct {
	ID              string `json:"id"`
	InstanceType    string `json:"instanceType"`
	CPU             int    `json:"cpu"` // vCPUs
	Mem             int    `json:"mem"` // MiB
	Zone            string `json:"zone"`
	UsageClass      string `json:"usageClass"`
	ResourceClass   string `json:"resourceClass"`
	LaunchToken     string `json:"launchToken"`
	TemplateVersion string `json:"templateVersion"`

	State fleet.State `json:"state"`
	Cause string      `json:"cause,omitempty"` // why it is Ending or Ended

	// Leader is recorded before it may become the agent; Boot is when its start time counts from.
	Leader process.Ref `json:"leader,omitzero"`
	Boot   string      `json:"boot,omitempty"`

	LaunchedAt time.Time `json:"launchedAt"`
	BootAt     time.Time `json:"bootAt"`            // the agent starts
	VanishAt   time.Time `json:"vanishAt,omitzero"` // sudden loss
	NoticeAt   time.Time `json:"noticeAt,omitzero"` // interruption notice
	EndAt      time.Time `json:"endAt,omitzero"`    // what the notice said; set when it was given
	EndingAt   time.Time `json:"endingAt,omitzero"` // it became Ending
	KillAt     time.Time `json:"killAt,omitzero"`   // end of the grace; set when SIGTERM was sent
	EndedAt    time.Time `json:"endedAt,omitzero"`
}

// Causes of an end.
const (
	causeTerminated  = "terminated"
	causeInterrupted = "interrupted after notice"
	causeVanished    = "sudden loss"
	causeExited      = "its agent ended"
	causeUnreadable  = "its record is unreadable"
)

// Notice is the content of the interruption file, in JSON. It has the form of EC2's
// (spot/instance-action in the instance metadata).
type Notice struct {
	Action string    `json:"action"` // always terminate
	Time   time.Time `json:"time"`   // when the machine will be ended, UTC
}

// leaderAlive reports whether the recorded leader runs.
func (f *Fleet) leaderAlive(r record) bool { return r.Boot == f.boot && r.Leader.Alive() }

// view returns the machine as it is now. One whose leader has ended is Ending, whether Run has seen
// it or not.
func (f *Fleet) view(r record) fleet.Machine {
	state := r.State
	if state == fleet.Up && !f.leaderAlive(r) {
		state = fleet.Ending
	}
	return fleet.Machine{
		ID: r.ID, Principal: r.ID, State: state, InstanceType: r.InstanceType, UsageClass: r.UsageClass,
		ResourceClass: r.ResourceClass, CPU: r.CPU, Mem: r.Mem, Zone: r.Zone, LaunchToken: r.LaunchToken,
		TemplateVersion: r.TemplateVersion, LaunchedAt: r.LaunchedAt,
	}
}

// sound reports whether the record says what to do with the machine.
func (r record) sound() bool {
	return slices.Contains([]fleet.State{fleet.Starting, fleet.Up, fleet.Ending, fleet.Ended}, r.State)
}

// end makes a machine Ending. One that is already is left as it is: the first cause counts.
func (r *record) end(cause string, now time.Time) bool {
	if r.State == fleet.Ending || r.State == fleet.Ended {
		return false
	}
	r.State, r.Cause, r.EndingAt = fleet.Ending, cause, now
	return true
}
