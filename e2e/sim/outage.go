package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/store"
)

// outages are of a contract for everybody (down), or of the way of some programs to it (cut): those of the present, and what must
// be known of those before.
type outages struct {
	w *World

	mu           sync.Mutex
	down         map[string]int           // contracts that are out of order, and for how many reasons
	cuts         []cut                    // who is cut off from what
	wasCut       bool                     // somebody ever was
	slow         map[string]time.Duration // contracts whose calls take up to so much longer
	hot          share                    // of the table's partitions refuse every call
	hotUntil     time.Duration            // until when partitions refused calls
	refusedUntil time.Duration            // the fleet refuses to end some machines, or is out of reach
	cutOff       [][2]time.Duration       // when runners could not reach GitHub: from, to
	scarce       time.Duration            // when the fleet last had less to offer
	blind        time.Duration            // until when nobody may look at runs again who was refused
}

func newOutages(w *World) *outages {
	return &outages{w: w, down: map[string]int{}, slow: map[string]time.Duration{}}
}

// agents and clients stand for every one of them.
const (
	agents  = "agents"
	clients = "clients"
)

// cut takes a contract from one program, however often that starts again, while all others reach it: wholly, or for
// calls with an effect alone. Of the controllers only one at a time is cut off from the store.
type cut struct {
	Who      string `script:"program,first"` // controller (the one that leads), controller-<n>, agents, clients
	Contract string `script:"contract,first"`
	span

	Writes bool `script:"writes"`
}

func (a cut) check() error {
	contracts := []string{"store", "pool", "fleet", "github"}
	if a.Who == agents || a.Who == clients {
		contracts = []string{"store"}
	}
	return errors.Join(checkProgram(a.Who), oneOf("contract", a.Contract, contracts...), a.span.check())
}

// checkProgram refuses what no process is of.
func checkProgram(who string) error {
	kind, n, _ := strings.Cut(who, "-")
	if who != agents && who != clients && who != string(Controller) && (kind != string(Controller) || n == "") {
		return fmt.Errorf("program: got %q, must be controller, controller-<n>, agents or clients", who)
	}
	return nil
}

func (a cut) do(w *World) {
	if a.Who = w.programOf(a.Who); a.Who == "" {
		return
	}
	if w.outages.cutFromStore() && a.Contract == "store" && strings.HasPrefix(a.Who, string(Controller)) {
		return
	}
	if a.Contract == "fleet" {
		w.outages.noEnds(a.For)
	}
	a.until(w, func() { w.outages.cut(a) }, func() { w.outages.rejoin(a) })
}

// programOf names the program that who stands for; none if its process does not run.
func (w *World) programOf(who string) string {
	if who == agents || who == clients {
		return who
	}
	if p := w.find(who); p != nil {
		return p.program()
	}
	return ""
}

// cut cuts a program off.
func (o *outages) cut(c cut) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cuts = append(o.cuts, c)
	o.wasCut = true
}

// rejoin ends what cut began.
func (o *outages) rejoin(c cut) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.Index(o.cuts, c)
	o.cuts = slices.Delete(o.cuts, i, i+1)
}

// cutFromStore reports whether any controller is cut off from the store.
func (o *outages) cutFromStore() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.cuts, func(c cut) bool { return c.Contract == "store" && strings.HasPrefix(c.Who, string(Controller)) })
}

// outage counts one outage of a contract more or less.
func (o *outages) count(contract string, by int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down[contract] += by
}

// set puts a contract out of order, or in order again, whatever was counted.
func (o *outages) set(contract string, down bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down[contract] = map[bool]int{true: 1}[down]
}

// program is the name of a process without the number of its start.
func (p *process) program() string {
	switch p.role {
	case Agent:
		return agents
	case Client:
		return clients
	case Controller:
	}
	return p.name[:max(strings.LastIndexByte(p.name, '.'), 0)]
}

// isDown reports whether the contract of a site is out of order for p. Whose agent reaches no store is not healthy.
func (o *outages) isDown(p *process, s Site) bool {
	contract, _, _ := strings.Cut(s.Method, ".")
	o.mu.Lock()
	down := o.down[contract] > 0 && contract != "github" // which has outages of its own
	cutOff := slices.ContainsFunc(o.cuts, func(c cut) bool {
		return c.Contract == contract && c.Who == p.program() && !(c.Writes && slices.Contains(reads, s.Method))
	})
	o.mu.Unlock()
	if cutOff {
		o.w.machines.disturbFor(string(p.on), 0)
	}
	return down || cutOff
}

// any reports whether any contract is out of order for all who could use it. A leader that is cut off from the
// store is no reason: the other follows.
func (o *outages) any() bool {
	hidden, unstopped := len(o.w.listings.lack()) > 0, o.w.supervisor.unstopped()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, outages := range o.down {
		if outages > 0 {
			return true
		}
	}
	for _, by := range o.slow {
		if by > 0 {
			return true
		}
	}
	if o.hot.Of > 0 || hidden {
		return true
	}
	mayLead := func(controller string) bool {
		return !slices.ContainsFunc(o.cuts, func(c cut) bool { return c.Contract == "store" && c.Who == controller })
	}
	if !slices.ContainsFunc(unstopped, mayLead) {
		return true
	}
	return slices.ContainsFunc(o.cuts, func(c cut) bool {
		return c.Contract != "store" || !strings.HasPrefix(c.Who, string(Controller)) || o.w.o.Controllers == 1
	})
}

// storeIsDown reports whether nobody can write.
func (o *outages) storeIsDown() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.down["store"] > 0
}

// nobodyLeads reports whether no controller can keep the lease: nobody can write, or calls may take longer than
// those about the lease may.
func (o *outages) nobodyLeads() bool {
	down, patience := o.storeIsDown(), o.w.supervisor.config().LeaseRequest
	o.mu.Lock()
	defer o.mu.Unlock()
	return down || o.slow["store"] > patience
}

// wasDown reports whether a contract was ever out of order for anybody.
func (o *outages) wasDown() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.down) > 0 || o.wasCut
}

// reached hands a notification on, unless p is cut off meanwhile: it is lost then.
func (p *process) reached(s Site, notify func(store.Key)) func(store.Key) {
	return func(k store.Key) {
		if p.alive() && !p.w.outages.isDown(p, s) {
			notify(k)
		}
	}
}

// slowDown makes the calls of a contract take up to so much longer, or less.
func (o *outages) slowDown(contract string, by time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.slow[contract] += by
}

// slowness is how much longer a call takes.
func (o *outages) slowness(s Site, k key) time.Duration {
	contract, _, _ := strings.Cut(s.Method, ".")
	o.mu.Lock()
	most := o.slow[contract]
	o.mu.Unlock()
	return time.Duration(k.float() * float64(most))
}

// throttle lets a share of the table's partitions refuse every call for so long.
func (o *outages) throttle(of share, lasting time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hot = of; of.Of > 0 {
		o.hotUntil = max(o.hotUntil, o.w.since()+lasting)
	}
}

// throttledUntil is until when the partition of a machine was refused, at the latest: nobody could end its record.
func (o *outages) throttledUntil() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.hotUntil
}

// overloaded reports whether the partition of a call refuses it. An agent that cannot report is not healthy.
func (o *outages) overloaded(p *process, c Call) bool {
	o.mu.Lock()
	hot := o.hot
	o.mu.Unlock()
	if hot.Of == 0 || c.Method != "store.Get" && c.Method != "store.Put" {
		return false
	}
	for name := range strings.SplitSeq(c.About, "+") {
		_, id, found := strings.Cut(name, "#")
		if !found {
			id = name
		}
		if name != store.LeaseKey.Partition && hot.covers(o.w.o.Seed, id, "partition") {
			o.w.machines.disturbFor(string(p.on), 0)
			return true
		}
	}
	return false
}

// noEnds notes that nobody, or not who leads, gets the fleet to end machines for so long.
func (o *outages) noEnds(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refusedUntil = max(o.refusedUntil, o.w.since()+d)
}

// refusals is until when the fleet refuses to end machines.
func (o *outages) refusals() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.refusedUntil
}

// cutOffRunners notes that no runner reaches GitHub for so long.
func (o *outages) cutOffRunners(lasting time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cutOff = append(o.cutOff, [2]time.Duration{o.w.since(), o.w.since() + lasting})
}

// wasCutOff reports whether runners could not reach GitHub at an instant, or for as long as a runner is patient
// before. GitHub gives up a job whose runner does not report.
func (o *outages) wasCutOff(at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	patience := o.w.o.paced(githubsim.DefaultSessionTimeout) + githubsim.DefaultSessionTimeout
	return slices.ContainsFunc(o.cutOff, func(out [2]time.Duration) bool {
		d := at.Sub(o.w.begin)
		return d >= out[0] && d <= out[1]+patience
	})
}

// askedAgainAfter is how long the controller leaves GitHub alone that refuses to show it runs. It has no pace.
const askedAgainAfter = 10 * time.Minute

// refuseRuns notes that GitHub refuses to show runs for so long.
func (o *outages) refuseRuns(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.blind = max(o.blind, o.w.since()+d+askedAgainAfter)
}

// blindUntil is until when the controller may not look at runs because it was refused to; 0: it never was.
func (o *outages) blindUntil() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.blind
}

// hadLess notes that the fleet has had less to offer until now.
func (o *outages) hadLess() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scarce = o.w.since()
}

// wasScarce reports whether the fleet lacked room so lately that nobody need have asked it again.
func (o *outages) wasScarce() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.scarce > 0 && o.w.since()-o.scarce < o.w.o.paced(settles)
}
