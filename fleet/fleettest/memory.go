package fleettest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
)

// Memory is a fleet in this process's memory, for the tests of those who use one. It keeps the
// contract of package fleet (the suite runs against it), starts no goroutine and never waits; times are those of its
// clock, so it works in a testing/synctest bubble.
//
// A machine is only a record. What runs on it is the caller's: OnLaunch and OnTerminate say when to
// start and stop it, End says that it ended by itself. Everything may be set at any time:
//
//	m := fleettest.NewMemory(clock.RealClock{})
//	m.OnLaunch(func(fm fleet.Machine) { … })             // start its agent
//	m.OnTerminate(func(id string) { … })                 // stop it; once per machine
//	m.End(id)                                            // power-off or sudden loss
//	m.Add(fm)                                            // a machine that no launch of ours knows
//	m.SetCapacity(fleet.Slot{}, 4)                       // in total; Unlimited lifts it
//	m.SetCapacity(fleet.Slot{UsageClass: "spot"}, 0)     // of a usage class, a type, a zone
//	m.SetListLag(20 * time.Second)                       // new machines are not listed so long
//	m.SetEndDelay(…), m.SetTemplate("v2")
//	m.FailStarts(reason)                                 // machines end at their launch
//	m.RefuseTerminate(id, err)                           // this one cannot be ended; nil: it can
//	m.Calls(CallLaunch), m.Launched(), m.Alive(), m.Machine(id)
//
// Types are tried in the order of the catalogue, zones in turn, ids count up: the same calls give
// the same machines.
type Memory struct {
	clock clock.Clock

	mu          sync.Mutex
	machines    map[string]*machine
	order       []string           // ids as launched
	alive       map[fleet.Slot]int // by exact place
	launches    map[string]launch
	limits      []limit
	templates   map[string]string // version by class; "" is of all others
	listLag     time.Duration
	endDelay    time.Duration
	calls       map[Call]int
	atStart     fleet.StateReason // why each machine ends at its launch; empty: machines live
	onLaunch    func(fleet.Machine)
	onTerminate func(string)
}

// instanceType is one that Memory offers.
type instanceType struct {
	Name string
	CPU  int // vCPUs
	Mem  int // MiB
}

// Types and zones of every Memory. The suite needs the first two. Burstable types are there to be
// refused (S70).
var (
	types = []instanceType{
		{"c6i.large", 2, 4096},
		{"m5.large", 2, 8192},
		{"t3.large", 2, 8192},
		{"r6i.large", 2, 16384},
		{"c6i.xlarge", 4, 8192},
		{"m6i.xlarge", 4, 16384},
		{"c6i.2xlarge", 8, 16384},
	}
	zones = []string{"local-a", "local-b"}
)

// Call names a method of the contract.
type Call string

// The calls that are counted.
const (
	CallPlan      Call = "Plan"
	CallLaunch    Call = "Launch"
	CallTerminate Call = "Terminate"
	CallList      Call = "List"
	CallTemplate  Call = "Template"
)

// Unlimited lifts a capacity limit.
const Unlimited = -1

type machine struct {
	fleet.Machine
	endedAt time.Time // zero: lives
	refuse  error
}

type launch struct {
	plan    string // canonical form, to tell a repetition from another launch
	ids     []string
	refused []fleet.Refusal
}

type limit struct {
	slot fleet.Slot
	n    int
}

// NewMemory returns an empty fleet with unlimited capacity. It offers a small catalogue of 2, 4 and 8 vCPUs.
func NewMemory(c clock.Clock) *Memory {
	return &Memory{
		clock:       c,
		machines:    make(map[string]*machine),
		alive:       make(map[fleet.Slot]int),
		launches:    make(map[string]launch),
		calls:       make(map[Call]int),
		templates:   map[string]string{"": "1"},
		onLaunch:    func(fleet.Machine) {},
		onTerminate: func(string) {},
	}
}

var _ fleet.Fleet = (*Memory)(nil)

// Launch keeps the contract. The OnLaunch hook runs for each new machine before it returns.
func (m *Memory) Launch(ctx context.Context, p fleet.Plan) (fleet.Outcome, error) {
	if err := m.begin(ctx, CallLaunch); err != nil {
		return fleet.Outcome{}, fmt.Errorf("launch %s: %w", p.Token, err)
	}
	in, form, err := decode(p)
	if err != nil {
		return fleet.Outcome{}, fmt.Errorf("launch %s: %w", p.Token, err)
	}
	m.mu.Lock()
	l, known := m.launches[p.Token]
	if known && l.plan != form {
		m.mu.Unlock()
		return fleet.Outcome{}, fmt.Errorf("launch %s: token was used with another plan: %w", p.Token, fleet.ErrRefused)
	}
	if !known {
		l = m.place(p, in)
		l.plan = form
		m.launches[p.Token] = l
		for _, id := range l.ids {
			if fm := m.machines[id]; m.atStart.Code != "" && m.end(fm) {
				fm.StateReason = m.atStart
			}
		}
	}
	out := fleet.Outcome{Refused: slices.Clone(l.refused)}
	now := m.clock.Now()
	for _, id := range l.ids {
		out.Machines = append(out.Machines, m.view(m.machines[id], now))
	}
	hook, ended := m.onLaunch, m.onTerminate
	m.mu.Unlock()
	if !known {
		for _, fm := range out.Machines {
			hook(fm)
			if fm.StateReason.Code != "" {
				ended(fm.ID)
			}
		}
	}
	return out, nil
}

// Terminate keeps the contract. The OnTerminate hook runs for each machine that it ended before it
// returns.
func (m *Memory) Terminate(ctx context.Context, ids ...string) error {
	if err := m.begin(ctx, CallTerminate); err != nil {
		return fleet.TerminateErrors(ids, err)
	}
	var errs []error
	var ended []string
	m.mu.Lock()
	for _, id := range ids {
		fm, ok := m.machines[id]
		switch {
		case !ok: // unknown ids are no error
		case fm.endedAt.IsZero() && fm.refuse != nil:
			errs = append(errs, &fleet.TerminateError{ID: id, Cause: fm.refuse})
		case m.end(fm):
			ended = append(ended, id)
		}
	}
	hook := m.onTerminate
	m.mu.Unlock()
	for _, id := range ended {
		hook(id)
	}
	return errors.Join(errs...)
}

// List keeps the contract; machines come in the order of their launch.
func (m *Memory) List(ctx context.Context, token string) ([]fleet.Machine, error) {
	if err := m.begin(ctx, CallList); err != nil {
		return nil, fmt.Errorf("list machines: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	var out []fleet.Machine
	for _, id := range m.order {
		fm := m.machines[id]
		hidden := now.Before(fm.LaunchedAt.Add(m.listLag))
		if !hidden && (token == "" || fm.LaunchToken == token) {
			out = append(out, m.view(fm, now))
		}
	}
	return out, nil
}

// Templates keeps the contract.
func (m *Memory) Templates(ctx context.Context, classes ...string) (map[string]string, error) {
	if err := m.begin(ctx, CallTemplate); err != nil {
		return nil, fmt.Errorf("read templates: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]string{}
	for _, class := range classes {
		out[class] = m.templateOf(class)
	}
	return out, nil
}

// templateOf is that of a class. The caller holds mu.
func (m *Memory) templateOf(class string) string { return cmp.Or(m.templates[class], m.templates[""]) }

// Close does nothing: there is nothing to release.
func (m *Memory) Close() error { return nil }

// begin counts the call. An error stands for a call without effect.
func (m *Memory) begin(ctx context.Context, c Call) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[c]++
	return context.Cause(ctx)
}

// view returns the machine as the fleet shows it at now. The caller holds mu.
func (m *Memory) view(fm *machine, now time.Time) fleet.Machine {
	out := fm.Machine
	switch {
	case fm.endedAt.IsZero():
		out.State = fleet.Up
	case now.Before(fm.endedAt.Add(m.endDelay)):
		out.State = fleet.Ending
	default:
		out.State = fleet.Ended
	}
	return out
}
