package fleettest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/glob"
)

// params is what Memory freezes in a plan.
type params struct {
	ResourceClass string       `json:"resourceClass"`
	Slots         []fleet.Slot `json:"slots"` // where machines may come from, best first
}

// Plan keeps the contract.
func (m *Memory) Plan(ctx context.Context, s fleet.Spec) (fleet.Plan, error) {
	if err := m.begin(ctx, CallPlan); err != nil {
		return fleet.Plan{}, fmt.Errorf("plan %s: %w", s.Token, err)
	}
	if err := checkLaunch(s.Token, s.Count); err != nil {
		return fleet.Plan{}, fmt.Errorf("plan: %w", err)
	}
	fits := fits(s)
	if len(fits) == 0 {
		return fleet.Plan{}, fmt.Errorf("plan %s: %d vCPU, %d MiB, types %q: %w", s.Token, s.CPU, s.Mem, s.AllowedTypes, fleet.ErrUnsatisfiable)
	}
	in := params{ResourceClass: s.ResourceClass, Slots: slices.DeleteFunc(slots(s, fits), func(slot fleet.Slot) bool {
		return slices.ContainsFunc(s.Excluded, func(ex fleet.Slot) bool { return covers(ex, slot) })
	})}
	if len(in.Slots) == 0 {
		return fleet.Plan{}, fmt.Errorf("plan %s: all %d types are excluded: %w", s.Token, len(fits), fleet.ErrNoCapacity)
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return fleet.Plan{}, fmt.Errorf("plan %s: %w", s.Token, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return fleet.Plan{Token: s.Token, Count: s.Count, TemplateVersion: m.templateOf(s.ResourceClass), Params: raw}, nil
}

func fits(s fleet.Spec) []instanceType {
	var out []instanceType
	for _, t := range types {
		if t.CPU == s.CPU && t.Mem >= s.Mem && glob.Any(s.AllowedTypes, t.Name) && !burstable(t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// slots are the places of some types for a spec, best first.
func slots(s fleet.Spec, types []instanceType) []fleet.Slot {
	var out []fleet.Slot
	for _, t := range types {
		for _, zone := range zones {
			out = append(out, fleet.Slot{UsageClass: s.UsageClass, InstanceType: t.Name, Zone: zone})
		}
	}
	return out
}

// burstable reports whether the type is of EC2's T family (t3.large, t4g.micro).
func burstable(name string) bool {
	return len(name) > 1 && name[0] == 't' && name[1] >= '0' && name[1] <= '9'
}

// covers reports whether the pattern slot, where empty stands for any, covers slot.
func covers(pattern, slot fleet.Slot) bool {
	return (pattern.UsageClass == "" || pattern.UsageClass == slot.UsageClass) &&
		(pattern.InstanceType == "" || pattern.InstanceType == slot.InstanceType) &&
		(pattern.Zone == "" || pattern.Zone == slot.Zone)
}

func checkLaunch(token string, count int) error {
	if token == "" || len(token) > 64 {
		return fmt.Errorf("token must be 1 to 64 characters, got %q: %w", token, fleet.ErrRefused)
	}
	if count < 1 {
		return fmt.Errorf("count must be at least 1, got %d: %w", count, fleet.ErrRefused)
	}
	return nil
}

// decode checks a plan and returns its parameters and its canonical form.
func decode(p fleet.Plan) (params, string, error) {
	if err := checkLaunch(p.Token, p.Count); err != nil {
		return params{}, "", err
	}
	var in params
	d := json.NewDecoder(bytes.NewReader(p.Params))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || len(in.Slots) == 0 {
		return params{}, "", fmt.Errorf("malformed parameters %q: %w", p.Params, fleet.ErrRefused)
	}
	form, err := json.Marshal(p) // compacts Params
	return in, string(form), err
}

// place creates the machines of a new launch. The caller holds mu.
func (m *Memory) place(p fleet.Plan, in params) launch {
	var l launch
	slots := in.Slots
	for len(l.ids) < p.Count && len(slots) > 0 {
		slot := m.nextZone(slots)
		if r, refused := m.refusal(slot); refused {
			if !slices.Contains(l.refused, r) {
				l.refused = append(l.refused, r)
			}
			slots = slices.DeleteFunc(slices.Clone(slots), func(s fleet.Slot) bool { return covers(r.Slot, s) })
			continue
		}
		i := slices.IndexFunc(types, func(t instanceType) bool { return t.Name == slot.InstanceType })
		if i < 0 { // the plan of another fleet
			l.refused = append(l.refused, fleet.Refusal{Slot: slot, Code: "InvalidInstanceType", Message: "no such type"})
			slots = slices.DeleteFunc(slices.Clone(slots), func(s fleet.Slot) bool { return s == slot })
			continue
		}
		l.ids = append(l.ids, m.add(fleet.Machine{
			InstanceType: slot.InstanceType, UsageClass: slot.UsageClass, ResourceClass: in.ResourceClass,
			CPU: types[i].CPU, Mem: types[i].Mem, Zone: slot.Zone,
			LaunchToken: p.Token, TemplateVersion: p.TemplateVersion,
		}))
	}
	return l
}

// nextZone returns, of the slots with the first one's type, the one whose turn it is.
func (m *Memory) nextZone(slots []fleet.Slot) fleet.Slot {
	n := 1
	for n < len(slots) && slots[n].InstanceType == slots[0].InstanceType {
		n++
	}
	return slots[len(m.order)%n]
}

// refusal reports a limit that slot would exceed.
func (m *Memory) refusal(slot fleet.Slot) (fleet.Refusal, bool) {
	for _, lim := range m.limits {
		if !covers(lim.slot, slot) || m.living(lim.slot) < lim.n {
			continue
		}
		at := lim.slot
		at.UsageClass = slot.UsageClass // a launch knows no other
		code := "InsufficientInstanceCapacity"
		if lim.slot == (fleet.Slot{}) {
			code = "InstanceLimitExceeded"
		}
		return fleet.Refusal{Slot: at, Code: code, Message: fmt.Sprintf("limit of %d reached", lim.n)}, true
	}
	return fleet.Refusal{}, false
}

func (m *Memory) living(pattern fleet.Slot) int {
	n := 0
	for slot, living := range m.alive {
		if covers(pattern, slot) {
			n += living
		}
	}
	return n
}

func slotOf(fm fleet.Machine) fleet.Slot {
	return fleet.Slot{UsageClass: fm.UsageClass, InstanceType: fm.InstanceType, Zone: fm.Zone}
}

// add records a machine, giving it an id and the present time where it has none.
func (m *Memory) add(fm fleet.Machine) string {
	if fm.ID == "" {
		fm.ID = fmt.Sprintf("i-%017x", len(m.order)+1)
	}
	if fm.Principal == "" {
		fm.Principal = fm.ID
	}
	if fm.LaunchedAt.IsZero() {
		fm.LaunchedAt = m.clock.Now().UTC()
	}
	m.machines[fm.ID] = &machine{Machine: fm}
	m.order = append(m.order, fm.ID)
	m.alive[slotOf(fm)]++
	return fm.ID
}

// end marks a machine that lives as ended and reports whether it did live. The caller holds mu.
func (m *Memory) end(fm *machine) bool {
	if !fm.endedAt.IsZero() {
		return false
	}
	fm.endedAt = m.clock.Now()
	m.alive[slotOf(fm.Machine)]--
	return true
}
