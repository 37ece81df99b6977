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
	Seed        uint64
	Controllers int           // 1
	Mode        string        // of registration: jit or token
	Boot        time.Duration // on average; 20 s
	NeverBoots  float64       // chance that a machine hangs in its boot
	JITLapse    time.Duration // GitHub removes an unused JIT runner after it; 0: never
	Skew        time.Duration // clocks are off by up to so much, either way
	Idle        time.Duration // limit of the state idle; 2 min
	Tempo       Tempo
	Largest     int // machines at once; 100

	Steps  []Step
	Faults []Fault       // exactly these
	Rates  Rates         // and by chance, until CalmAt
	CalmAt time.Duration // when chance ends; 0: with the last step

	Trace io.Writer // gets a line for each call; nil: none
}

// Tempo is how often agents and controller look. Zero fields take the product's defaults. Slower ones let a
// fleet live through more hours per second of computing.
type Tempo struct {
	Beat, IdlePoll, Poll time.Duration // of the agent
	HotPoll, WarmPoll    time.Duration // of the controller
}

// Step is something that happens at a time of the story.
type Step struct {
	At   time.Duration
	What string // for people
	Do   func(w *World)
}

// Begin is the step that begins a workflow run.
func Begin(at time.Duration, f Workflow) Step {
	return Step{At: at, What: "run " + f.ID, Do: func(w *World) { w.start(f) }}
}

// complete fills in the defaults.
func (o Script) complete() Script {
	o.Controllers = max(o.Controllers, 1)
	o.Mode = cmp.Or(o.Mode, string(store.JIT))
	o.Boot = cmp.Or(o.Boot, 20*time.Second)
	o.Idle = cmp.Or(o.Idle, 2*time.Minute)
	o.Largest = cmp.Or(o.Largest, 100)
	return o
}

// config is that of every controller.
func (o Script) config() reconciler.Config {
	c := reconciler.Defaults()
	c.Registration = store.RegistrationMode(o.Mode)
	c.Classes = map[string]reconciler.Class{"small": {CPU: 2, Mem: 4096}, "large": {CPU: 4, Mem: 8192}}
	c.Limits.Idle, c.MaxInstances = o.Idle, o.Largest
	c.Limits.Beat = cmp.Or(o.Tempo.Beat, c.Limits.Beat)
	c.HotPoll, c.WarmPoll = cmp.Or(o.Tempo.HotPoll, c.HotPoll), cmp.Or(o.Tempo.WarmPoll, c.WarmPoll)
	return c
}
