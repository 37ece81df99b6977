package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/remuda-run/remuda/internal/ec2form"
)

// mostGiB is the size of the largest gp3 volume (EBS User Guide, "General Purpose SSD volumes").
const mostGiB = 16 << 10

// validate checks what is given. What is missing only who opens the fleet can tell: clients need none of it.
func (c EC2) validate(p *problems) {
	for _, arch := range slices.Sorted(maps.Keys(c.AMI)) {
		p.id(archField("ec2.ami", arch), c.AMI[arch], ec2form.Image)
	}
	p.site("ec2", c.Subnets, c.SecurityGroups, c.InstanceProfile)
	p.id("ec2.roleId", c.RoleID, ec2form.Role)
	p.rootVolume("ec2.rootVolume", c.RootVolume)
	p.download("ec2.binaryUrl", c.BinaryURL, "ec2.binarySha256", c.BinarySHA256)
}

// site checks what machines are put into, of section ec2 or of a class.
func (p *problems) site(field string, subnets, groups []string, profile string) {
	p.ids(field+".subnets", subnets, ec2form.Subnet)
	p.ids(field+".securityGroups", groups, ec2form.SecurityGroup)
	p.id(field+".instanceProfile", profile, ec2form.InstanceProfile)
}

// id checks one that may be left out.
func (p *problems) id(field, id string, form ec2form.Form) {
	p.check(id == "" || form.Match(id), field, form.String(), id)
}

func (p *problems) ids(field string, ids []string, form ec2form.Form) {
	for i, id := range ids {
		at := fmt.Sprintf("%s[%d]", field, i)
		p.check(form.Match(id), at, form.String(), id)
		p.check(!slices.Contains(ids[:i], id), at, "named once", id)
	}
}

func (p *problems) rootVolume(field string, gib int) {
	p.check(gib >= 0 && gib <= mostGiB, field, fmt.Sprintf("0 to %d", mostGiB), gib)
}

// download checks where machines fetch something, and its checksums.
func (p *problems) download(field string, urls PerArch, sumField string, sums PerArch) {
	for _, arch := range slices.Sorted(maps.Keys(urls)) {
		p.archive(archField(field, arch), urls[arch])
		p.check(sumForm.MatchString(sums.For(arch)), archField(sumField, arch), "64 hexadecimal digits, since "+field+" is set", sums.For(arch))
	}
	for _, arch := range slices.Sorted(maps.Keys(sums)) {
		p.check(urls.For(arch) != "" || arch == "" && urls != nil, archField(sumField, arch), "empty unless "+field+" is set", sums[arch])
	}
}
