package metrics

// Stability says what may become of a metric, in the words of Kubernetes (KEP-1209).
type Stability string

const (
	alpha Stability = "alpha" // may change or go with any version
	beta  Stability = "beta"  // its name and labels stay; labels may be added
)

// kind is the type of a metric.
type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// family is one metric with all its label values.
type family struct {
	name      string
	kind      kind
	stability Stability
	labels    []string
	help      string
	buckets   []float64 // of a histogram
}

// Buckets, in seconds. A warm start takes tenths of a second, a cold one half a minute, and a request waits up to a day
// for capacity. A call of GitHub ends after 5 s.
var (
	waits  = []float64{.1, .25, .5, 1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 300, 600, 1800, 3600, 21600}
	phases = []float64{.05, .1, .25, .5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600}
	calls  = []float64{.05, .1, .25, .5, 1, 2, 5}
	work   = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 60}
)

func labels(names ...string) []string { return names }

// families are all metrics of ours.
var families = []family{
	{name: "remuda_leader", kind: gauge, stability: beta, help: "1 while this controller leads and may act, 0 while it waits for the lease or could not renew it in time."},
	{name: "remuda_leader_term", kind: gauge, stability: beta, help: "Term of the lease under which this controller leads."},
	{name: "remuda_last_scan_timestamp_seconds", kind: gauge, stability: beta, help: "When all records were last read to the end."},
	{name: "remuda_last_sweep_timestamp_seconds", kind: gauge, stability: beta, help: "When the fleet's machines were last compared with the records."},
	{name: "remuda_config_last_reload_successful", kind: gauge, stability: beta,
		help: "1 if the configuration file was in order when it was last looked at, 0 while what it says is refused and an earlier one stays in force."},
	{name: "remuda_config_last_reload_success_timestamp_seconds", kind: gauge, stability: beta, help: "When the configuration in force was taken up."},
	{name: "remuda_config_restart_needed", kind: gauge, stability: alpha, help: "Settings in the configuration file that differ from those in force and need a restart."},
	{name: "remuda_breaker_open", kind: gauge, stability: beta, labels: labels("breaker"),
		help: "1 while no instance is given up: too many agents went silent at once (agents), or too many machines are missing from the fleet's listing (listing)."},

	{name: "remuda_instances", kind: gauge, stability: beta, labels: labels("state", "class", "usage"),
		help: "Instances; those that are terminated until the fleet has confirmed their end."},
	{name: "remuda_agents", kind: gauge, stability: alpha, labels: labels("version"), help: "Living instances by the version of their agent."},
	{name: "remuda_pool_candidates", kind: gauge, stability: beta, labels: labels("class", "usage"), help: "Instances that a request could be given now."},
	{name: "remuda_floor_wanted", kind: gauge, stability: alpha, labels: labels("class"), help: "Idle instances that the class's floor wants now (warm of the class)."},
	{name: "remuda_floor_idle", kind: gauge, stability: alpha, labels: labels("class"), help: "Of those wanted, the ones that are idle, or on their way to the pool."},
	{name: "remuda_budget_dollars", kind: gauge, stability: alpha, labels: labels("of"), help: "The budget of this month (monthly), and the cost of machines by list prices (spent; the last known value while it is unknown); absent without a budget."},
	{name: "remuda_budget_unknown_timestamp_seconds", kind: gauge, stability: alpha, help: "Time since when the cost of this month is unknown; 0 while it is known; absent without a budget."},
	{name: "remuda_budget_off", kind: gauge, stability: alpha, help: "1 while the month's budget is used so far that something is off; absent without a budget."},
	{name: "remuda_listeners_ahead", kind: gauge, stability: alpha, help: "Idle instances whose listener is online before a request wants it (github.ahead)."},
	{name: "remuda_instance_transitions_total", kind: counter, stability: beta, labels: labels("from", "event", "to"),
		help: "Changes of instances' states, by the rows of docs/statemachine.md; none: there was no record."},
	{name: "remuda_instance_state_reasons_total", kind: counter, stability: alpha, labels: labels("code"),
		help: "Instances that the fleet ended, by the code of EC2's StateReason; other: a code that EC2 does not document."},
	{name: "remuda_instance_idle_seconds_total", kind: counter, stability: beta, labels: labels("class"),
		help: "Time that instances were idle, each counted when it ends."},
	{name: "remuda_seats_served_total", kind: counter, stability: beta, labels: labels("class", "start"),
		help: "Instances handed over to a request, out of the pool (warm) or launched for it (cold)."},
	{name: "remuda_cleanups_total", kind: counter, stability: alpha, labels: labels("class", "result"),
		help: "Cleanups of instances after a run: clean, or the cause that cost the instance (process, port, files, mount, container, disk, script, account, timeout, other)."},
	{name: "remuda_orphans_total", kind: counter, stability: beta, labels: labels("kind"),
		help: "Machines and runners without an owner that were ended."},

	{name: "remuda_requests_waiting", kind: gauge, stability: beta, labels: labels("class", "reason"), help: "Requests that are Pending, by the reason in their status."},
	{name: "remuda_request_oldest_wait_seconds", kind: gauge, stability: beta, labels: labels("class"),
		help: "How long the request has been Pending that has waited longest; 0: none waits."},
	{name: "remuda_request_wait_seconds", kind: histogram, stability: beta, labels: labels("class", "start", "result"), buckets: waits,
		help: "Time from Pending to the answer, ready or failed. All instances came out of the pool (warm), none did (cold), or some (mixed); none: it failed."},
	{name: "remuda_requests_failed_total", kind: counter, stability: beta, labels: labels("class", "reason"), help: "Requests that failed."},
	{name: "remuda_phase_duration_seconds", kind: histogram, stability: alpha, labels: labels("class", "phase"), buckets: phases,
		help: "Time that each phase took of the start of a seat that was handed over, as remuda explain names them; handshake: of each return to the pool, from the release or the last job's end, and scrub: the part of it until the machine was clean."},

	{name: "remuda_launches_total", kind: counter, stability: beta, labels: labels("class", "usage"), help: "Launches whose outcome is known."},
	{name: "remuda_launch_instances_asked_total", kind: counter, stability: beta, labels: labels("class", "usage"), help: "Instances that launches asked for."},
	{name: "remuda_launch_instances_came_total", kind: counter, stability: beta, labels: labels("class", "usage"), help: "Instances that launches brought."},
	{name: "remuda_launch_refusals_total", kind: counter, stability: beta, labels: labels("code", "zone"),
		help: "Refusals by the fleet's own code; zone any: of no zone in particular."},

	{name: "remuda_github_state", kind: gauge, stability: beta, labels: labels("state"),
		help: "1 for the result of the last check of the credentials: up, refused, local (a fault on the controller's side), throttled or unavailable. The leader looks every intervals.housekeeping."},
	{name: "remuda_github_requests_total", kind: counter, stability: beta, labels: labels("route", "status"),
		help: "Calls of GitHub by the path of its REST API, below repository, organisation or enterprise; none: no answer came."},
	{name: "remuda_github_request_duration_seconds", kind: histogram, stability: beta, labels: labels("route"), buckets: calls, help: "Time that calls of GitHub took."},
	{name: "remuda_github_rate_limit", kind: gauge, stability: beta, labels: labels("budget"), help: "Calls that GitHub takes in one window."},
	{name: "remuda_github_rate_limit_remaining", kind: gauge, stability: beta, labels: labels("budget"), help: "Calls that GitHub takes until the window's end, as it last said."},
	{name: "remuda_github_rate_limit_reset_timestamp_seconds", kind: gauge, stability: beta, labels: labels("budget"), help: "When the window ends, by GitHub's clock."},
	{name: "remuda_runner_version_end_timestamp_seconds", kind: gauge, stability: beta, labels: labels("version"),
		help: "When GitHub ends its service for the configured version of the runner; absent: it has named no date."},

	{name: "remuda_aws_requests_total", kind: counter, stability: beta, labels: labels("service", "operation", "error"),
		help: "Calls of AWS, each try, by the class of their error; none: they succeeded."},

	{name: "remuda_workqueue_depth", kind: gauge, stability: alpha, labels: labels("queue"), help: "Keys that are due and wait for a worker."},
	{name: "remuda_workqueue_adds_total", kind: counter, stability: alpha, labels: labels("queue"), help: "Keys that became due."},
	{name: "remuda_workqueue_retries_total", kind: counter, stability: alpha, labels: labels("queue"), help: "Keys put off, after a failure or for a pause."},
	{name: "remuda_workqueue_queue_duration_seconds", kind: histogram, stability: alpha, labels: labels("queue"), buckets: work, help: "Time that a key that is due waited for a worker."},
	{name: "remuda_workqueue_work_duration_seconds", kind: histogram, stability: alpha, labels: labels("queue"), buckets: work, help: "Time that a look at a key took."},
	{name: "remuda_workqueue_unfinished_work_seconds", kind: gauge, stability: alpha, labels: labels("queue"), help: "Time that the looks under way have taken so far, summed up."},
	{name: "remuda_workqueue_longest_running_processor_seconds", kind: gauge, stability: alpha, labels: labels("queue"), help: "Time that the longest look under way has taken so far."},
}
