package statemachine

import "slices"

// Phase is the stored phase of one attempt of a request. The zero value means that the controller
// has not taken the attempt up yet.
type Phase string

// The phases of a request.
const (
	Unseen        Phase = ""
	Pending       Phase = "Pending"
	Ready         Phase = "Ready"
	Failed        Phase = "Failed"
	PhaseReleased Phase = "Released"
)

// Phases lists every stored phase in the order of a request's life.
func Phases() []Phase { return []Phase{Pending, Ready, Failed, PhaseReleased} }

// RequestEvent is what happens to a request.
type RequestEvent string

// The events of the request table.
const (
	Accept  RequestEvent = "accepted"
	Fulfil  RequestEvent = "fulfilled"
	Fail    RequestEvent = "failed"
	Finish  RequestEvent = "finished"
	Observe RequestEvent = "observed"
)

// RequestEvents lists every event in the order of the table.
func RequestEvents() []RequestEvent {
	return []RequestEvent{Accept, Observe, Fulfil, Fail, Finish}
}

// RequestRule is a row of the request table.
type RequestRule = row[Phase, RequestEvent]

const whyFinish = "released or over, nothing is held and no launch for it is open"

var requestRules = []RequestRule{
	{Unseen, Accept, Pending, "the controller took this attempt up and stamped its deadline; a higher attempt starts here again, and so does one of the controller's that a client took over"},
	{Pending, Observe, Pending, "progress: instances claimed, launched, ready"},
	{Pending, Fulfil, Ready, "every seat was handed over"},
	{Pending, Fail, Failed, "spec error, deadline, vanished client, or cannot be met"},
	{Ready, Observe, Ready, "a lost seat: refilled, or why not"},
	{Pending, Finish, PhaseReleased, whyFinish},
	{Ready, Finish, PhaseReleased, whyFinish},
	{Failed, Finish, PhaseReleased, whyFinish},
}

// RequestRules returns a copy of the request table.
func RequestRules() []RequestRule { return slices.Clone(requestRules) }

// NextPhase returns the phase that on leads to, or ErrNoRule.
func NextPhase(from Phase, on RequestEvent) (Phase, error) { return next(requestRules, from, on) }
