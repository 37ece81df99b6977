package config

import (
	"strings"
	"testing"
)

// Each setting of section ec2 that has a form, wrong once.
func TestEC2_EachSettingWrongOnce(t *testing.T) {
	sum := EveryArch(strings.Repeat("0a", 32))
	for want, change := range map[string]func(*EC2){
		`ec2.subnets[0]: must be an id such as subnet-0123456789abcdef0, got "foo"`:                                                                         func(c *EC2) { c.Subnets = []string{"foo"} },
		`ec2.securityGroups[0]: must be an id such as sg-0123456789abcdef0, got "foo"`:                                                                      func(c *EC2) { c.SecurityGroups = []string{"foo"} },
		`ec2.ami: must be an id such as ami-0123456789abcdef0, or resolve:ssm: and the name of a parameter, got "foo"`:                                      func(c *EC2) { c.AMI = EveryArch("foo") },
		`ec2.ami.arm64: must be an id such as ami-0123456789abcdef0, or resolve:ssm: and the name of a parameter, got "foo"`:                                func(c *EC2) { c.AMI = PerArch{ArchARM: "foo"} },
		`ec2.instanceProfile: must be the name or the ARN of an instance profile, got "a b"`:                                                                func(c *EC2) { c.InstanceProfile = "a b" },
		`ec2.roleId: must be the unique id of a role, such as AROA1234567890EXAMPLE, got "remuda-agent"`:                                                    func(c *EC2) { c.RoleID = "remuda-agent" },
		`ec2.rootVolume: must be 0 to 16384, got -1`:                                                                                                        func(c *EC2) { c.RootVolume = -1 },
		`ec2.bucket: must be the name of a bucket, 3 to 63 of a-z, 0-9, - and ., got "A"`:                                                                   func(c *EC2) { c.Bucket = "A" },
		`ec2.binaryUrl: must be an http or https URL without credentials, got "ftp://x/y"`:                                                                  func(c *EC2) { c.BinaryURL, c.BinarySHA256 = EveryArch("ftp://x/y"), sum },
		`ec2.binaryUrl: must be an http or https URL without credentials, or s3://bucket/key with a key of A-Z, a-z, 0-9, /, _, ., ~ and -, got "s3://bbb"`: func(c *EC2) { c.BinaryURL, c.BinarySHA256 = EveryArch("s3://bbb"), sum },
		`ec2.binarySha256: must be 64 hexadecimal digits, since ec2.binaryUrl is set, got ""`:                                                               func(c *EC2) { c.BinaryURL = EveryArch("s3://bbb/k") },
		`ec2.binarySha256: must be 64 hexadecimal digits, since ec2.binaryUrl is set, got "abc"`:                                                            func(c *EC2) { c.BinaryURL, c.BinarySHA256 = EveryArch("s3://bbb/k"), EveryArch("abc") },
		`ec2.binarySha256: must be empty unless ec2.binaryUrl is set, got "abc"`:                                                                            func(c *EC2) { c.BinarySHA256 = EveryArch("abc") },
	} {
		c := onEC2(Class{CPU: 2, Mem: 4096})
		change(&c.EC2)
		if err := c.Validate(); err == nil || err.Error() != want {
			t.Errorf("Validate() = %v, want %s", err, want)
		}
	}
}
