package ec2fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/glob"
)

// Class is what the machines of a resource class are made of: all of it, nothing is taken from the options besides.
type Class struct {
	Arch            string // as EC2 says it
	CPU             int    // vCPUs of one instance, for Diagnose; 0: unknown
	AMI             string
	UserData        string
	RootVolumeGiB   int32
	Subnets         []string
	SecurityGroups  []string
	InstanceProfile string

	GPU       GPU
	Burstable bool     // types of burstable performance, too
	Exclude   []string // patterns of types that it never has
}

// GPU is what a class demands of GPUs; without a count nothing.
type GPU struct {
	Count        int    `json:"count"`                  // exactly
	Manufacturer string `json:"manufacturer,omitempty"` // in lower case; "": any
	Mem          int    `json:"mem,omitempty"`          // MiB of all, at least
}

// of returns the options with what c says in place of their own.
func (o Options) of(c Class) Options {
	if c.InstanceProfile != o.InstanceProfile {
		o.RoleID = "" // of the other profile
	}
	o.Arch, o.AMI, o.UserData, o.RootVolumeGiB = c.Arch, c.AMI, c.UserData, c.RootVolumeGiB
	o.Subnets, o.SecurityGroups, o.InstanceProfile, o.Classes = c.Subnets, c.SecurityGroups, c.InstanceProfile, nil
	return o
}

// sameTemplate reports whether nothing that a launch template says differs.
func (o Options) sameTemplate(b Options) bool {
	return o.Arch == b.Arch && o.AMI == b.AMI && o.UserData == b.UserData && o.RootVolumeGiB == b.RootVolumeGiB &&
		o.InstanceProfile == b.InstanceProfile && slices.Equal(o.SecurityGroups, b.SecurityGroups)
}

// baseUsed reports whether any machine is made of the options' own parts.
func (o Options) baseUsed() bool {
	for _, c := range o.Classes {
		if o.sameTemplate(o.of(c)) {
			return true
		}
	}
	return len(o.Classes) == 0
}

// kind is all that launches of a class go by. Classes share what does not differ.
type kind struct {
	class     Class
	catalog   *catalog
	lister    *lister
	templates *templates
}

// newKinds returns the kind of each class, and that of any other.
func newKinds(base *client) (*kind, map[string]*kind) {
	known := &typeCache{byCPU: map[int]*cached[[]typeInfo]{}, byName: map[string]typeInfo{}}
	byClass := map[string]*kind{}
	catalogs, listers := map[string]*catalog{}, map[string]*lister{}
	seen := newOwn()
	with := func(c *client, suffix string, class Class) *kind {
		opts := c.opts
		subnets, profile := strings.Join(opts.Subnets, " "), opts.InstanceProfile
		if catalogs[subnets] == nil {
			catalogs[subnets] = &catalog{client: c, types: known}
		}
		if listers[profile] == nil {
			listers[profile] = &lister{client: c, catalog: catalogs[subnets], own: seen, byClass: byClass}
		}
		k := &kind{class: class, catalog: catalogs[subnets], lister: listers[profile]}
		k.templates = &templates{client: c, suffix: suffix, catalog: k.catalog, lister: k.lister, switchedAt: c.clock.Now()}
		return k
	}
	o := base.opts
	rest := with(base, "", Class{Arch: o.Arch})
	for name, class := range o.Classes {
		own := *base
		own.opts = o.of(class)
		k := with(&own, "-"+name, class)
		if o.sameTemplate(own.opts) {
			k.templates = rest.templates
		}
		byClass[name] = k
	}
	return rest, byClass
}

// kindOf returns what launches of a class go by.
func (f *Fleet) kindOf(class string) *kind {
	if k := f.kinds[class]; k != nil {
		return k
	}
	return f.rest
}

// used returns the kinds that machines are launched of, by class.
func (f *Fleet) used() []*kind {
	if len(f.kinds) == 0 {
		return []*kind{f.rest}
	}
	var out []*kind
	for _, name := range slices.Sorted(maps.Keys(f.kinds)) {
		out = append(out, f.kinds[name])
	}
	return out
}

// distinct returns one of the kinds for each key.
func distinct[K comparable](kinds []*kind, key func(*kind) K) []*kind {
	seen := map[K]bool{}
	return slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool {
		was := seen[key(k)]
		seen[key(k)] = true
		return was
	})
}

// Templates returns by class the id of the launch template and its default version as they are now at EC2, in one
// string. The id is part of it because numbers begin anew when someone deletes the template. While EC2 does not answer,
// it is what was seen last. The version of a template that was never there is one that no machine has: those of the
// class were launched from another, with an image that may be of another architecture.
func (f *Fleet) Templates(ctx context.Context, classes ...string) (map[string]string, error) {
	return within(ctx, f, "read templates", func(ctx context.Context) (map[string]string, error) {
		out, read := map[string]string{}, map[*templates]error{}
		var errs []error
		for _, class := range classes {
			ts := f.kindOf(class).templates
			if _, done := read[ts]; !done {
				ts.template.expire()
				_, read[ts] = ts.present(ctx)
				errs = append(errs, read[ts])
			}
			switch t := ts.template.peek(); {
			case read[ts] == nil:
				out[class] = t.name()
			case awserr.ClassOf(read[ts]) == awserr.NotFound && t.id == "" && ts.suffix != "":
				out[class] = ts.templateName()
			}
		}
		return out, errors.Join(errs...)
	})
}

// checkArch refuses an image of another architecture than the class has.
func (ts *templates) checkArch(image types.Image) error {
	if image.Architecture == "" {
		return fmt.Errorf("AMI %s of %s has no architecture: register it with one, or name another image: %w", ts.opts.AMI, ts.templateResource(), fleet.ErrRefused)
	}
	if want := ts.opts.Arch; want != "" && string(image.Architecture) != want {
		return fmt.Errorf("AMI %s of %s is for %s, and its classes are of %s: name an image of that architecture: %w",
			ts.opts.AMI, ts.templateResource(), image.Architecture, want, fleet.ErrRefused)
	}
	return nil
}

// takes reports whether the class, not its size, lets machines be of a type that patterns allow.
func (c Class) takes(t typeInfo, patterns []string) bool {
	if t.bare || t.burstable && !c.Burstable || glob.Any(c.Exclude, t.name) {
		return false
	}
	if g := c.GPU; g.Count > 0 {
		return t.gpus == g.Count && t.gpuMem >= g.Mem && (g.Manufacturer == "" || g.Manufacturer == t.gpuMaker) && t.named(patterns, true)
	}
	return t.named(patterns, false)
}

// named reports whether patterns ask for the type, of a class that asks for GPUs or not.
func (t typeInfo) named(patterns []string, gpus bool) bool {
	t.accelerated = t.accelerated && !gpus
	return t.meant(patterns)
}

// words say what a class demands besides its size.
func (c Class) words() string {
	var out string
	if !c.Burstable {
		out = ", not burstable"
	}
	if c.GPU.Count > 0 {
		out += fmt.Sprintf(", with %d GPUs %s of %d MiB", c.GPU.Count, c.GPU.Manufacturer, c.GPU.Mem)
	}
	if len(c.Exclude) > 0 {
		out += fmt.Sprintf(", none of %q", c.Exclude)
	}
	return out
}
