package ec2fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/glob"
	"github.com/remuda-run/remuda/internal/logkey"
)

// A quota of vCPUs is one of a usage class and of some families: all standard ones share one, accelerated
// ones have their own, often of 0 (EC2 User Guide, "On-Demand Instance quotas", "Spot Instance quotas").
// So a type for which there is none must not keep the others of the usage class from being launched.

// quotaMark begins the name of all types of a quota in a slot's InstanceType, such as quota:standard.
const quotaMark = "quota:"

const standardFamilies = "acdhimrtz"

// quotaOf returns the quota that a type counts towards.
func quotaOf(name string) string {
	family := name[:len(name)-len(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"))]
	switch family {
	case "dl", "hpc", "inf", "mac", "trn":
		return family
	case "g", "gr", "vt":
		return "g"
	}
	if family != "" && strings.ContainsRune(standardFamilies, rune(family[0])) { // im and is count as i
		return "standard"
	}
	return family
}

// quotaOfAll returns the quota that all types of a launch count towards, "" if there are several, or if the
// types are not known, as after a restart.
func (f *Fleet) quotaOfAll(in params) string {
	quota := ""
	for _, t := range f.rest.catalog.types.ofCPU(in.CPU).peek() {
		if t.bare || t.burstable && !in.Burstable || t.mem < in.Mem || !glob.Any(in.Allowed, t.name) {
			continue
		}
		if of := quotaOf(t.name); quota == "" || quota == of {
			quota = of
		} else {
			return ""
		}
	}
	return quota
}

// busyPause is for how long nothing is planned after EC2 wanted fewer calls within the answer to a launch.
const busyPause = 5 * time.Second

// unthrottled returns the errors of an answer without those that only say that there were too many calls. No
// place is bad for these, so none is excluded; and the launch is over, since its token would get the same
// answer again. So the next plan waits instead.
func (f *Fleet) unthrottled(errs []types.CreateFleetError) []types.CreateFleetError {
	left := slices.DeleteFunc(slices.Clone(errs), func(e types.CreateFleetError) bool {
		return awserr.ClassOf(apiError(e)) == awserr.Throttled
	})
	if len(left) < len(errs) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.busyUntil = f.clock.Now().Add(busyPause)
		f.log.Warn("EC2 throttles launches: one brought fewer machines than asked for", logkey.Count, len(errs)-len(left))
	}
	return left
}

// busy returns an error while EC2 is left alone.
func (f *Fleet) busy() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if left := f.busyUntil.Sub(f.clock.Now()); left > 0 {
		return fmt.Errorf("%w: EC2 throttled the last launch: next one in %s", fleet.ErrThrottled, left.Round(time.Second))
	}
	return nil
}
