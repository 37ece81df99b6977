// Package scrub removes what a run left on a machine, and proves it: processes, files, containers, ports. What it cannot
// remove, or cannot distinguish from what was there before the first run, is an error, and the machine serves no other run
// (docs/security.md).
package scrub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/boundary"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/internal/writable"
	"github.com/remuda-run/remuda/store"
)

// ErrNotClean says that something of a run is left on the machine.
var ErrNotClean = errors.New("agent: not clean")

// Level says how much of a run is removed before the machine may serve another.
type Level string

// The levels, each including the ones before it. The zero value is Full on a computer that is one
// instance's alone and has a user for its runs, else Workspace (docs/adr/0009).
const (
	None      Level = "none"      // nothing but the listener's processes; the operator's script
	Workspace Level = "workspace" // processes of the run, work folder, home and temp folder of the instance
	Full      Level = "full"      // all of the runner's user, and containers
	Terminate Level = "terminate" // the machine is not used again
)

// Levels lists the levels.
func Levels() []string {
	return []string{string(None), string(Workspace), string(Full), string(Terminate)}
}

// Scrubber removes what jobs left behind (H42), and holds the machine against what it was before the
// first run.
//
// Processes are known by agent.EnvMarker, by descent and by their user, as far as the fields say: see processes.go. A
// service that must outlive a run is started by the system's service manager, as another user.
type Scrubber struct {
	InstanceID string
	Root       string            // instance folder
	Boundary   boundary.Boundary // of the listeners; nil: there is none, and Full is refused
	NoBoundary error             // why there is none
	Fresh      []Folder          // folders that are new for each run: the runner's _work and _diag, home, temp
	Program    string            // folder below Root of the runner program, to which its user may add files; "": none
	Script     agent.Script      // the operator's, nil: none. It runs after the rest
	Clock      clock.WithTicker

	// AllowSubordinateIDs lets the runner's user have ids of other users (subuid(5)), which rootless containers need.
	AllowSubordinateIDs bool

	// Refresh, if set, returns the scrubber for the next cleanup, because the account of jobs may have changed.
	Refresh func() (Scrubber, error)

	Keep    Keep
	keeping []process.Ref // processes that Keep names, from the baseline

	Levels map[string]Level // by resource class
	Tree   bool             // processes that descend from this one, which must have called process.AdoptOrphans
	User   *User            // whose processes and files are the runs' alone, so that all of them may be killed; nil: shared with others
	Whole  bool             // the computer is this instance's alone
	Others []string         // folders outside Root that are not looked into: of other instances
	System string           // root of the file system outside Root; "": /
}

// Keep lists the processes and ports that the operator assigns to the machine.
type Keep struct {
	Processes []string // names of processes that the operator's script leaves running under another user than the user of jobs
	Ports     []string // ports that processes may open after the first run
}

// User is the user that jobs run as.
type User struct {
	UID    int
	Groups []int // all that it is in
	Group  int   // the group that is this user's alone; 0: none
	Name   string
	Home   string // as the system knows it; "": none
}

// Lookup is the user with all that it may write as, and the uids that the system, whose root is a folder, lets it give away.
func (u User) Lookup(system string) (writable.User, error) {
	user, err := process.LookupUser(u.Name, u.UID, filepath.Join("/", system, "etc/subuid"))
	return writable.User{User: user, Groups: u.Groups, Group: u.Group}, err
}

// EndAll kills every process of the run but this one and what it needs, until none is left or ctx ends.
func (s Scrubber) EndAll(ctx context.Context) error { return processes(s).endAll(ctx) }

// Scrub cleans the machine after a run of class, and checks. It returns an error that wraps
// ErrNotClean if something is left, or agent.ErrUsedUp.
func (s Scrubber) Scrub(ctx context.Context, class string) error {
	var err error
	if s.Refresh != nil {
		if s, err = s.Refresh(); err != nil {
			err = because(store.UncleanAccount, err)
		}
	}
	if err == nil {
		err = s.scrub(ctx, class)
	}
	if err == nil || errors.Is(err, agent.ErrUsedUp) {
		return err
	}
	return fmt.Errorf("scrub: %w: %w", ErrNotClean, err)
}

func (s Scrubber) scrub(ctx context.Context, class string) error {
	level := s.level(class)
	if level == Terminate {
		return fmt.Errorf("scrub: class %s: %w", class, agent.ErrUsedUp)
	}
	if why := s.Refusal(class); why != "" {
		return errors.New(why)
	}
	was, err := s.remembered()
	if err != nil {
		return err
	}
	s.keeping = was.Processes
	if level != None {
		if err := s.remove(ctx, was, level); err != nil {
			return because(store.UncleanFiles, err)
		}
		if err := processes(s).nothingCame(); err != nil {
			return because(store.UncleanProcess, err)
		}
	}
	if s.Script != nil {
		if err := s.Script.Run(ctx); err != nil {
			return because(store.UncleanScript, err)
		}
	}
	if level == None {
		return nil
	}
	if s.Script != nil {
		if err := processes(s).killAll(ctx); err != nil { // what the script itself left
			return because(store.UncleanProcess, err)
		}
	}
	return s.check(was)
}

// level is that of a class.
func (s Scrubber) level(class string) Level {
	if s.Whole && s.User != nil {
		return cmp.Or(s.Levels[class], Full)
	}
	return cmp.Or(s.Levels[class], Workspace)
}

// remove removes what the level says.
func (s Scrubber) remove(ctx context.Context, was Baseline, level Level) error {
	full := level == Full && s.User != nil
	var known writable.Known
	var reading errgroup.Group
	if full { // some megabytes: while processes end
		reading.Go(func() (err error) {
			known, err = s.readWritable(was)
			return err
		})
	}
	err := because(store.UncleanProcess, s.end(ctx, &was, level))
	if err := errors.Join(err, reading.Wait()); err != nil {
		return err
	}
	var found []string
	g, gctx := errgroup.WithContext(ctx)
	var user writable.User
	if full {
		if user, err = s.User.Lookup(s.System); err != nil {
			return err
		}
		g.Go(func() error { return outside(s).settle(gctx) })
		g.Go(func() (err error) { // the longest part: beside the others
			found, err = known.Compare(gctx, user)
			return err
		})
	}
	g.Go(func() error {
		err := errors.Join(processes(s).removeFromKernel(), s.renew(ctx, was), s.added())
		if err == nil && full {
			err = outside(s).removeUsers()
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if err := s.removeNew(user, found); err != nil || !full {
		return err
	}
	return outside(s).removeKept(was)
}

// endTries bounds how often timed jobs, lingering and containers are removed.
const endTries = 5

// end ends the processes of runs, those in containers too, and removes what could start more of them: timed jobs, lingering
// service managers, containers that are restarted. It is over when nothing of that kind was found after all had ended. Without a
// baseline, containers count as the machine's.
func (s Scrubber) end(ctx context.Context, was *Baseline, level Level) error {
	if err := s.nothingOutside(ctx, level); err != nil {
		return err
	}
	for range endTries {
		if err := processes(s).killAll(ctx); err != nil || level != Full {
			return err
		}
		var timed, contained bool
		var err error
		if s.User != nil {
			if timed, err = outside(s).removeTimed(); err == nil {
				err = s.judgeServices(timed)
			}
		}
		if err == nil && was != nil && s.usesEngine() {
			contained, err = removeContainers(ctx, was.Containers)
			err = because(store.UncleanContainer, err)
		}
		if err != nil || !timed && !contained {
			return err
		}
	}
	return errors.New("timed jobs or containers of the run are made again and again")
}

// nothingOutside refuses the machine if a process of the user is outside a boundary that cannot end it for certain.
func (s Scrubber) nothingOutside(ctx context.Context, level Level) error {
	if level != Full || s.User == nil || s.Boundary == nil || s.Boundary.Services() {
		return nil
	}
	if err := s.Boundary.End(ctx); err != nil {
		return err
	}
	left, err := processes(s).running()
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("process %d of %s is outside of the PID namespace of the run: without control groups of version 2 no service may start processes for that user", left[0].PID, s.User.Name)
	}
	return err
}

// judgeServices refuses the machine where the end of what a service has started for the user could not be proved: in a
// boundary that is no control group, and where the service cannot be frozen and its processes may have another user's id. Such a
// job may have removed its own file, so that timed is false.
func (s Scrubber) judgeServices(timed bool) error {
	user, err := s.User.Lookup(s.System)
	if err != nil || s.Boundary == nil {
		return err
	}
	proved := s.Boundary.Services()
	if len(user.Subordinate) > 0 {
		timers, err := process.Timers()
		timed, proved = timed || err != nil || len(timers) > 0, proved && boundary.Freezes(timers, err)
	}
	if !timed || proved {
		return nil
	}
	return fmt.Errorf("cron or at may have started jobs of %s, and without control groups of version 2 for the machine's services their end cannot be proved", s.User.Name)
}

// usesEngine reports whether what is new in the container engine is the run's: on a computer of its own, and elsewhere if
// the user is one instance's alone and may use the engine, which is as good as root.
func (s Scrubber) usesEngine() bool {
	if s.Whole || s.User == nil {
		return s.Whole
	}
	user, err := s.User.Lookup(s.System)
	return err == nil && user.CanWrite(outside(s).path("var/run/docker.sock"))
}

// Refusal returns why this machine cannot keep level Full for a class, and what the operator can do. No job of the class may run
// here then. It returns "" if the machine can keep the level, or if the class has another one.
func (s Scrubber) Refusal(class string) string {
	if s.User == nil || s.level(class) != Full {
		return ""
	}
	if s.Boundary == nil {
		return fmt.Sprintf("level full of class %s needs control groups of version 2 (Linux 5.14) or PID namespaces: %v", class, s.NoBoundary)
	}
	file, err := s.User.subordinate(s.System)
	switch {
	case err != nil:
		return err.Error()
	case file != "" && !s.AllowSubordinateIDs:
		return fmt.Sprintf("%s gives ids of other users to %s, under which processes could outlive their run: remove the lines of that user, or set agent.allowSubordinateIds: true", file, s.User.Name)
	}
	return ""
}

// subordinate returns the file that gives ids of other users to the user, "" if none does.
func (u User) subordinate(system string) (string, error) {
	for _, name := range []string{"etc/subuid", "etc/subgid"} {
		file := filepath.Join("/", system, name)
		if user, err := process.LookupUser(u.Name, u.UID, file); err != nil || len(user.Subordinate) > 0 {
			return file, err
		}
	}
	return "", nil
}
