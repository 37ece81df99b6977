package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/remuda-run/remuda/internal/ec2form"
)

// validate checks what is given. What is missing only who opens the fleet can tell: clients need none of it.
func (c EC2) validate(p *problems) {
	for _, arch := range slices.Sorted(maps.Keys(c.AMI)) {
		p.id(archField("ec2.ami", arch), c.AMI[arch], ec2form.Image)
	}
	p.site("ec2", c.Subnets, c.SecurityGroups, c.InstanceProfile)
	p.id("ec2.roleId", c.RoleID, ec2form.Role)
	p.rootVolume("ec2.rootVolume", c.RootVolume)
	p.download("ec2.binaryUrl", c.BinaryURL, "ec2.binarySha256", c.BinarySHA256)
	p.id("ec2.binaryPath", c.BinaryPath, ec2form.Path)
	p.check(c.PriceProtection >= 0 && c.PriceProtection <= ec2form.PriceOff, "ec2.priceProtection", fmt.Sprintf("0 to %d", ec2form.PriceOff), c.PriceProtection)
	p.check(len(c.Tags) <= ec2form.MostTags, "ec2.tags", fmt.Sprintf("at most %d", ec2form.MostTags), len(c.Tags))
	for _, key := range slices.Sorted(maps.Keys(c.Tags)) {
		value := c.Tags[key]
		p.check(ec2form.TagKey.Match(key), "ec2.tags."+key, "named by "+ec2form.TagKey.String(), key)
		p.check(len(value) <= ec2form.MostTagValue, "ec2.tags."+key, fmt.Sprintf("at most %d bytes", ec2form.MostTagValue), len(value))
	}
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
	p.check(gib >= 0 && gib <= ec2form.MostGiB, field, fmt.Sprintf("0 to %d", ec2form.MostGiB), gib)
}

// download checks where machines fetch something, and its checksums.
func (p *problems) download(field string, urls PerArch, sumField string, sums PerArch) {
	for _, arch := range slices.Sorted(maps.Keys(urls)) {
		p.check(ec2form.Download.Match(urls[arch]), archField(field, arch), ec2form.Download.String(), Redact(urls[arch]))
		p.check(ec2form.SHA256.Match(sums.For(arch)), archField(sumField, arch), ec2form.SHA256.String()+", since "+field+" is set", sums.For(arch))
	}
	for _, arch := range slices.Sorted(maps.Keys(sums)) {
		p.check(urls.For(arch) != "" || arch == "" && urls != nil, archField(sumField, arch), "empty unless "+field+" is set", sums[arch])
	}
}
