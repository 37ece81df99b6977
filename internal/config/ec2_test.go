package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Each setting of section ec2 that has a form, wrong once.
func TestEC2_EachSettingWrongOnce(t *testing.T) {
	sum := EveryArch(strings.Repeat("0a", 32))
	tested := map[string]bool{}
	for want, change := range map[string]func(*EC2){
		`ec2.subnets[0]: must be an id such as subnet-0123456789abcdef0, got "foo"`:                                                                                                  func(c *EC2) { c.Subnets = []string{"foo"} },
		`ec2.securityGroups[0]: must be an id such as sg-0123456789abcdef0, got "foo"`:                                                                                               func(c *EC2) { c.SecurityGroups = []string{"foo"} },
		`ec2.ami: must be an id such as ami-0123456789abcdef0, or resolve:ssm: and the name of a parameter, got "foo"`:                                                               func(c *EC2) { c.AMI = EveryArch("foo") },
		`ec2.ami.arm64: must be an id such as ami-0123456789abcdef0, or resolve:ssm: and the name of a parameter, got "foo"`:                                                         func(c *EC2) { c.AMI = PerArch{ArchARM: "foo"} },
		`ec2.instanceProfile: must be the name or the ARN of an instance profile, got "a b"`:                                                                                         func(c *EC2) { c.InstanceProfile = "a b" },
		`ec2.roleId: must be the unique id of a role, such as AROA1234567890EXAMPLE, got "remuda-agent"`:                                                                             func(c *EC2) { c.RoleID = "remuda-agent" },
		`ec2.rootVolume: must be 0 to 16384, got -1`:                                                                                                                                 func(c *EC2) { c.RootVolume = -1 },
		`ec2.bucket: must be the name of a bucket, 3 to 63 of a-z, 0-9, - and ., got "A"`:                                                                                            func(c *EC2) { c.Bucket = "A" },
		`ec2.binaryUrl: must be an http or https URL without credentials or spaces, or s3://bucket/key with a clean key of A-Z, a-z, 0-9, /, _, ., ~ and -, got "ftp://x/y"`:         func(c *EC2) { c.BinaryURL, c.BinarySHA256 = EveryArch("ftp://x/y"), sum },
		`ec2.binaryUrl: must be an http or https URL without credentials or spaces, or s3://bucket/key with a clean key of A-Z, a-z, 0-9, /, _, ., ~ and -, got "s3://bbb"`:          func(c *EC2) { c.BinaryURL, c.BinarySHA256 = EveryArch("s3://bbb"), sum },
		`ec2.binarySha256: must be 64 hexadecimal digits, since ec2.binaryUrl is set, got ""`:                                                                                        func(c *EC2) { c.BinaryURL = EveryArch("s3://bbb/k") },
		`ec2.binarySha256: must be 64 hexadecimal digits, since ec2.binaryUrl is set, got "abc"`:                                                                                     func(c *EC2) { c.BinaryURL, c.BinarySHA256 = EveryArch("s3://bbb/k"), EveryArch("abc") },
		`ec2.binarySha256: must be empty unless ec2.binaryUrl is set, got "abc"`:                                                                                                     func(c *EC2) { c.BinarySHA256 = EveryArch("abc") },
		`ec2.binaryUrl: must be an http or https URL without credentials or spaces, or s3://bucket/key with a clean key of A-Z, a-z, 0-9, /, _, ., ~ and -, got "s3://bbb/a/../b"`:   func(c *EC2) { c.BinaryURL, c.BinarySHA256 = EveryArch("s3://bbb/a/../b"), sum },
		`ec2.binaryUrl: must be an http or https URL without credentials or spaces, or s3://bucket/key with a clean key of A-Z, a-z, 0-9, /, _, ., ~ and -, got "https://a/b c"`:     func(c *EC2) { c.BinaryURL, c.BinarySHA256 = EveryArch("https://a/b c"), sum },
		`ec2.binaryUrl: must be an http or https URL without credentials or spaces, or s3://bucket/key with a clean key of A-Z, a-z, 0-9, /, _, ., ~ and -, got "https://xxxxx@a/%"`: func(c *EC2) { c.BinaryURL, c.BinarySHA256 = EveryArch("https://u:secret@a/%"), sum },
		`ec2.binaryPath: must be a clean absolute path without control characters, got "bin/remuda"`:                                                                                 func(c *EC2) { c.BinaryPath = "bin/remuda" },
		`ec2.priceProtection: must be 0 to 999999, got -1`:                                                                                                                           func(c *EC2) { c.PriceProtection = -1 },
		`ec2.priceProtection: must be 0 to 999999, got 1000000`:                                                                                                                      func(c *EC2) { c.PriceProtection = 1_000_000 },
		`ec2.tags.a b: must be named by 1 to 128 of letters, digits and + - = . , _ : @, none of . .. and _index, not beginning with aws: or remuda-, got "a b"`:                     func(c *EC2) { c.Tags = map[string]string{"a b": "c"} },
		`ec2.tags.AWS:a: must be named by 1 to 128 of letters, digits and + - = . , _ : @, none of . .. and _index, not beginning with aws: or remuda-, got "AWS:a"`:                 func(c *EC2) { c.Tags = map[string]string{"AWS:a": "c"} },
		`ec2.tags._index: must be named by 1 to 128 of letters, digits and + - = . , _ : @, none of . .. and _index, not beginning with aws: or remuda-, got "_index"`:               func(c *EC2) { c.Tags = map[string]string{"_index": "c"} },
		`ec2.tags.a: must be at most 256 bytes, got 257`:                                                                                                                             func(c *EC2) { c.Tags = map[string]string{"a": strings.Repeat("x", 257)} },
		`ec2.tags: must be at most 40, got 41`: func(c *EC2) {
			c.Tags = map[string]string{}
			for i := range 41 {
				c.Tags[fmt.Sprint(i)] = ""
			}
		},
	} {
		key, _, _ := strings.Cut(strings.TrimPrefix(want, "ec2."), ":")
		key, _, _ = strings.Cut(key, "[")
		key, _, _ = strings.Cut(key, ".")
		tested[key] = true
		c := onEC2(Class{CPU: 2, Mem: 4096})
		change(&c.EC2)
		if err := c.Validate(); err == nil || err.Error() != want {
			t.Errorf("Validate() = %v, want %s", err, want)
		}
	}
	for f := range reflect.TypeFor[EC2]().Fields() {
		if !tested[fieldName(f)] {
			t.Errorf("ec2.%s is not tried", fieldName(f))
		}
	}
}
