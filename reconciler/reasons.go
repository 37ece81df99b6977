package reconciler

// Reasons of a request's phase, one word each, for programs. RunStatus.Message says it to people.
const (
	ReasonSpec          = "invalid"       // the request itself cannot be served
	ReasonTimeout       = "timeout"       // the deadline passed
	ReasonVanished      = "client_gone"   // no client waits for it any more
	ReasonUnsatisfiable = "unsatisfiable" // the fleet can never launch it
	ReasonCapacity      = "no_capacity"   // capacity is missing everywhere, and it is asked for no longer
	ReasonBudget        = "launch_budget" // too many instances were launched for it, and none came up
	ReasonReleased      = "released"      // given back by its client
	ReasonRunOver       = "run_over"      // given back by the controller: its run at GitHub is over
	ReasonRunWaits      = "run_waits"     // given back by the controller: its run waits for an approval
	ReasonMaxRuntime    = "max_runtime"   // never given back; its instances are gone
)
