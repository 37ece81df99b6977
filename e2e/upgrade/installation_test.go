// Package upgrade drives an installation from the version before this one to this one, and back.
package upgrade

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/sqlitestore"
)

func TestMain(m *testing.M) { os.Exit(program.Tests{}.Run(m)) }

// patience is how long one thing may take on a busy machine.
const patience = 3 * time.Minute

// settings are limits that no machine reaches for being slow, and what both versions know.
const settings = `
limits: {created: 6m, claimed: 5m, running: 15m, idle: 15m, claimGate: 4m, createGate: 5m, handshake: 4m, silence: 2m, runningSilence: 3m, visibility: 10s, agentGrace: 2s}
intervals: {sweep: 500ms, hotPoll: 200ms, warmPoll: 1s, scan: 10s, runners: 5s, exclusion: 5s, orphan: 5s}
agent: {idlePoll: 200ms, poll: 250ms}
caps: {maxInstances: 12}
classes: {small: {cpu: 2, mem: 4096}}
process: {bootDelay: 200ms, types: [{name: c6i.large, cpu: 2, mem: 4096}], terminateGrace: 1s}
http: {listen: ''}
`

// version is one of the two programs.
type version struct{ name, binary string }

// installation is a simulated GitHub, a store in a file and a fleet of processes, under a controller of either version.
type installation struct {
	program.T
	program.Fleet
	dir        string
	env        []string
	controller *program.Daemon
	witness    *witness.Witness
}

func install(t *testing.T) *installation {
	t.Helper()
	i := &installation{T: program.T{TB: t}, dir: t.TempDir()}
	i.Fleet = program.Fleet(filepath.Join(i.dir, "instances"))
	i.Cleanup(func() {
		left, err := i.Left()
		i.Check(err)
		for _, refs := range left {
			i.Check(process.KillAll(refs...))
		}
	})
	g := i.start(version{"github", program.Binary}, "dev", "github", "--silence", "30s").GitHub()
	file := filepath.Join(i.dir, "remuda.yaml")
	text := fmt.Sprintf("%s%sstore: sqlite://%s/remuda.db\nfleet: process://%s\n", settings, g.Settings, i.dir, i.Fleet)
	i.Check(os.WriteFile(file, []byte(text), 0o600))
	i.env = append(i.env, "REMUDA_CONFIG="+file, "REMUDA_SIMULATED_TOKEN="+g.Token)
	table, err := sqlitestore.Open(i.Context(), &url.URL{Scheme: "sqlite", Path: filepath.Join(i.dir, "remuda.db")}, clock.RealClock{})
	i.Check(err)
	i.witness = witness.Start(i, table, 30*time.Second, 100*time.Millisecond)
	return i
}

func (i *installation) environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + i.dir}, i.env...)
}

// start runs a program of a version in the background.
func (i *installation) start(v version, args ...string) *program.Daemon {
	i.Helper()
	return program.Start(i, program.Command{Name: v.name, Program: v.binary, Args: args, Dir: i.dir, Env: i.environ(), Patience: patience})
}

// controls replaces the controller in order. meanwhile, unless nil, happens while there is none.
func (i *installation) controls(v version, meanwhile func()) {
	i.Helper()
	if i.controller != nil {
		if code := i.controller.End(syscall.SIGTERM); code != 0 {
			i.Errorf("%s: exit code %d", i.controller.Name, code)
		}
	}
	if meanwhile != nil {
		meanwhile()
	}
	i.controller = i.start(version{"controller-" + v.name, v.binary}, "controller")
	i.controller.Says("this controller leads")
}

// remuda runs one command line of a version, which must succeed.
func (i *installation) remuda(v version, args ...string) string {
	i.Helper()
	ctx, cancel := context.WithTimeout(i.Context(), patience)
	defer cancel()
	out, err := program.RunWith(ctx, v.binary, i.dir, i.environ(), args...)
	if err != nil {
		i.Fatalf("%s: %v", v.name, err)
	}
	return string(out)
}

// request asks for runners as a client of a version, and returns the machines.
func (i *installation) request(v version, run string, count int) []string {
	i.Helper()
	a, err := program.JSON[struct {
		Instances []store.Seat `json:"instances"`
	}]([]byte(i.remuda(v, "request", "--id", run, "--count", fmt.Sprint(count), "--resource-class", "small", "-o", "json", "--timeout", "170s")), nil)
	i.Check(err)
	if len(a.Instances) != count {
		i.Fatalf("%s got %d machines for %s, want %d", v.name, len(a.Instances), run, count)
	}
	var ids []string
	for _, seat := range a.Instances {
		ids = append(ids, string(seat.InstanceID))
	}
	return ids
}

// hold submits a job that runs until end is called.
func (i *installation) hold(now version, run string) (end func()) {
	i.Helper()
	file := filepath.Join(i.dir, "end-"+run)
	i.remuda(now, "dev", "submit", "--run", run, "--script", "until test -e "+file+"; do sleep 0.1; done")
	i.Check(program.Until(patience, "a job of "+run+" runs", func() bool { return i.jobs(now, run)[0].State == githubsim.Running }))
	return func() {
		i.Helper()
		i.Check(os.WriteFile(file, nil, 0o600))
		i.Check(program.Until(patience, "the job of "+run+" ends", func() bool { return i.jobs(now, run)[0].State == githubsim.Completed }))
		if j := i.jobs(now, run)[0]; j.Conclusion != githubsim.Success {
			i.Errorf("job of %s ended with %s", run, j.Conclusion)
		}
	}
}

func (i *installation) jobs(now version, run string) []githubsim.JobRecord {
	i.Helper()
	jobs, err := program.JSON[[]githubsim.JobRecord]([]byte(i.remuda(now, "dev", "jobs", "--run", run, "-o", "json")), nil)
	i.Check(err)
	return jobs
}

// await waits until a version reads a request in a phase.
func (i *installation) await(v version, id, phase string) {
	i.Helper()
	i.Check(program.Until(patience, id+" is "+phase, func() bool {
		r, err := program.JSON[struct {
			Phase string `json:"phase"`
		}]([]byte(i.remuda(v, "status", "request", id, "-o", "json")), nil)
		i.Check(err)
		return r.Phase == phase
	}))
}

// newKinds are those of items that the earlier version does not know: it tells of them, and passes them over.
var newKinds = []string{store.KindDemand, store.KindCosts, store.KindFloor}

// read has a version read everything: requests in these phases, and no record that it cannot read.
func (i *installation) read(v version, phases map[string]string) {
	i.Helper()
	s, err := program.JSON[struct {
		Requests []struct {
			ID    string `json:"requestId"`
			Phase string `json:"phase"`
		} `json:"requests"`
		Unread []string `json:"unreadable"`
	}]([]byte(i.remuda(v, "status", "-o", "json", "--all")), nil)
	i.Check(err)
	got := map[string]string{}
	for _, r := range s.Requests {
		got[r.ID] = r.Phase
	}
	for id, want := range phases {
		if got[id] != want {
			i.Errorf("%s reads %s as %q, want %q", v.name, id, got[id], want)
		}
		if text := i.remuda(v, "explain", id); !strings.Contains(text, id) {
			i.Errorf("%s explains %s as %q", v.name, id, text)
		}
	}
	s.Unread = slices.DeleteFunc(s.Unread, func(key string) bool {
		return v.name != "now" && slices.Contains(newKinds, key[strings.LastIndex(key, " ")+1:])
	})
	if len(s.Unread) > 0 {
		i.Errorf("%s cannot read %q", v.name, s.Unread)
	}
}
