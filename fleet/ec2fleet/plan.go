package ec2fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/ec2form"
	"github.com/remuda-run/remuda/internal/glob"
)

// Bounds of a call.
const (
	maxToken   = 64  // characters of ASCII (EC2 API, "Ensuring idempotency")
	maxPlaces  = 4   // InstanceRequirements of one CreateFleet: see the package comment
	maxAllowed = 400 // AllowedInstanceTypes (EC2 API, InstanceRequirementsRequest)
)

// Plan keeps the contract of fleet.Fleet. In addition it returns fleet.ErrRefused for a spec out of
// range and for whatever keeps it from reading the launch template, the subnets or the types.
func (f *Fleet) Plan(ctx context.Context, s fleet.Spec) (fleet.Plan, error) {
	return within(ctx, f, "plan launch", func(ctx context.Context) (fleet.Plan, error) { return f.plan(ctx, s) })
}

func (f *Fleet) plan(ctx context.Context, s fleet.Spec) (fleet.Plan, error) {
	if err := checkSpec(s); err != nil {
		return fleet.Plan{}, err
	}
	if err := f.busy(); err != nil {
		return fleet.Plan{}, err
	}
	k := f.kindOf(s.ResourceClass)
	t, err := k.templates.present(ctx)
	if err != nil {
		return fleet.Plan{}, err
	}
	fits, usual, err := k.fits(ctx, s, t)
	if err != nil {
		return fleet.Plan{}, err
	}
	places, err := k.catalog.places(ctx)
	if err != nil {
		return fleet.Plan{}, err
	}
	has, err := k.catalog.offered(ctx, places)
	if err != nil {
		return fleet.Plan{}, err
	}
	fits = slices.DeleteFunc(fits, func(name string) bool { return !has.anywhere(name) })
	if len(fits) == 0 {
		return fleet.Plan{}, fmt.Errorf("no matching type is offered in the subnets' zones: %w", fleet.ErrUnsatisfiable)
	}
	choice, err := choose(s, fits, places, has)
	if err != nil {
		return fleet.Plan{}, err
	}
	in := params{
		Form: form, Name: f.name, Template: t.id, Version: t.version,
		UsageClass: s.UsageClass, ResourceClass: s.ResourceClass, CPU: s.CPU, Mem: s.Mem,
		Allowed: choice.allowed(s, fits, usual), Usual: usual, PriceProtection: cmp.Or(f.opts.PriceProtection, ec2form.PriceOff),
		Places: choice.places, Tags: f.opts.Tags, Burstable: k.class.Burstable,
	}
	if k.class.GPU.Count > 0 {
		in.GPU = &k.class.GPU
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return fleet.Plan{}, err
	}
	return fleet.Plan{Token: s.Token, Count: s.Count, TemplateVersion: t.name(), Params: raw}, nil
}

func checkSpec(s fleet.Spec) error {
	if err := checkLaunch(s.Token, s.Count); err != nil {
		return err
	}
	if s.UsageClass != spot && s.UsageClass != onDemand {
		return fmt.Errorf("usage class must be spot or on-demand, got %q: %w", s.UsageClass, fleet.ErrRefused)
	}
	if s.CPU < 1 || s.Mem < 1 || s.CPU > math.MaxInt32 || s.Mem > math.MaxInt32 {
		return fmt.Errorf("CPU and Mem must be at least 1, got %d and %d: %w", s.CPU, s.Mem, fleet.ErrRefused)
	}
	if len(s.ResourceClass) > 256 { // a tag's value
		return fmt.Errorf("resource class must be at most 256 bytes, got %d: %w", len(s.ResourceClass), fleet.ErrRefused)
	}
	return nil
}

func checkLaunch(token string, count int) error {
	ascii := !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
	if token == "" || len(token) > maxToken || !ascii {
		return fmt.Errorf("token must be 1 to %d characters of ASCII, got %q: %w", maxToken, token, fleet.ErrRefused)
	}
	if count < 1 || count > math.MaxInt32 {
		return fmt.Errorf("count must be at least 1, got %d: %w", count, fleet.ErrRefused)
	}
	return nil
}

// fits returns the names of the types that satisfy s on the template's image, sorted, and whether the patterns of s say
// the same to EC2: nothing that they match must be named, or is excluded.
func (k *kind) fits(ctx context.Context, s fleet.Spec, t template) (names []string, usual bool, err error) {
	arch, err := k.templates.architecture(ctx, t)
	if err != nil {
		return nil, false, err
	}
	if want := k.class.Arch; want != "" && string(arch) != want {
		return nil, false, fmt.Errorf("%s has an image for %s, and class %s is of %s: housekeeping is about to change it", k.templates.templateResource(), arch, s.ResourceClass, want)
	}
	infos, err := k.catalog.typesOf(ctx, s.CPU)
	if err != nil {
		return nil, false, err
	}
	usual = k.class.GPU.Count == 0 && len(k.class.Exclude) == 0
	for _, info := range infos {
		if info.mem >= s.Mem && slices.Contains(info.archs, arch) &&
			slices.Contains(info.usages, types.UsageClassType(s.UsageClass)) && k.class.takes(info, s.AllowedTypes) {
			names, usual = append(names, info.name), usual && info.usual()
		}
	}
	slices.Sort(names)
	if len(names) == 0 {
		return nil, false, fmt.Errorf("none of EC2's %d types with %d vCPU has %d MiB, is %s, %s, among %q%s (those with accelerators and of previous generations must be named): %w",
			len(infos), s.CPU, s.Mem, arch, s.UsageClass, s.AllowedTypes, k.class.words(), fleet.ErrUnsatisfiable)
	}
	return names, usual, nil
}

// group is zones in which the same types are excluded.
type group struct {
	without []string // types, sorted
	places  []place
	slots   int // pairs of zone and type left
}

// choose takes the zones of one launch. Different requirements in one call are refused if they
// overlap, so zones that lack different types cannot share it: the group with most to choose from is
// taken, and as refusals add exclusions the others get their turn. Of more than maxPlaces zones, each
// token draws its own.
func choose(s fleet.Spec, fits []string, places []place, has offers) (group, error) {
	groups := make(map[string]*group)
	for _, pl := range places {
		var without []string
		left := 0
		for _, name := range fits {
			switch {
			case !has[pl.Zone][name]:
				continue
			case excluded(s.Excluded, fleet.Slot{UsageClass: s.UsageClass, InstanceType: name, Zone: pl.Zone, ResourceClass: s.ResourceClass}):
				without = append(without, name)
			default:
				left++
			}
		}
		if left == 0 {
			continue
		}
		key := strings.Join(without, " ")
		if groups[key] == nil {
			groups[key] = &group{without: without}
		}
		groups[key].places = append(groups[key].places, pl)
		groups[key].slots += left
	}
	var best *group
	for _, g := range groups {
		if best == nil || cmp.Or(cmp.Compare(g.slots, best.slots), slices.Compare(best.without, g.without)) > 0 {
			best = g
		}
	}
	if best == nil {
		return group{}, fmt.Errorf("every place of %d matching types is excluded: %w", len(fits), fleet.ErrNoCapacity)
	}
	best.draw(s.Token)
	return *best, nil
}

// draw leaves at most maxPlaces zones, at random but always the same for one token.
func (g *group) draw(token string) {
	if len(g.places) <= maxPlaces {
		return
	}
	weight := func(pl place) uint64 {
		h := fnv.New64a()
		h.Write([]byte(token + " " + pl.Zone)) // never fails
		return h.Sum64()
	}
	slices.SortFunc(g.places, func(a, b place) int { return cmp.Compare(weight(a), weight(b)) })
	g.places = g.places[:maxPlaces]
	slices.SortFunc(g.places, func(a, b place) int { return cmp.Compare(a.Zone, b.Zone) })
}

// allowed returns the patterns that match anything, in lower case, or where types are excluded, or some
// were meant by name, the names of those left: EC2 takes a list of what is allowed or of what is not, never both.
func (g group) allowed(s fleet.Spec, fits []string, usual bool) []string {
	if len(g.without) > 0 || !usual {
		left := slices.DeleteFunc(slices.Clone(fits), func(name string) bool { return slices.Contains(g.without, name) })
		return left[:min(len(left), maxAllowed)] // EC2 has some 150 types of one size
	}
	var out []string
	for _, pattern := range s.AllowedTypes {
		pattern = strings.ToLower(pattern)
		matches := slices.ContainsFunc(fits, func(name string) bool { return glob.Match(pattern, name) })
		if matches && !slices.Contains(out, pattern) {
			out = append(out, pattern)
		}
	}
	return out
}

func excluded(patterns []fleet.Slot, s fleet.Slot) bool {
	return slices.ContainsFunc(patterns, func(p fleet.Slot) bool {
		return (p.UsageClass == "" || p.UsageClass == s.UsageClass) &&
			(p.InstanceType == "" || p.InstanceType == s.InstanceType || p.InstanceType == quotaMark+quotaOf(s.InstanceType)) &&
			(p.Zone == "" || p.Zone == s.Zone) &&
			(p.ResourceClass == "" || p.ResourceClass == s.ResourceClass)
	})
}
