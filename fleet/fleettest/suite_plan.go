package fleettest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/glob"
)

// planFits checks the values that the machines really have: a plan's parameters are opaque.
func planFits(t *testing.T, s Subject) {
	for _, tt := range []struct {
		name    string
		cpu     int
		mem     int
		allowed []string
	}{
		{"OneType", 2, 4096, []string{"c6i.large"}},
		{"MoreMemoryThanTheFirstHas", 2, 4097, []string{"c6i.large", "m5.large"}},
		{"Pattern", 2, 2048, []string{"M5.*"}},
		{"Any", 2, 1, []string{"*"}},
	} {
		sp := spec(1)
		sp.CPU, sp.Mem, sp.AllowedTypes = tt.cpu, tt.mem, tt.allowed
		for _, m := range launched(t, s.Fleet, plan(t, s.Fleet, sp)).Machines {
			if m.CPU != tt.cpu || m.Mem < tt.mem || !glob.Any(tt.allowed, m.InstanceType) || burstable(m.InstanceType) {
				t.Errorf("%s: launched %s with %d vCPU and %d MiB, want one of %q with exactly %d and at least %d, not burstable",
					tt.name, m.InstanceType, m.CPU, m.Mem, tt.allowed, tt.cpu, tt.mem)
			}
		}
	}
}

func planNoEffect(t *testing.T, s Subject) {
	p := plan(t, s.Fleet, spec(3))
	if p.Count != 3 || p.Token == "" {
		t.Errorf("Plan(3) = token %q, count %d, want those of the spec", p.Token, p.Count)
	}
	_, other := start(t, s.Fleet, 1)
	wantLiving(t, s, s.Fleet, "", other)
	if got := living(t, s.Fleet, p.Token); len(got) != 0 {
		t.Errorf("machines of a launch that was only planned: %v", got)
	}
}

func planUnsatisfiable(t *testing.T, s Subject) {
	for _, tt := range []struct {
		name   string
		change func(*fleet.Spec)
	}{
		{"NoSuchType", func(sp *fleet.Spec) { sp.AllowedTypes = []string{"nosuch.*"} }},
		{"Burstable", func(sp *fleet.Spec) { sp.AllowedTypes = []string{"t*"} }},
		{"NoType", func(sp *fleet.Spec) { sp.AllowedTypes = nil }},
		{"CPUIsExact", func(sp *fleet.Spec) { sp.CPU, sp.Mem, sp.AllowedTypes = 3, 1, []string{"*"} }},
		{"TooMuchMemory", func(sp *fleet.Spec) { sp.Mem = 1 << 30 }},
		{"NotTheLiteralDot", func(sp *fleet.Spec) { sp.AllowedTypes = []string{"c6i-large"} }},
	} {
		sp := spec(1)
		tt.change(&sp)
		_, err := s.Fleet.Plan(t.Context(), sp)
		if !errors.Is(err, fleet.ErrUnsatisfiable) || errors.Is(err, fleet.ErrNoCapacity) {
			t.Errorf("%s: Plan error = %v, want ErrUnsatisfiable", tt.name, err)
		}
	}
}

func planExcluded(t *testing.T, s Subject) {
	sp := spec(2)
	sp.Excluded = []fleet.Slot{
		{InstanceType: "c6i.large"},
		{UsageClass: "on-demand"}, // another class than asked for: no matter
		{UsageClass: "spot", InstanceType: "m5.large", Zone: "nowhere"},
	}
	out := launched(t, s.Fleet, plan(t, s.Fleet, sp))
	if len(out.Machines) != 2 {
		t.Fatalf("Launch gave %d machines, want 2", len(out.Machines))
	}
	for _, m := range out.Machines {
		if m.InstanceType != "m5.large" {
			t.Errorf("launched %s, want m5.large: c6i.large was excluded", m.InstanceType)
		}
	}
}

func planAllExcluded(t *testing.T, s Subject) {
	for _, tt := range []struct {
		name     string
		excluded []fleet.Slot
	}{
		{"Everything", []fleet.Slot{{}}},
		{"UsageClass", []fleet.Slot{{UsageClass: "spot"}}},
		{"EachType", []fleet.Slot{{InstanceType: "m5.large"}, {UsageClass: "spot", InstanceType: "c6i.large"}}},
	} {
		sp := spec(1)
		sp.Excluded = tt.excluded
		_, err := s.Fleet.Plan(t.Context(), sp)
		if !errors.Is(err, fleet.ErrNoCapacity) || errors.Is(err, fleet.ErrUnsatisfiable) {
			t.Errorf("%s excluded: Plan error = %v, want ErrNoCapacity", tt.name, err)
		}
	}
}

// planInvalid allows the refusal to come from either of the two calls.
func planInvalid(t *testing.T, s Subject) {
	for _, tt := range []struct {
		name   string
		change func(*fleet.Spec)
	}{
		{"NoToken", func(sp *fleet.Spec) { sp.Token = "" }},
		{"LongToken", func(sp *fleet.Spec) { sp.Token = strings.Repeat("x", 65) }},
		{"CountZero", func(sp *fleet.Spec) { sp.Count = 0 }},
		{"CountNegative", func(sp *fleet.Spec) { sp.Count = -1 }},
	} {
		sp := spec(1)
		tt.change(&sp)
		p, err := s.Fleet.Plan(t.Context(), sp)
		if err == nil {
			_, err = s.Fleet.Launch(t.Context(), p)
		}
		if !errors.Is(err, fleet.ErrRefused) {
			t.Errorf("%s: Plan and Launch error = %v, want ErrRefused", tt.name, err)
		}
	}
	wantLiving(t, s, s.Fleet, "", nil)
}

func template(t *testing.T, s Subject) {
	of := spec(1).ResourceClass
	versions, err := s.Fleet.Templates(t.Context(), of)
	want := versions[of]
	if err != nil || want == "" || len(versions) != 1 {
		t.Fatalf("Templates = %q, %v, want a version", versions, err)
	}
	p := plan(t, s.Fleet, spec(1))
	if p.TemplateVersion != want {
		t.Errorf("Plan.TemplateVersion = %q, want %q", p.TemplateVersion, want)
	}
	for _, m := range launched(t, s.Fleet, p).Machines {
		if m.TemplateVersion != want {
			t.Errorf("Machine.TemplateVersion = %q, want %q", m.TemplateVersion, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Fleet.Plan(ctx, spec(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Plan with a cancelled context error = %v, want context.Canceled", err)
	}
}
