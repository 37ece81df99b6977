package host

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/actionsrunner"
	"github.com/remuda-run/remuda/agent/ec2machine"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/fleet/procfleet"
	"github.com/remuda-run/remuda/internal/boundary"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

// processMachine is a machine that is no more than the processes of one instance, beside others on
// the same computer.
type processMachine struct {
	scrub.Scrubber
	notice string // file that appears when the instance will be taken away; "": never
}

// Halt kills every process of the instance but the agent, which ends because Run returns.
func (m processMachine) Halt(ctx context.Context, _ string) error { return m.EndAll(ctx) }

// Interrupted reports whether the notice is there.
func (m processMachine) Interrupted(context.Context) bool {
	if m.notice == "" {
		return false
	}
	_, err := os.Stat(m.notice)
	return err == nil
}

// leaveLimit bounds the end of what an agent of a process fleet leaves; its fleet ends the rest.
const leaveLimit = 3 * time.Second

// endProcesses ends what the agent started and cannot be known by its mark.
func endProcesses(m agent.Machine, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()
	if err := m.Halt(ctx, "agent ended"); err != nil {
		log.Error("processes of this instance could not be ended", logkey.Error, err)
	}
}

// processSite is an instance of a process fleet, which named itself to its agent.
func processSite(ctx context.Context, p Place, _ string) (site, error) {
	if p.Config.Agent.RunnerUser != "" {
		if err := letThrough(p.Dir); err != nil {
			return site{}, err
		}
	}
	table, err := p.OpenTable(ctx, ec2machine.NewServiceClock(p.Clock), "")
	if err != nil {
		return site{}, err
	}
	fleet := filepath.Dir(filepath.Dir(p.Dir))
	return site{
		id: p.Env[procfleet.EnvInstance],
		machine: func(s scrub.Scrubber) agent.Machine {
			return processMachine{Scrubber: s, notice: p.Env[procfleet.EnvInterruption]}
		},
		options: func(o *agent.Options) {
			o.Store, o.Principal = store.New(table), store.Principal(p.Env[procfleet.EnvInstance])
		},
		close:  table.Close,
		cache:  filepath.Join(fleet, "runners"), // beside the fleet's other folders
		others: []string{fleet},
		logs:   procfleet.Logs(fleet),
		ends:   endProcesses,
	}, nil
}

// Refusals returns for each class of a process fleet on this computer why its agents would refuse level full (Scrubber.Refusal).
// It needs root to tell whether there is a boundary. Other users learn of the subordinate ids alone.
func Refusals(c config.Config, environ []string) (all []error) {
	account, err := actionsrunner.Lookup(c.JobsUser())
	if err != nil || !c.Alone() || c.OnEC2() {
		return nil
	}
	exe, err := os.Executable()
	if err != nil {
		return []error{err}
	}
	m := &machine{Place: Place{Config: c, Env: map[string]string{}}, boundary: boundary.None()}
	m.known.Store(&account)
	if os.Geteuid() == 0 {
		m.boundary, m.noBoundary = boundary.Open(fmt.Sprintf("check-%d", os.Getpid()), exe)
	}
	for _, e := range environ {
		if root, ok := strings.CutPrefix(e, RootEnv+"="); ok {
			m.Env[RootEnv] = root
		}
	}
	for _, class := range slices.Sorted(maps.Keys(c.Classes)) {
		if why := m.scrubber().Refusal(class); why != "" {
			all = append(all, fmt.Errorf("classes.%s.scrub: %s", class, why))
		}
	}
	return all
}

// letThrough opens the way to an instance's folder: its fleet's folders, which are closed to others, may
// be passed and listed, since the runner program insists that it can list every folder above its own
// (actions/runner, src/Runner.Sdk/Util/IOUtil.cs, ValidateExecutePermission). Files stay closed.
func letThrough(dir string) error {
	for range 3 { // instance, instances, fleet
		info, err := os.Stat(dir)
		if err == nil {
			err = os.Chmod(dir, info.Mode().Perm()|0o055)
		}
		if err != nil {
			return fmt.Errorf("let agent.runnerUser into the folder of its instance: %w", err)
		}
		dir = filepath.Dir(dir)
	}
	return nil
}
