package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/agent/host"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/internal/finding"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// configuration says what is looked at; one that is wrong has ended the verb before.
func (o *doctorOptions) configuration(_ context.Context, c config.Config) []finding.Finding {
	from := o.global.config
	if from == "" {
		from = environment(o.environ())[config.EnvFile]
	}
	if from == "" {
		from = "no file: defaults, variables and flags"
	}
	out := []finding.Finding{{Check: "configuration", Verdict: finding.OK, Detail: fmt.Sprintf("%s; store %s, fleet %s", from, config.Redact(c.Store), config.Redact(c.Fleet))}}
	if err := inputs(o.app, c); err != nil {
		out = append(out, finding.Of("inputs", err, "", "fix the files that the error names, on the controller's host"))
	}
	for _, why := range host.Refusals(c, o.environ()) {
		out = append(out, finding.Of("cleanup level", why, "", "change the machine as it says, or set classes.<name>.scrub: workspace"))
	}
	if c.OnEC2() {
		switch err := validateJobsUser(c); {
		case err != nil:
			out = append(out, finding.Of("jobs' user", err, "", "name a user of the machines in agent.runnerUser"))
		case c.JobsUser() == "":
			out = append(out, finding.Finding{Check: "jobs' user", Verdict: finding.Warning, Detail: jobsAreRoot, Remedy: "name a user other than root"})
		}
	}
	return out
}

// resourcesOf looks at what `remuda init` makes, and at what machines are made of. Each back end fails alone.
func (o *doctorOptions) resourcesOf(ctx context.Context, c config.Config) (out []finding.Finding) {
	for _, raw := range []string{c.Store, c.Pool, c.Fleet} {
		if raw != "" && !config.HasScheme(raw, onThisMachine) {
			out = append(out, o.backEnd(ctx, c, raw)...)
		}
	}
	return out
}

// backEnd looks at one of them.
func (o *doctorOptions) backEnd(ctx context.Context, c config.Config, raw string) (out []finding.Finding) {
	scheme, _, _ := strings.Cut(raw, ":")
	b, err := o.openBackends(ctx, c, "", nil, slog.New(slog.DiscardHandler), func(other string) bool { return other == raw })
	if err != nil {
		return []finding.Finding{finding.Of(scheme, err, "", "put the configuration or the credentials right")}
	}
	defer func() {
		if err := b.close(); err != nil {
			out = append(out, finding.Of(scheme, err, "", ""))
		}
	}()
	for _, r := range b.resources(c) {
		steps, err := r.ensure(ctx, false)
		for _, s := range steps {
			out = append(out, resourceFinding(s))
		}
		if err != nil {
			out = append(out, finding.Of(r.name, err, "", ""))
		}
	}
	if f, ok := b.fleet.Fleet.(interface {
		Diagnose(context.Context, map[string]int) []finding.Finding
	}); ok {
		out = append(out, f.Diagnose(ctx, vCPUs(c))...)
	}
	return out
}

func resourceFinding(s ensure.Step) finding.Finding {
	kind, _, _ := strings.Cut(s.Resource, " ")
	f := finding.Finding{Check: kind, Verdict: finding.OK, Detail: s.String()}
	switch s.Action {
	case ensure.WouldCreate:
		f.Verdict, f.Detail, f.Remedy = finding.Failed, s.Resource+" does not exist", "run `remuda init`"
	case ensure.WouldUpdate:
		f.Verdict, f.Detail = finding.Warning, s.Resource+" differs: "+s.Detail
		f.Remedy = "run `remuda init`; a controller that leads does so within intervals.housekeeping"
	case ensure.Created, ensure.Updated, ensure.Unchanged, ensure.Reachable, ensure.Deleted, ensure.WouldDelete, ensure.WouldEnd:
	}
	return f
}

// vCPUs returns, by class, how many vCPUs the caps allow at once.
func vCPUs(c config.Config) map[string]int {
	out := map[string]int{}
	for name, class := range c.Classes {
		n := c.Caps.MaxInstances
		if class.Cap > 0 {
			n = min(n, class.Cap)
		}
		out[name] = n * class.CPU
	}
	return out
}

// awaitLeader waits until a controller leads, or for limit. Why none does is for the checks to say; its error is that of ctx.
func awaitLeader(ctx context.Context, a *app, c config.Config, limit time.Duration) error {
	if limit == 0 {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = a.withStore(wait, c, true, func(st *store.Store) error {
		return poll(wait, a.clock, func(ctx context.Context) (bool, error) {
			v, err := readController(ctx, st, a.clock.Now(), auditConfig(c))
			if err != nil {
				return !passing(err), nil
			}
			return v == nil || v.Leads, nil
		})
	})
	return ended(ctx)
}

// controller says whether one leads, what it says of itself, and whether agents are of its version.
func (o *doctorOptions) controller(ctx context.Context, c config.Config) (out []finding.Finding) {
	const name = "controller"
	err := o.withStore(ctx, c, true, func(st *store.Store) error {
		now := o.clock.Now()
		v, err := readController(ctx, st, now, auditConfig(c))
		switch {
		case err != nil:
			return err
		case v == nil:
			out = append(out, finding.Finding{Check: name, Verdict: finding.Skipped, Detail: "these credentials may not read the lease"})
			return nil
		case !v.Leads:
			out = append(out, finding.Finding{Check: name, Verdict: finding.Failed, Detail: v.vacancy, Remedy: "start `remuda controller`; its log says why it does not lead"})
		default:
			out = append(out, ledFinding(v))
		}
		if v.ConfigRefused != "" {
			out = append(out, finding.Finding{Check: name, Verdict: finding.Failed, Remedy: "mend what it reads; `remuda config` shows what is wrong",
				Detail: fmt.Sprintf("configuration refused since %s: %s", refusedAt(v.ConfigRefusedAt.Time), v.ConfigRefused)})
		}
		for service, outage := range map[string]store.Outage{"GitHub": v.GitHubOutage, "fleet": v.FleetOutage} {
			if outage.Reason != "" {
				out = append(out, finding.Finding{Check: name, Verdict: finding.Failed, Remedy: "see docs/operating.md",
					Detail: fmt.Sprintf("%s: %s, for %s", service, reconciler.OutageText(outage), short(now.Sub(outage.Since.Time)))})
			}
		}
		agents, err := agentsFinding(ctx, st, v.ControllerVersion)
		out = append(out, agents...)
		return err
	})
	if err != nil {
		out = append(out, finding.Of(name, err, "", "see what is said of the store"))
	}
	return out
}

func ledFinding(v *controllerView) finding.Finding {
	f := finding.Finding{Check: "controller", Verdict: finding.OK, Detail: fmt.Sprintf("%s leads, term %d, version %s", v.Holder, v.Term, v.ControllerVersion)}
	if own := currentVersion().Version; v.ControllerVersion != own {
		f.Verdict, f.Detail = finding.Warning, f.Detail+"; this program is "+own
		f.Remedy = "upgrade the older of the two: one minor version apart is supported (docs/upgrade.md)"
	}
	return f
}

// agentsFinding counts the versions of the agents of living machines.
func agentsFinding(ctx context.Context, st *store.Store, controller string) ([]finding.Finding, error) {
	var found store.Found
	if err := st.Scan(ctx, found.Visitor()); err != nil {
		return nil, err
	}
	versions := map[string]int{}
	for _, in := range found.Instances {
		if beat := found.Vitals[in.Principal].Heartbeat.Beat; !in.Gone() && beat.AgentVersion != "" {
			versions[beat.AgentVersion]++
		}
	}
	if len(versions) == 0 {
		return nil, nil
	}
	var texts []string
	for _, version := range slices.Sorted(maps.Keys(versions)) {
		texts = append(texts, fmt.Sprintf("%s of version %s", plural(versions[version], "agent"), version))
	}
	f := finding.Finding{Check: "agents", Verdict: finding.OK, Detail: strings.Join(texts, ", ")}
	if len(versions) > 1 || versions[controller] == 0 {
		f.Verdict, f.Remedy = finding.Warning, "machines of older versions go as they are given back; `remuda drain` ends idle ones now"
		f.Detail += "; the controller is " + controller
	}
	return []finding.Finding{f}, nil
}
