package upgrade

import (
	"slices"
	"syscall"
	"testing"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
)

// An installation goes from the version before this one to this one, back, and forth again, while runs hold machines. In each
// state agents and clients of both versions work under the controller of either: jobs go on, what was asked for while no
// controller ran is answered, and each version reads what the other wrote.
func TestUpgradeAndBack(t *testing.T) {
	program.Long(t, "builds the version before this one")
	built := program.BuildEarlier(t)
	earlier, now := version{built.Name, built.Binary}, version{"now", program.Binary}
	i := install(t)

	i.controls(earlier, nil)
	held := i.request(earlier, "100", 1)
	end100 := i.hold(now, "100")
	i.request(now, "200", 1) // a client may be newer
	i.remuda(now, "release", "--id", "200")

	// To this version, under which agents of the earlier one go on.
	i.controls(now, func() {
		i.start(version{"early-client", earlier.binary}, "request", "--id", "300", "--count", "1", "--resource-class", "small")
	})
	i.await(now, "300", "Ready")
	end100()
	i.kept(held[0], "100")
	i.request(earlier, "400", 1)
	end400 := i.hold(now, "400") // by an agent of this version
	both := map[string]string{"100": "Ready", "200": "Released", "300": "Ready", "400": "Ready"}
	i.read(now, both)
	i.read(earlier, both)
	i.remuda(now, "audit") // the earlier one takes an item of a kind that it does not know for one that cannot be read
	i.remuda(earlier, "release", "--id", "100")

	// And back.
	i.controls(earlier, func() {
		i.start(version{"late-client", now.binary}, "request", "--id", "500", "--count", "1", "--resource-class", "small")
	})
	i.await(earlier, "500", "Ready")
	end400()
	i.remuda(now, "release", "--id", "400")
	both = map[string]string{"100": "Released", "300": "Ready", "400": "Released", "500": "Ready"}
	i.read(now, both)
	i.read(earlier, both)

	i.remuda(now, "audit")

	// And forth, to an end.
	i.controls(now, nil)
	for _, run := range []string{"300", "500"} {
		i.hold(now, run)()
		i.remuda(earlier, "release", "--id", run)
	}
	i.remuda(now, "drain", "--all", "--timeout", "170s")
	i.read(now, nil)
	i.read(earlier, nil)
	i.Check(program.Until(patience, "every machine is gone for good", func() bool {
		i.Check(i.witness.Look(i.Context()))
		return i.witness.Count(witness.Gone) == len(i.witness.Instances())
	}))
	if code := i.controller.End(syscall.SIGTERM); code != 0 {
		i.Errorf("exit code %d", code)
	}
	i.judge(now)
}

// kept expects that a machine still is its run's.
func (i *installation) kept(id, run string) {
	i.Helper()
	i.Check(i.witness.Look(i.Context()))
	all := i.witness.Instances()
	at := slices.IndexFunc(all, func(in store.Instance) bool { return string(in.ID) == id })
	if at < 0 || string(all[at].RunID) != run || all[at].Gone() {
		i.Errorf("machine %s is no longer that of %s", id, run)
	}
}

// judge holds everything to what must never happen.
func (i *installation) judge(now version) {
	i.Helper()
	jobs, err := program.JSON[[]githubsim.JobRecord]([]byte(i.remuda(now, "dev", "jobs", "-o", "json")), nil)
	i.Check(err)
	i.witness.Jobs(jobs)
	machines, err := i.Machines()
	i.Check(err)
	i.witness.Known(machines)
	for _, v := range i.witness.Violations() {
		i.Errorf("violated %s", v)
	}
	left, err := i.Left()
	if i.Check(err); len(left) > 0 {
		i.Errorf("processes of machines are left: %v", left)
	}
}
