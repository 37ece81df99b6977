package reconciler

import (
	"context"
	"errors"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/store"
)

// planner plans launches around what was refused lately.
type planner struct {
	cache   *cache
	fleet   fleet.Fleet
	refused *exclusions
}

// errOverBudget means that the month's budget has usage classes off, and no other could be planned.
var errOverBudget = errors.New("on-demand instances are off: the month's budget is used so far")

// plan tries the usage classes in the order of preference, but for those that are off.
func (pl *planner) plan(ctx context.Context, wants []want) (fleet.Plan, string, error) {
	q := wants[0].query
	excluded, _ := pl.refused.slots()
	count := 0
	for _, w := range wants {
		count += w.count
	}
	var errs, full []error
	for _, usage := range q.UsageClasses {
		if usage == store.OnDemand && pl.cache.budget.off().onDemand {
			errs = append(errs, errOverBudget)
			continue
		}
		p, err := pl.fleet.Plan(ctx, fleet.Spec{
			Token: newLaunchToken(), Count: count, ResourceClass: q.ResourceClass, UsageClass: usage,
			CPU: q.CPU, Mem: q.Mem, AllowedTypes: q.AllowedTypes, Excluded: excluded,
		})
		if err == nil {
			pl.cache.templateIs(q.ResourceClass, p.TemplateVersion) // its machines may be idle before the next look
			return p, usage, nil
		}
		errs = append(errs, err)
		if errors.Is(err, fleet.ErrNoCapacity) {
			full = append(full, err)
		}
	}
	if len(full) > 0 {
		errs = full // one of the usage classes may have room later: not unsatisfiable
	}
	return fleet.Plan{}, "", errors.Join(errs...)
}
