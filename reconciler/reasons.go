package reconciler

// Reasons why a request is Pending, one word each, for programs. RunStatus.Message says it to people, and since when is
// RunStatus.ReasonSince.
const (
	ReasonLooking         = "looking"          // it was taken up; the pool is looked through
	ReasonOlderAttempt    = "older_attempt"    // its older attempt is still being given back
	ReasonBehind          = "behind"           // older requests of its class are ahead in line
	ReasonCap             = "cap"              // a cap on instances is reached
	ReasonReturning       = "returning"        // instances that it can use are on their way back to the pool
	ReasonLaunching       = "launching"        // a launch is under way
	ReasonRefused         = "refused"          // the fleet refuses the launch; it is asked again, and once Failed, no longer
	ReasonBoot            = "boot"             // an instance boots
	ReasonScript          = "script"           // an instance's script runs
	ReasonLastJob         = "last_job"         // a job of its last run still runs on an instance
	ReasonRegistration    = "registration"     // an instance waits for its registration
	ReasonListener        = "listener"         // an instance's runner is not online yet
	ReasonGitHubDown      = "github_down"      // GitHub does not answer
	ReasonGitHubLocal     = "github_local"     // a local fault prevents calls to GitHub
	ReasonGitHubThrottled = "github_throttled" // GitHub takes no calls for a while
	ReasonGitHubRefuses   = "github_refuses"   // GitHub refuses the credentials or the call
	ReasonFleetDown       = "fleet_down"       // the fleet does not answer
	ReasonFleetThrottled  = "fleet_throttled"  // the fleet takes no calls for a while
)

// Reasons of a request's phase, one word each, for programs. RunStatus.Message says it to people.
const (
	ReasonSpec          = "invalid"       // the request itself cannot be served
	ReasonTimeout       = "timeout"       // the deadline passed
	ReasonVanished      = "client_gone"   // no client waits for it any more
	ReasonUnsatisfiable = "unsatisfiable" // the fleet can never launch it
	ReasonCapacity      = "no_capacity"   // capacity is missing everywhere; once Failed, it is asked for no longer
	ReasonLaunchBudget  = "launch_budget" // too many instances were launched for it, and none came up
	ReasonHost          = "host"          // no machine like those that were launched can do what its class asks for
	ReasonBudget        = "budget"        // the month's budget is used so far that what it allows is off
	ReasonReleased      = "released"      // given back by its client
	ReasonRunOver       = "run_over"      // given back by the controller: its run at GitHub is over
	ReasonRunWaits      = "run_waits"     // given back by the controller: its run waits for an approval
	ReasonRunStuck      = "run_stuck"     // released by the controller: no runner takes the queued jobs of the run
	ReasonMaxRuntime    = "max_runtime"   // never given back; its instances are gone
)
