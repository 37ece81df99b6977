package ec2fleet

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/ec2form"
	"github.com/remuda-run/remuda/internal/machinelog"
)

// MaxUserData is the size of user data that EC2 takes, in bytes before base64 (EC2 User Guide, "Run
// commands at launch").
const MaxUserData = 16 << 10

// DefaultCreatedLimit is above any limit of the state created that is of use.
const DefaultCreatedLimit = 15 * time.Minute

// Options describe the machines. Clock and what has no default are required.
type Options struct {
	Subnets         []string // ids; of several in one zone the one with most free addresses is used
	SecurityGroups  []string // ids
	AMI             string   // id, or resolve:ssm:<parameter>
	InstanceProfile string   // name or ARN
	UserData        string   // as the machine gets it, at most MaxUserData bytes; may hold no secret

	Classes map[string]Class // what differs by resource class; the machines of any other are of the above
	Arch    string           // architecture of the AMI; "": any

	RoleID          string            // unique id of the profile's role; "": asked of IAM
	RootVolumeGiB   int32             // 0: as the AMI says
	RootDevice      string            // device of the root volume; "": as the AMI says
	PriceProtection int32             // percent above the cheapest matching type that is still taken; 0: any price
	Tags            map[string]string // of machines, volumes, fleets and the launch template, besides our own

	// CreatedLimit is for how long a launch may still be repeated: no version of the launch template
	// that was the default within it is deleted. 0: DefaultCreatedLimit.
	CreatedLimit time.Duration

	Mask machinelog.Patterns // hides text that the operator names in the consoles of machines

	Clock clock.PassiveClock
	Log   *slog.Logger // default: none
}

// complete fills in the defaults and returns everything that is wrong, joined.
func (o *Options) complete() error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.CreatedLimit == 0 {
		o.CreatedLimit = DefaultCreatedLimit
	}
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(o.Clock != nil, "option Clock is required")
	if o.baseUsed() {
		errs = append(errs, o.checkMachine())
	}
	if len(o.Classes) == 0 || len(o.Subnets) > 0 { // else each class has its own
		errs = append(errs, checkIDs("Subnets", o.Subnets, ec2form.Subnet))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Classes)) {
		own := o.of(o.Classes[name])
		var wrong []error
		if !o.sameTemplate(own) {
			wrong = append(wrong, own.checkMachine())
		}
		if len(o.Subnets) == 0 || !slices.Equal(own.Subnets, o.Subnets) {
			wrong = append(wrong, checkIDs("Subnets", own.Subnets, ec2form.Subnet))
		}
		if err := errors.Join(wrong...); err != nil {
			errs = append(errs, fmt.Errorf("class %s: %w", name, err))
		}
	}
	if len(o.Subnets) == 0 { // machines of other classes may be in any of them
		for _, class := range o.Classes {
			o.Subnets = append(o.Subnets, class.Subnets...)
		}
		slices.Sort(o.Subnets)
		o.Subnets = slices.Compact(o.Subnets)
	}
	check(o.RoleID == "" || ec2form.Role.Match(o.RoleID), "RoleID must be %s, got %q", ec2form.Role, o.RoleID)
	price := o.PriceProtection
	check(price >= 0 && price <= ec2form.PriceOff, "PriceProtection must be 0 to %d percent, got %d", ec2form.PriceOff, price)
	check(o.CreatedLimit >= 0, "CreatedLimit must not be negative, got %s", o.CreatedLimit)
	check(len(o.Tags) <= ec2form.MostTags, "option Tags must hold at most %d, got %d", ec2form.MostTags, len(o.Tags))
	for key, value := range o.Tags {
		check(ec2form.TagKey.Match(key), "option Tags: key must be %s, got %q", ec2form.TagKey, key)
		check(len(value) <= ec2form.MostTagValue, "option Tags: value of %q must be at most %d bytes, got %d", key, ec2form.MostTagValue, len(value))
	}
	return errors.Join(errs...)
}

// checkMachine returns everything that is wrong with what a launch template says.
func (o Options) checkMachine() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	errs = append(errs, checkIDs("SecurityGroups", o.SecurityGroups, ec2form.SecurityGroup))
	check(ec2form.Image.Match(o.AMI), "AMI must be %s, got %q", ec2form.Image, o.AMI)
	check(ec2form.InstanceProfile.Match(o.InstanceProfile), "InstanceProfile must be %s, got %q", ec2form.InstanceProfile, o.InstanceProfile)
	check(len(o.UserData) <= MaxUserData, "UserData must be at most %d bytes, got %d: let it fetch the rest", MaxUserData, len(o.UserData))
	gib := o.RootVolumeGiB
	check(gib >= 0 && gib <= ec2form.MostGiB, "RootVolumeGiB must be 0 to %d, got %d", ec2form.MostGiB, gib)
	return errors.Join(errs...)
}

// checkIDs returns everything that is wrong with a list of ids.
func checkIDs(field string, ids []string, form ec2form.Form) error {
	if len(ids) == 0 {
		return fmt.Errorf("%s must name at least one id", field)
	}
	var errs []error
	for i, id := range ids {
		if !form.Match(id) || slices.Contains(ids[:i], id) {
			errs = append(errs, fmt.Errorf("%s must hold different ids, each %s, got %q", field, form, id))
		}
	}
	return errors.Join(errs...)
}

// profileName is the name of the instance profile without the rest of its ARN.
func (o *Options) profileName() string {
	return o.InstanceProfile[strings.LastIndexByte(o.InstanceProfile, '/')+1:]
}
