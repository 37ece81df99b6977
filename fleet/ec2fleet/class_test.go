package ec2fleet

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/ensure"
)

// armImage is an image for arm64.
const armImage = "ami-0000a64a"

// classed are options of a class small as the options say, and one arm that differs in all.
func classed(s *ec2test.Server) Options {
	s.SetImageFor(armImage, "arm64")
	s.SetGroup("sg-0000a64a", ec2test.VPC)
	s.SetProfile("arm", "AROAARMARMARMARMARM1")
	o := options(s)
	o.Arch = "x86_64"
	small := Class{
		Arch: "x86_64", AMI: o.AMI, UserData: o.UserData, RootVolumeGiB: o.RootVolumeGiB,
		Subnets: o.Subnets, SecurityGroups: o.SecurityGroups, InstanceProfile: o.InstanceProfile,
	}
	o.Classes = map[string]Class{"small": small, "arm": {
		Arch: "arm64", AMI: armImage, UserData: "#!/bin/sh\necho arm\n", RootVolumeGiB: 80,
		Subnets: s.Subnets()[:1], SecurityGroups: []string{"sg-0000a64a"}, InstanceProfile: "arm",
	}}
	return o
}

// with is classed with one class changed.
func with(name string, change func(*Class)) func(*ec2test.Server) Options {
	return func(s *ec2test.Server) Options {
		o := classed(s)
		c := o.Classes[name]
		change(&c)
		o.Classes[name] = c
		return o
	}
}

func openedWith(t *testing.T, make func(*ec2test.Server) Options) (*ec2test.Server, *Fleet) {
	t.Helper()
	s := ec2test.New(t)
	f := opened(t, s.URL, "test", make(s))
	if _, err := f.Ensure(t.Context(), true); err != nil {
		t.Fatalf("Ensure error = %v", err)
	}
	return s, f
}

func ofClass(class, token string) fleet.Spec {
	sp := spec(token, 1)
	sp.ResourceClass = class
	return sp
}

// Two architectures in one installation: each class has its own launch template, image, type, subnet and role.
func TestClasses_OfTwoArchitectures(t *testing.T) {
	_, f := openedWith(t, classed)
	versions, err := f.Templates(t.Context(), "small", "arm")
	if err != nil || versions["small"] == versions["arm"] {
		t.Fatalf("Templates = %v, %v, want one each", versions, err)
	}
	for class, want := range map[string]struct{ typ, role string }{"small": {"c6i.large", ec2test.RoleID}, "arm": {"c7g.large", "AROAARMARMARMARMARM1"}} {
		m := launched(t, f, ofClass(class, "l-"+class)).Machines[0]
		if m.InstanceType != want.typ || m.TemplateVersion != versions[class] || m.Principal != want.role+":"+m.ID || m.ResourceClass != class {
			t.Errorf("%s: launched %+v, want %v of %s", class, m, want, versions[class])
		}
		listed, err := f.List(t.Context(), "l-"+class)
		if err != nil || len(listed) != 1 || listed[0].Principal != m.Principal {
			t.Errorf("%s: listed %+v, %v, want principal %s", class, listed, err, m.Principal)
		}
	}
	if p := frozen(t, planned(t, f, ofClass("arm", "l-3"))); len(p.Places) != 1 {
		t.Errorf("places = %v, want the one subnet of the class", p.Places)
	}
}

// Another image of one class is a new version of its template alone; a template that nobody needs is not made.
func TestClasses_TemplatesAreTheirOwn_H56(t *testing.T) {
	s, f := openedWith(t, classed)
	before, err := f.Templates(t.Context(), "small", "arm")
	if err != nil {
		t.Fatal(err)
	}
	s.SetImageFor("ami-0000a64b", "arm64")
	next := opened(t, s.URL, "test", with("arm", func(c *Class) { c.AMI = "ami-0000a64b" })(s))
	steps, err := next.Ensure(t.Context(), true)
	if err != nil || len(steps) != 2 || steps[0].Action != ensure.Updated || steps[0].Resource != "launch template test-machine-arm" || steps[1].Action != ensure.Unchanged {
		t.Errorf("Ensure = %v, %v, want that of arm updated and the other unchanged", steps, err)
	}
	after, err := next.Templates(t.Context(), "small", "arm")
	if err != nil || after["small"] != before["small"] || after["arm"] == before["arm"] {
		t.Errorf("Templates = %v, %v, were %v: want another of arm alone", after, err, before)
	}
	_, alone := openedWith(t, func(s *ec2test.Server) Options {
		o := classed(s)
		delete(o.Classes, "small")
		o.AMI = "" // there is none for the others
		return o
	})
	if steps, err := alone.Ensure(t.Context(), false); err != nil || len(steps) != 1 {
		t.Errorf("Ensure = %v, %v, want one template", steps, err)
	}
}

// A class that gets a template of its own has no machine of it yet: those that it has are of another version, and go.
func TestClasses_NewTemplateHasNoMachines_H56(t *testing.T) {
	s := ec2test.New(t)
	f := opened(t, s.URL, "fresh", classed(s))
	versions, err := f.Templates(t.Context(), "small", "arm")
	if err == nil || versions["arm"] != "fresh-machine-arm" || versions["small"] != "" {
		t.Errorf("Templates = %v, %v, want a version that no machine has, and an error", versions, err)
	}
}

// What a class asks of types reaches EC2, which launches just that.
func TestClasses_GPUsBurstableAndExclusions_S70(t *testing.T) {
	gpu := func(name string, count, mem int, maker string) ec2test.Type {
		return ec2test.Type{Name: name, CPU: 2, Mem: 8192, Arch: "x86_64", GPU: true, GPUs: ec2test.GPUs{Count: count, Maker: maker, Mem: mem}}
	}
	all := []ec2test.Type{
		{Name: "t3.large", CPU: 2, Mem: 4096, Arch: "x86_64", Burstable: true},
		{Name: "c5a.large", CPU: 2, Mem: 5000, Arch: "x86_64"}, {Name: "m5.large", CPU: 2, Mem: 8192, Arch: "x86_64"}, {Name: "r5.metal", CPU: 2, Mem: 4096, Arch: "x86_64", BareMetal: true},
		gpu("g4ad.large", 1, 8192, "AMD"), gpu("g4dn.large", 1, 16384, "NVIDIA"), gpu("g5.large", 2, 49152, "NVIDIA"),
	}
	for name, tt := range map[string]struct {
		change  func(*Class)
		allowed []string // by the request
		want    string   // launched; "": none matches
	}{
		"Nothing":         {func(*Class) {}, []string{"*"}, "c5a.large"},
		"Burstable":       {func(c *Class) { c.Burstable = true }, []string{"*"}, "t3.large"},
		"Excluded":        {func(c *Class) { c.Exclude = []string{"c5A.*"} }, []string{"*"}, "m5.large"},
		"AllExcluded":     {func(c *Class) { c.Exclude = []string{"c*", "m*"} }, []string{"*"}, ""},
		"ExcludedByName":  {func(c *Class) { c.Exclude = []string{"c5a.large"} }, []string{"c5a.large"}, ""},
		"GPU":             {func(c *Class) { c.GPU.Count = 1 }, []string{"*"}, "g4ad.large"},
		"GPUByMaker":      {func(c *Class) { c.GPU = GPU{Count: 1, Manufacturer: "nvidia"} }, []string{"*"}, "g4dn.large"},
		"GPUByMemory":     {func(c *Class) { c.GPU = GPU{Count: 1, Mem: 10000} }, []string{"*"}, "g4dn.large"},
		"TwoGPUs":         {func(c *Class) { c.GPU.Count = 2 }, []string{"*"}, "g5.large"},
		"ThreeGPUs":       {func(c *Class) { c.GPU.Count = 3 }, []string{"*"}, ""},
		"GPUNotAllowed":   {func(c *Class) { c.GPU.Count = 1 }, []string{"m*"}, ""},
		"GPUOfAnother":    {func(c *Class) { c.GPU = GPU{Count: 2, Manufacturer: "amd"} }, []string{"*"}, ""},
		"GPUWithout":      {func(c *Class) { c.GPU.Count, c.Exclude = 1, []string{"g4ad.*"} }, []string{"g*"}, "g4dn.large"},
		"NoGPUButByName":  {func(*Class) {}, []string{"g4dn.*"}, "g4dn.large"},
		"BurstableByName": {func(*Class) {}, []string{"t3.*"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, f := openedWith(t, with("small", tt.change))
			s.SetTypes(all...)
			sp := ofClass("small", "l-1")
			sp.AllowedTypes = tt.allowed
			if tt.want == "" {
				if _, err := f.Plan(t.Context(), sp); !errors.Is(err, fleet.ErrUnsatisfiable) {
					t.Errorf("Plan error = %v, want %v", err, fleet.ErrUnsatisfiable)
				}
				return
			}
			if got := launched(t, f, sp).Machines[0].InstanceType; got != tt.want {
				t.Errorf("launched %s, want %s", got, tt.want)
			}
		})
	}
}

// What a class names and EC2 does not have, or has otherwise, is found before anything is made.
func TestClasses_WrongParts(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Class)
		want   string
	}{
		"ImageGone":    {func(c *Class) { c.AMI = "ami-0000dead" }, "AMI ami-0000dead"},
		"ImageForX86":  {func(c *Class) { c.AMI = ec2test.AMI }, "AMI " + ec2test.AMI + " of launch template test-machine-arm is for x86_64, and its classes are of arm64"},
		"SubnetsGone":  {func(c *Class) { c.Subnets = []string{"subnet-0000dead"} }, "subnets subnet-0000dead"},
		"GroupGone":    {func(c *Class) { c.SecurityGroups = []string{"sg-0000dead"} }, "security groups sg-0000dead"},
		"ProfileGone":  {func(c *Class) { c.InstanceProfile = "gone" }, "instance profile gone"},
		"AMI":          {func(c *Class) { c.AMI = "" }, `class arm: AMI must be an id such as ami-0123456789abcdef0, or resolve:ssm: and the name of a parameter, got ""`},
		"Subnet":       {func(c *Class) { c.Subnets = []string{"eu-west-1a"} }, `class arm: Subnets must hold different ids, each an id such as subnet-0123456789abcdef0, got "eu-west-1a"`},
		"NoSubnet":     {func(c *Class) { c.Subnets = nil }, "class arm: Subnets must name at least one id"},
		"Group":        {func(c *Class) { c.SecurityGroups = []string{"default"} }, `class arm: SecurityGroups must hold different ids, each an id such as sg-0123456789abcdef0, got "default"`},
		"Profile":      {func(c *Class) { c.InstanceProfile = "a b" }, `class arm: InstanceProfile must be the name or the ARN of an instance profile, got "a b"`},
		"RootVolume":   {func(c *Class) { c.RootVolumeGiB = -1 }, "class arm: RootVolumeGiB must be 0 to 16384, got -1"},
		"UserDataLong": {func(c *Class) { c.UserData = strings.Repeat("x", MaxUserData+1) }, "class arm: UserData must be at most"},
	} {
		t.Run(name, func(t *testing.T) {
			s := ec2test.New(t)
			f, err := Open(t.Context(), fleetURL("test"), config(t, s.URL), with("arm", tt.change)(s))
			if err == nil {
				_, err = f.Ensure(t.Context(), true)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || writes(s) != 0 {
				t.Errorf("error = %v with %d writes, want %q before any", err, writes(s), tt.want)
			}
		})
	}
}

// A class whose template is that of all others has subnets of its own, which are looked at as well.
func TestClasses_WrongSubnetsAlone(t *testing.T) {
	const want = "class small: Subnets must hold different ids, each an id such as subnet-0123456789abcdef0, got "
	for got, subnets := range map[string][]string{`"foo"`: {"foo"}, `"subnet-00000001"`: {"subnet-00000001", "subnet-00000001"}} {
		s := ec2test.New(t)
		_, err := Open(t.Context(), fleetURL("test"), config(t, s.URL), with("small", func(c *Class) { c.Subnets = subnets })(s))
		if err == nil || !strings.Contains(err.Error(), want+got) {
			t.Errorf("Open = %v, want %s%s", err, want, got)
		}
	}
}

// Where each class says its subnets, the others' are not needed: machines of a class of which nothing is known may be in any.
func TestClasses_SubnetsOfTheirOwn(t *testing.T) {
	s, f := openedWith(t, func(s *ec2test.Server) Options {
		o := with("small", func(*Class) {})(s)
		o.Subnets = nil
		return o
	})
	for _, class := range []string{"small", "unknown"} {
		launched(t, f, ofClass(class, "l-"+class))
	}
	if n := len(s.Alive()); n != 2 {
		t.Errorf("%d machines, want 2", n)
	}
}

// EC2 takes allowed or excluded types, never both; only allowed ones are sent.
func TestClasses_OnlyAllowedTypesAreSent_S71(t *testing.T) {
	_, f := openedWith(t, with("small", func(c *Class) { c.Exclude = []string{"m5.*"} }))
	in := frozen(t, planned(t, f, ofClass("small", "l-1")))
	r := in.requirements()
	if !slices.Equal(r.AllowedInstanceTypes, []string{"c6i.large", "r6i.large"}) || r.ExcludedInstanceTypes != nil {
		t.Errorf("allowed %q, excluded %q, want the types left alone", r.AllowedInstanceTypes, r.ExcludedInstanceTypes)
	}
}
