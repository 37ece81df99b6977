package ec2test

import (
	"encoding/json"
	"testing"
)

// Account is what machines are made of, as it exists at moto.
type Account struct {
	Subnets []string // of the default VPC, one per zone
	Group   string
	AMI     string // x86_64
	Profile string
	RoleID  string
}

// made are the codes that say that a call made again had its effect.
var made = map[string]bool{"EntityAlreadyExists": true, "LimitExceeded": true}

// Account returns moto's default network and an instance profile of this name with a role, which it
// makes.
func (s *Shim) Account(tb testing.TB, profile string) Account {
	tb.Helper()
	call := func(service, action string, pairs ...string) *element {
		tb.Helper()
		ask := func() (*element, *failure) { return s.call(service, form(action, pairs...)) }
		if service == "ec2" { // of the default network nothing ever changes
			ask = func() (*element, *failure) { return s.staticTree(form(action, pairs...)) }
		}
		root, failed := ask()
		if failed != nil && !made[failed.code] {
			tb.Fatalf("%s: %s: %s", action, failed.code, failed.message)
		}
		return root
	}
	a := Account{Profile: profile}
	vpc := ""
	for _, sub := range call("ec2", "DescribeSubnets", "Filter.1.Name", "default-for-az", "Filter.1.Value.1", "true").all("subnetSet", "item") {
		a.Subnets = append(a.Subnets, sub.get("subnetId"))
		vpc = sub.get("vpcId")
	}
	a.Group = call("ec2", "DescribeSecurityGroups", "Filter.1.Name", "vpc-id", "Filter.1.Value.1", vpc).get("securityGroupInfo", "item", "groupId")
	a.AMI = call("ec2", "DescribeImages", "Filter.1.Name", "architecture", "Filter.1.Value.1", "x86_64").get("imagesSet", "item", "imageId")
	trust, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{}})
	if err != nil {
		tb.Fatal(err)
	}
	call("iam", "CreateRole", "RoleName", profile, "AssumeRolePolicyDocument", string(trust))
	a.RoleID = call("iam", "GetRole", "RoleName", profile).get("GetRoleResult", "Role", "RoleId")
	call("iam", "CreateInstanceProfile", "InstanceProfileName", profile)
	call("iam", "AddRoleToInstanceProfile", "InstanceProfileName", profile, "RoleName", profile)
	return a
}

// Foreign starts an instance at moto without any tag of ours.
func (s *Shim) Foreign(tb testing.TB) (id string, alive func() bool) {
	tb.Helper()
	root, failed := s.call("ec2", form("RunInstances", "ImageId", "ami-12c6146b", "MinCount", "1", "MaxCount", "1"))
	if failed != nil {
		tb.Fatalf("RunInstances: %s: %s", failed.code, failed.message)
	}
	id = root.get("instancesSet", "item", "instanceId")
	return id, func() bool {
		root, failed := s.call("ec2", form("DescribeInstances", "InstanceId.1", id))
		return failed == nil && root.get("reservationSet", "item", "instancesSet", "item", "instanceState", "name") == "running"
	}
}
