//go:build unix

package procfleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/glob"
)

// maxToken is the bound of EC2's client tokens, kept here so that both fleets take the same.
const maxToken = 64

// params is what a plan freezes: the places, best first. Sizes are frozen with them, since a machine
// is what was planned even if the catalogue has changed since.
type params struct {
	UsageClass    string  `json:"usageClass"`
	ResourceClass string  `json:"resourceClass"`
	Places        []place `json:"places"`
}

type place struct {
	InstanceType string `json:"instanceType"`
	CPU          int    `json:"cpu"` // vCPUs
	Mem          int    `json:"mem"` // MiB
	Zone         string `json:"zone"`
}

// Plan keeps the contract of fleet.Fleet. In addition it returns fleet.ErrRefused for a token or a
// count out of range.
func (f *Fleet) Plan(ctx context.Context, s fleet.Spec) (fleet.Plan, error) {
	return call(ctx, f, "plan launch", func() (fleet.Plan, error) { return f.plan(s) })
}

func (f *Fleet) plan(s fleet.Spec) (fleet.Plan, error) {
	if err := checkLaunch(s.Token, s.Count); err != nil {
		return fleet.Plan{}, err
	}
	fits := slices.DeleteFunc(slices.Clone(f.opts.Types), func(t TypeInfo) bool {
		return t.CPU != s.CPU || t.Mem < s.Mem || t.burstable() || !glob.Any(s.AllowedTypes, t.Name)
	})
	if len(fits) == 0 {
		return fleet.Plan{}, fmt.Errorf("%d vCPU, at least %d MiB, types %s: %w; there are %s",
			s.CPU, s.Mem, strings.Join(s.AllowedTypes, " "), fleet.ErrUnsatisfiable, f.offered())
	}
	in := params{UsageClass: s.UsageClass, ResourceClass: s.ResourceClass}
	for _, t := range fits {
		for _, zone := range t.zones() {
			p := place{InstanceType: t.Name, CPU: t.CPU, Mem: t.Mem, Zone: zone}
			if !excluded(s.Excluded, p.slot(s.UsageClass)) {
				in.Places = append(in.Places, p)
			}
		}
	}
	if len(in.Places) == 0 {
		return fleet.Plan{}, fmt.Errorf("every place of %d types is excluded: %w", len(fits), fleet.ErrNoCapacity)
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return fleet.Plan{}, err
	}
	return fleet.Plan{Token: s.Token, Count: s.Count, TemplateVersion: *f.template.Load(), Params: raw}, nil
}

// offered lists for an error message what can be asked for.
func (f *Fleet) offered() string {
	var out []string
	for _, t := range f.opts.Types {
		if !t.burstable() {
			out = append(out, fmt.Sprintf("%s %d/%d", t.Name, t.CPU, t.Mem))
		}
	}
	return strings.Join(out, ", ")
}

func (p place) slot(usage string) fleet.Slot {
	return fleet.Slot{UsageClass: usage, InstanceType: p.InstanceType, Zone: p.Zone}
}

func excluded(patterns []fleet.Slot, s fleet.Slot) bool {
	return slices.ContainsFunc(patterns, func(p fleet.Slot) bool {
		return (p.UsageClass == "" || p.UsageClass == s.UsageClass) &&
			(p.InstanceType == "" || p.InstanceType == s.InstanceType) &&
			(p.Zone == "" || p.Zone == s.Zone)
	})
}

func checkLaunch(token string, count int) error {
	if token == "" || len(token) > maxToken {
		return fmt.Errorf("token must be 1 to %d characters, got %q: %w", maxToken, token, fleet.ErrRefused)
	}
	if count < 1 {
		return fmt.Errorf("count must be at least 1, got %d: %w", count, fleet.ErrRefused)
	}
	return nil
}

// decode checks a plan and returns its parameters and its canonical form, which distinguishes a repetition
// from another launch whatever a store did to the spacing of Params.
func decode(p fleet.Plan) (params, string, error) {
	if err := checkLaunch(p.Token, p.Count); err != nil {
		return params{}, "", err
	}
	var in params
	d := json.NewDecoder(bytes.NewReader(p.Params))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return params{}, "", fmt.Errorf("parameters: %w: %w", err, fleet.ErrRefused)
	}
	for _, pl := range in.Places {
		if pl.InstanceType == "" || pl.CPU < 1 || pl.Mem < 1 {
			return params{}, "", fmt.Errorf("parameters: place %+v: %w", pl, fleet.ErrRefused)
		}
	}
	if len(in.Places) == 0 {
		return params{}, "", fmt.Errorf("parameters: no place: %w", fleet.ErrRefused)
	}
	form, err := json.Marshal(p)
	if err != nil {
		return params{}, "", fmt.Errorf("parameters: %w: %w", err, fleet.ErrRefused)
	}
	return in, string(form), nil
}
