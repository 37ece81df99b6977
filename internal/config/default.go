package config

import (
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Default returns a Config in which everything that has a sensible value has it. The controller's numbers are those of
// package reconciler.
func Default() Config {
	d := reconciler.Defaults()
	return Config{
		Name:  "remuda",
		Store: "sqlite:///var/lib/remuda/remuda.db",
		Fleet: "process:///var/lib/remuda/instances",
		GitHub: GitHub{
			TokenEnv: "REMUDA_GITHUB_TOKEN", Registration: string(d.Registration),
			RunnerGroupID: 1, RegistrationsPer5Min: 1500, // docs.github.com, limits of self-hosted runners
			AheadMax: 50, // a tenth of 5,000 calls an hour (docs.github.com, rate limits), 10 an hour each
		},
		// 2 GiB per vCPU is what compute-optimised types have, so any family fits.
		Classes: map[string]Class{
			"small": {CPU: 2, Mem: 4096}, "medium": {CPU: 4, Mem: 8192}, "large": {CPU: 8, Mem: 16384}, "xlarge": {CPU: 16, Mem: 32768},
		},
		Limits: Limits(d.Limits),
		Runs:   Runs{Poll: d.Watch.Poll, Share: 0.1, Remember: d.Watch.Remember}, // a tenth leaves registrations and others theirs
		Requests: Requests{
			Timeout: 10 * time.Minute, MaxCount: d.MaxCount, MaxRuntime: d.MaxRuntime, ClientSilence: d.ClientSilence, LaunchRetry: d.LaunchRetry,
		},
		Caps: Caps{MaxInstances: d.MaxInstances},
		Intervals: Intervals{
			Sweep: d.Sweep, HotPoll: d.HotPoll, WarmPoll: d.WarmPoll, Scan: d.Scan, Runners: d.Runners,
			Batch: d.Batch, Exclusion: d.Exclusion, Orphan: d.Orphan, Housekeeping: d.Housekeeping,
		},
		Lease: Lease{TTL: d.LeaseTTL, RequestTimeout: d.LeaseRequest},
		Agent: Agent{
			ScriptTimeout: 2 * time.Minute, IdlePoll: 250 * time.Millisecond, Poll: 2 * time.Second,
			MetadataFirewall: FirewallRequired,
		},
		Process: Process{NoticeLead: 2 * time.Minute, TerminateGrace: 5 * time.Second},
		HTTP:    HTTP{Listen: "127.0.0.1:9640"},
		Budget:  Budget{WarnAt: 0.7},
		Log:     Log{Level: "info", Format: "auto"},
	}
}

// Controller returns what the reconcilers need of c.
func (c Config) Controller(holder string) reconciler.Config {
	classes := make(map[string]reconciler.Class, len(c.Classes))
	for name, class := range c.Classes {
		classes[name] = reconciler.Class{CPU: class.CPU, Mem: class.Mem, Idle: class.Idle, Cap: class.Cap, Floor: class.Warm.floor()}
	}
	ahead := 0
	if c.GitHub.Ahead {
		ahead = c.GitHub.AheadMax
	}
	return reconciler.Config{
		Ahead:  ahead,
		Holder: holder, Registration: store.RegistrationMode(c.GitHub.Registration), Classes: classes, Limits: statemachine.Limits(c.Limits),
		MaxCount: c.Requests.MaxCount, MaxInstances: c.Caps.MaxInstances,
		DefaultMaxRuntime: c.Limits.Running, MaxRuntime: c.Requests.MaxRuntime, ClientSilence: c.Requests.ClientSilence,
		Batch: c.Intervals.Batch, Exclusion: c.Intervals.Exclusion, LaunchRetry: c.Requests.LaunchRetry,
		HotPoll: c.Intervals.HotPoll, WarmPoll: c.Intervals.WarmPoll, Scan: c.Intervals.Scan,
		Sweep: c.Intervals.Sweep, Runners: c.Intervals.Runners, Orphan: c.Intervals.Orphan,
		Budget: c.Budget.controller(), Housekeeping: c.Intervals.Housekeeping, LeaseTTL: c.Lease.TTL, LeaseRequest: c.Lease.RequestTimeout,
		Watch: reconciler.WatchConfig{
			Off: c.Runs.Share == 0, Serves: c.GitHub.Serves(), Poll: c.Runs.Poll, Remember: c.Runs.Remember, RerunLost: c.Runs.RerunLost,
		},
	}
}
