package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

// installation is a simulated GitHub, a store in a file and a fleet of processes, watched by a
// witness, under a controller that may be killed and started again.
type installation struct {
	program.T
	site
	gitHub  program.GitHub
	user    program.User // of jobs: see unprivileged
	table   store.Table
	witness *witness.Witness
}

// witnessGrace is how long an instance may outlive its threshold here: the agents' own grace, a poll
// and the time that a kill takes on a busy machine.
const witnessGrace = 30 * time.Second

// install prepares an installation, without a controller. env adds settings to testdata/remuda.yaml.
func install(t testing.TB, env ...string) *installation {
	t.Helper()
	s := unwatched(t, env...)
	s.watch()
	return s
}

// unwatched is install without a witness, for stories in which records are broken.
func unwatched(t testing.TB, env ...string) *installation {
	t.Helper()
	s := &installation{T: program.T{TB: t}}
	s.at(t.TempDir())
	base := append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir}, env...)
	s.environ = func() []string { return base }
	t.Cleanup(func() {
		s.Check(s.stop())
		if t.Failed() {
			for _, text := range s.tails() {
				t.Log(text)
			}
		}
	})
	s.Check(os.Mkdir(s.state, 0o700))
	settings, err := os.ReadFile(filepath.Join("testdata", "remuda.yaml"))
	s.Check(err)
	// A dead runner's job is given up soon, but not that of one that waits for its turn.
	var config string
	s.gitHub, config, err = s.github(settings, "--silence", "30s")
	s.Check(err)
	base = append(base, "REMUDA_CONFIG="+config, "REMUDA_SIMULATED_TOKEN="+s.gitHub.Token)
	return s
}

// serving is install with a controller.
func serving(t testing.TB, env ...string) *installation {
	t.Helper()
	s := install(t, env...)
	s.controls()
	return s
}

// watch opens the store beside the controllers, as any other process may.
func (s *installation) watch() {
	s.Helper()
	u := &url.URL{Scheme: "sqlite", Path: filepath.Join(s.state, "remuda.db")}
	table, err := sqlitestore.Open(s.Context(), u, clock.RealClock{})
	s.Check(err)
	s.table, s.witness = table, witness.Start(s, table, witnessGrace, 100*time.Millisecond)
}

// controls starts a controller.
func (s *installation) controls() *program.Process {
	s.Helper()
	d, err := s.start("controller", "controller")
	s.Check(err)
	return d
}

// remuda runs one command line, which must succeed within limit, and returns what it printed.
func (s *installation) remuda(limit time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.Context()), limit)
	defer cancel()
	return program.Run(ctx, s.dir, s.environ(), args...)
}

// answer is what `remuda request -o json` prints.
type answer struct {
	Instances []store.Seat `json:"instances"`
	WarmCount int          `json:"warmCount"`
}

// ids are those of its instances, sorted.
func (a answer) ids() []string {
	ids := make([]string, len(a.Instances))
	for i, seat := range a.Instances {
		ids[i] = string(seat.InstanceID)
	}
	slices.Sort(ids)
	return ids
}

// patience is how long one step of a story may take on a busy machine, and stepTimeout how long the
// commands themselves wait, which then say more.
const (
	patience    = 3 * time.Minute
	stepTimeout = "170s"
)

// request asks for runners, waits for them and must get them.
func (s *installation) request(run string, count int, more ...string) answer {
	s.Helper()
	got, err := s.requestWithin(patience, run, count, append([]string{"--timeout", stepTimeout}, more...)...)
	s.Check(err)
	return got
}

// requestWithin asks for runners and waits for them, for longer or shorter than usual.
func (s *installation) requestWithin(limit time.Duration, run string, count int, more ...string) (answer, error) {
	args := []string{"request", "--id", run, "--count", fmt.Sprint(count), "--resource-class", "small", "-o", "json"}
	a, err := program.JSON[answer](s.remuda(limit, append(args, more...)...))
	if err == nil && len(a.Instances) != count {
		err = fmt.Errorf("request %s: got %d instances, want %d", run, len(a.Instances), count)
	}
	return a, err
}

// jobs queues jobs for a run, waits for them, and wants all to succeed.
func (s *installation) jobs(run string, count int) error {
	_, err := s.remuda(patience, "dev", "submit", "--run", run, "--count", fmt.Sprint(count), "--seconds", "0.1", "--wait")
	return err
}

// release gives a run's instances back and waits until nothing is held.
func (s *installation) release(run string) error {
	_, err := s.remuda(patience, "release", "--id", run)
	return err
}

// serve runs jobs of a run and gives its instances back.
func (s *installation) serve(run string, jobs int) {
	s.Helper()
	s.Check(s.jobs(run, jobs))
	s.Check(s.release(run))
}

// expect waits until want accepts as many of the newest records as given.
func (s *installation) expect(n int, what string, want func(store.Instance) bool) error {
	return program.Until(patience, fmt.Sprintf("%d %s", n, what), func() bool {
		return s.witness.Count(want) == n
	})
}

// drain dismisses the fleet and waits until the last machine is known to be gone.
func (s *installation) drain() error {
	if _, err := s.remuda(patience, "drain", "--all", "--timeout", stepTimeout); err != nil {
		return err
	}
	if err := s.witness.Look(s.Context()); err != nil { // there may be some that it has not seen yet
		return err
	}
	return s.expect(len(s.witness.Instances()), "instances are gone for good", witness.Gone)
}

// close stops the controller after a drain. Then nothing may be left, and nothing may have happened
// that must never happen. cut names the runs whose jobs were cut short on purpose.
func (s *installation) close(cut ...string) error {
	c, err := s.find("controller")
	if err != nil {
		return err
	}
	if code, err := c.Stop(syscall.SIGTERM); err != nil || code != 0 {
		return errors.Join(fmt.Errorf("controller: exit code %d, want 0", code), err)
	}
	if left, err := s.Left(); err != nil || len(left) > 0 {
		return errors.Join(fmt.Errorf("processes of %d machines are left: %v", len(left), left), err)
	}
	return s.judge(cut)
}

// judge asks the witness.
func (s *installation) judge(cut []string) error {
	jobs, err := program.JSON[[]githubsim.JobRecord](s.remuda(patience, "dev", "jobs", "-o", "json"))
	if err != nil {
		return err
	}
	if err := s.witness.Look(s.Context()); err != nil {
		return err
	}
	s.witness.Jobs(jobs, cut...)
	machines, err := s.Machines()
	if err != nil {
		return err
	}
	s.witness.Known(machines)
	var errs []error
	for _, v := range s.witness.Violations() {
		errs = append(errs, errors.New("violated "+v))
	}
	return errors.Join(errs...)
}
