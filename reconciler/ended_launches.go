package reconciler

import (
	"fmt"
	"strings"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/statemachine"
)

// serverFaults is how many launches in a row may fail by a fault of the fleet before their requests fail. Any other refusal is caused by
// the configuration, so the next launch would fail the same way.
const serverFaults = 2

// startOf is the operation name for causes: the start of a class's instances.
func startOf(class string) string { return "start of " + class }

// refuseEnded fails the requests of a launch if all its instances ended before their agents connected, and further launches would end the
// same way. For example, if an account's key or quota is wrong, EC2 returns instance ids but no instance runs. Each launch is judged once.
func (c *cache) refuseEnded(token string) {
	l, ok := c.launches.launch(token)
	if !ok || !l.Done {
		return
	}
	var reason fleet.StateReason
	for _, seat := range l.Seats {
		for _, id := range seat.Instances {
			s, known := c.instances.get(id)
			ended := known && s.machine.cloud == statemachine.Gone && s.vitals.beat.UpdatedAt.IsZero()
			if !ended || !s.machine.reason.Refused || reason.Code != "" && reason.Code != s.machine.reason.Code {
				return
			}
			reason = s.machine.reason
		}
	}
	if reason.Code == "" || !c.launches.judge(token) {
		return
	}
	err := fmt.Errorf("%w: every instance of launch %s ended at its start: %s", fleet.ErrRefused, token, reason.Advice())
	now := c.clock.Now()
	for _, seat := range l.Seats {
		c.requests.withRun(seat.RequestID, func(r *run) {
			if !r.alive(seat.Attempt) {
				return
			}
			r.refuse(err, now)
			if r.launching.ended++; r.launching.never == "" && (!strings.HasPrefix(reason.Code, "Server.") || r.launching.ended >= serverFaults) {
				r.launching.never = ReasonRefused
			}
		})
		c.failedFloor(seat.RequestID, ReasonRefused, err.Error())
		c.queues.requests.Add(seat.RequestID)
	}
	if c.causes.failed(startOf(l.ResourceClass), reason.Code) {
		c.log.Error("launch failed: its instances ended at their start", logkey.Launch, token, logkey.Error, err)
	}
}
