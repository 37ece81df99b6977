package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/store"
)

// Action is something that can happen to a world, as data: a struct whose fields a script can write.
type Action interface {
	do(w *World)
}

// Step is something that happens at a time of the story.
type Step struct {
	At   time.Duration
	Why  string // for people; one line, may be empty
	What string // the action as a script writes it
	Act  Action
}

// Do lets the step happen.
func (s Step) Do(w *World) { s.Act.do(w) }

// step is the step of an action.
func step(at time.Duration, a Action) Step {
	return Step{At: at, What: verbOf(a) + writeWords(reflect.ValueOf(a)), Act: a}
}

// verbs are the words that begin an action. A new action is added here, and scripts can say it.
var verbs = []struct {
	name   string
	action Action
}{
	{"run", Workflow{}},
	{"reclaim", reclaim{}},
	{"notice", notice{}},
	{"capacity", capacity{}},
	{"template", template{}},
	{"drain", drain{}},
	{"kill", kill{}},
	{"pause", pause{}},
	{"down", down{}},
	{"cut", cut{}},
	{"github-out", githubOut{}},
	{"github-slow", githubSlow{}},
	{"github-limit", githubLimit{}},
	{"github-view", githubView{}},
	{"scarce", scarce{}},
	{"list-lag", listLag{}},
	{"strike", strike{}},
	{"kill-agent", killAgent{}},
	{"pause-agent", pauseAgent{}},
	{"set-clock", setClock{}},
	{"slow", slow{}},
	{"throttle", throttle{}},
	{"strike-all", strikeAll{}},
	{"pause-agents", pauseAgents{}},
	{"list-loses", listLoses{}},
	{"refuse-end", refuseEnd{}},
	{"reboot", reboot{}},
	{"disk", disk{}},
	{"stop", stop{}},
	{"config", config{}},
	{"stray", orphanMachine{}},
	{"no-prices", noPrices{}},
	{"refuse", refuseItem{}},
	{"spoil", spoil{}},
	{"deaf", deaf{}},
}

// String writes the step as ParseStep reads it, without its reason.
func (s Step) String() string {
	return "at " + writeDuration(s.At) + " " + s.What
}

// verbOf returns the word of an action.
func verbOf(a Action) string {
	for _, v := range verbs {
		if reflect.TypeOf(v.action) == reflect.TypeOf(a) {
			return v.name
		}
	}
	return fmt.Sprintf("?%T", a)
}

// ParseStep reads what String wrote.
func ParseStep(text string) (Step, error) {
	f := strings.Fields(text)
	if len(f) < 3 || f[0] != "at" {
		return Step{}, fmt.Errorf("step: got %q, must be: at <time> <what> <field>=<value>", text)
	}
	var at time.Duration
	if err := readValue(reflect.ValueOf(&at).Elem(), f[1]); err != nil {
		return Step{}, fmt.Errorf("step: time: %w", err)
	}
	var known []string
	for _, v := range verbs {
		known = append(known, v.name)
		if v.name != f[2] {
			continue
		}
		p := reflect.New(reflect.TypeOf(v.action))
		if err := readWords(v.name, f[3:], p); err != nil {
			return Step{}, err
		}
		a := p.Elem().Interface().(Action) //nolint:forcetypeassert // it is of the type of one
		if err := legal(a); err != nil {
			return Step{}, fmt.Errorf("%s: %w", v.name, err)
		}
		return step(at, a), nil
	}
	return Step{}, fmt.Errorf("step: got %q, must be one of: %s", f[2], strings.Join(known, ", "))
}

// legal says why an action makes no sense.
func legal(a Action) error {
	if c, ok := a.(interface{ check() error }); ok {
		return c.check()
	}
	return nil
}

// Begin is the step that begins a workflow run.
func Begin(at time.Duration, f Workflow) Step { return step(at, f) }

// do implements Action: the run begins.
func (f Workflow) do(w *World) { w.workflows.start(f) }

func (f Workflow) check() error {
	if f.Count == 0 {
		return errors.New("count: got 0, must be at least 1")
	}
	return f.checkGitHub()
}

// reclaim is the sudden loss of the nth machine.
type reclaim struct {
	N int `script:"machine,first"`
}

// Reclaim is the sudden loss of the nth machine.
func Reclaim(at time.Duration, n int) Step { return step(at, reclaim{n}) }

func (a reclaim) do(w *World) { w.machines.nth(a.N, w.machines.reclaim) }

// notice is the two-minute notice of the nth machine.
type notice struct {
	N int `script:"machine,first"`
}

// Notice is the two-minute notice of the nth machine.
func Notice(at time.Duration, n int) Step { return step(at, notice{n}) }

func (a notice) do(w *World) {
	w.machines.nth(a.N, func(id string) {
		w.machines.disturb(id)
		w.machines.of(id).notice.Store(true)
	})
}

// capacity bounds what the fleet has to offer in a place.
type capacity struct {
	N     int    `script:"machines,first"`
	Usage string `script:"usage"`
	Type  string `script:"type"`
	Zone  string `script:"zone"`
}

// Capacity bounds what the fleet has to offer in a place.
func Capacity(at time.Duration, slot fleet.Slot, n int) Step {
	return step(at, capacity{n, slot.UsageClass, slot.InstanceType, slot.Zone})
}

func (a capacity) do(w *World) {
	w.fleet.SetCapacity(fleet.Slot{UsageClass: a.Usage, InstanceType: a.Type, Zone: a.Zone}, a.N)
}

// template changes what machines are launched from.
type template struct {
	Version string `script:"version,first"`
	Class   string `script:"class"` // alone; "": of all
}

// Template changes what machines are launched from.
func Template(at time.Duration, version string) Step { return step(at, template{Version: version}) }

func (a template) do(w *World) {
	w.truth.facts.changeTemplate(a)
	if a.Class == "" {
		w.fleet.SetTemplate(a.Version)
	} else {
		w.fleet.SetTemplate(a.Version, a.Class)
	}
}

// drain is an operator's order.
type drain struct {
	ID       string           `script:"name,first"`
	Class    string           `script:"class"`
	Instance store.InstanceID `script:"instance"`
}

// Drain is an operator's order.
func Drain(at time.Duration, order store.DrainOrder) Step {
	return step(at, drain{order.ID, order.ResourceClass, order.InstanceID})
}

func (a drain) do(w *World) {
	now := w.clock.Now()
	order := store.DrainOrder{
		ID: a.ID, ResourceClass: a.Class, InstanceID: a.Instance,
		CreatedAt: store.At(now),
	}
	if err := store.New(w.truth).OrderDrain(context.Background(), order); err != nil {
		w.verdicts.broke(Answered, "drain order: %v", err)
	}
}

// kill ends a process at once. What supervises it starts it again.
type kill struct {
	Who string `script:"process,first"`
}

// Kill ends a process at once: controller (the one that leads), controller-<n>, agent-<n> on the nth machine,
// client-<request>.<attempt>.
func Kill(at time.Duration, who string) Step { return step(at, kill{who}) }

func (a kill) check() error { return checkWho(a.Who) }

func (a kill) do(w *World) {
	if p := w.find(a.Who); p != nil {
		p.crash()
	}
}

// pause stops a process for a while, as SIGSTOP does.
type pause struct {
	Who string `script:"process,first"`
	span
}

// Pause stops a process for a while. Who is as in Kill.
func Pause(at time.Duration, who string, d time.Duration) Step {
	return step(at, pause{who, span{d}})
}

func (a pause) check() error { return errors.Join(checkWho(a.Who), a.span.check()) }

func (a pause) do(w *World) {
	if p := w.find(a.Who); p != nil {
		p.pause(a.For)
	}
}

// checkWho refuses what find can never find.
func checkWho(who string) error {
	kind, rest, ok := strings.Cut(who, "-")
	switch Role(kind) {
	case Controller:
		if !ok || rest != "" {
			return nil
		}
	case Agent, Client:
		if rest != "" {
			return nil
		}
	}
	return fmt.Errorf("process: got %q, must be controller, controller-<n>, agent-<n> or client-<request>.<attempt>", who)
}

// find returns a living process, nil if there is none of that name.
func (w *World) find(who string) *process {
	return cmp.Or(w.supervisor.find(who, w.truth.records.leader()), w.workflows.find(who), w.machines.find(who))
}
