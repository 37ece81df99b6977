package sim

import (
	"cmp"
	"io"
	"time"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// Script is a story to live through. A zero field takes its default.
type Script struct {
	Seed        uint64        `script:"seed"`
	After       time.Duration `script:"after"`       // 2000-01-01 00:00 UTC the story begins
	Controllers int           `script:"controllers"` // 1
	Mode        string        `script:"mode"`        // of registration: jit or token
	Boot        time.Duration `script:"boot"`        // on average; 20 s
	NeverBoots  float64       `script:"never-boots"` // chance that a machine hangs in its boot
	JITLapse    time.Duration `script:"jit-lapse"`   // GitHub removes an unused JIT runner after it; 0: never
	Ahead       int           `script:"ahead"`       // idle machines that listen, at most
	Floors      Floors        // idle machines kept while nobody asks
	Money       Money         // what instances cost
	Skew        time.Duration `script:"skew"`        // clocks are off by up to so much, either way
	Drift       float64       `script:"drift"`       // clocks run too fast or slow by up to so much of each second
	StoreTime   bool          `script:"store-time"`  // the store says its time, as DynamoDB does
	LateExpiry  bool          `script:"late-expiry"` // the store removes what has expired days later; until then each process hides it, by its own clock
	ItemLimit   int           `script:"item-limit"`  // bytes that an item of the store may have; 0: any
	NoRetry     bool          `script:"no-retry"`    // capacity that is missing everywhere is asked for once
	Later       bool          `script:"later"`       // every other record has a field of a later version
	Idle        time.Duration `script:"idle"`        // limit of the state idle; 2 min at pace 1
	Pace        float64       `script:"pace"`        // 1: the product's defaults; see Script.paced
	RerunLost   bool          `script:"rerun-lost"`  // the controller runs jobs again that were lost with their machines
	Tempo       Tempo         // of single intervals
	Largest     int           `script:"largest"` // machines at once; 100
	Inherited   Inherited     // what was there before

	Steps  []Step
	Faults []Fault       // exactly these
	Rates  Rates         // and by chance, until CalmAt
	CalmAt time.Duration `script:"calm"` // when chance ends; 0: with the last step

	Trace io.Writer // gets a line for each call; nil: none
	Story io.Writer // gets a line for each change, for people; nil: none

	Hasty bool // the story ends with the first violation

	Under func(store.Table) store.Table // what lies below all of it, to see a broken table being found out
}

// Tempo is how often agents and controller look. Zero fields take the product's defaults at the script's pace.
type Tempo struct {
	Beat     time.Duration `script:"beat"`      // of the agent
	IdlePoll time.Duration `script:"idle-poll"` // of the agent
	Poll     time.Duration `script:"poll"`      // of the agent
	HotPoll  time.Duration `script:"hot-poll"`  // of the controller
	WarmPoll time.Duration `script:"warm-poll"` // of the controller
	Runners  time.Duration `script:"runners"`   // of the controller, at GitHub's runners
}

// complete fills in the defaults.
func (o Script) complete() Script {
	o.Controllers = max(o.Controllers, 1)
	o.Mode = cmp.Or(o.Mode, string(store.JIT))
	o.Boot = cmp.Or(o.Boot, 20*time.Second)
	o.Pace = cmp.Or(o.Pace, 1)
	o.Idle = cmp.Or(o.Idle, o.paced(2*time.Minute))
	o.Largest = cmp.Or(o.Largest, 100)
	return o
}

// paced stretches a limit or an interval. An installation of pace 12 looks a twelfth as often and is twelve
// times as patient: it lives through twelve times the hours with the same number of calls. What the
// world does, how long a call takes, a machine boots or a clock is off, has no pace.
func (o Script) paced(d time.Duration) time.Duration { return time.Duration(float64(d) * o.Pace) }

// config is that of every controller.
func (o Script) config() reconciler.Config {
	c := reconciler.Defaults()
	l := &c.Limits
	for _, d := range []*time.Duration{
		&l.Created, &l.Claimed, &l.Running, &l.ClaimGate, &l.CreateGate, &l.Handshake, &l.Beat, &l.Silence,
		&l.RunningSilence, &l.Visibility, &l.AgentGrace,
		&c.DefaultMaxRuntime, &c.MaxRuntime, &c.ClientSilence, &c.Exclusion, &c.HotPoll, &c.WarmPoll, &c.Scan, &c.Sweep,
		&c.LaunchRetry, &c.Runners, &c.Orphan, &c.Housekeeping, &c.LeaseTTL, &c.LeaseRequest,
	} {
		*d = o.paced(*d)
	}
	c.Watch.Poll, c.Watch.RerunLost = o.paced(c.Watch.Poll), o.RerunLost
	c.Registration, c.Ahead = store.RegistrationMode(o.Mode), o.Ahead
	c.Classes = o.Floors.of(map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}, "large": {CPU: 4, Mem: 8192, Idle: o.Idle * 3 / 4}})
	l.Idle, c.MaxInstances, c.Budget = o.Idle, o.Largest, o.Money.budget()
	if o.NoRetry {
		c.LaunchRetry = 0
	}
	l.Beat = cmp.Or(o.Tempo.Beat, l.Beat)
	c.HotPoll, c.WarmPoll = cmp.Or(o.Tempo.HotPoll, c.HotPoll), cmp.Or(o.Tempo.WarmPoll, c.WarmPoll)
	c.Runners = cmp.Or(o.Tempo.Runners, c.Runners)
	return c
}
