package awserr

import (
	"strings"
	"testing"
)

// A refusal names what the service refused, in its own words and whole, and a remedy that fits: EC2 checks other actions than the one
// that was called, and a policy of the organization or the account's state is cured by no policy of a role.
func TestExplain_DenialNamesActionAndResource_Review_F2(t *testing.T) {
	const (
		subnet = "arn:aws:ec2:eu-west-1:111122223333:subnet/subnet-0123456789abcdef0"
		who    = "You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/remuda-controller/i-0123456789abcdef0 is not authorized to perform: ec2:RunInstances on resource: " + subnet
		blob   = ". Encoded authorization failure message: "
	)
	for name, tt := range map[string]struct {
		code, message string
		want          []string
		not           string
	}{
		"Missing":  {"UnauthorizedOperation", who + " because no identity-based policy allows the ec2:RunInstances action" + blob + strings.Repeat("x", 900), []string{"access denied: allow ec2:RunInstances on " + subnet + " for this role (deploy/iam)", who + " because no identity-based policy allows the ec2:RunInstances action", "aws sts decode-authorization-message"}, "xxx"},
		"SCP":      {"UnauthorizedOperation", who + " with an explicit deny in a service control policy", []string{"with an explicit deny in a service control policy: remove the Deny of ec2:RunInstances on " + subnet}, "deploy/iam"},
		"Boundary": {"AccessDenied", "User: u is not authorized to perform: iam:PassRole on resource: arn:aws:iam::1:role/r because no permissions boundary allows the iam:PassRole action", []string{"because no permissions boundary allows it: let one allow iam:PassRole on arn:aws:iam::1:role/r"}, "deploy/iam"},
		"Deny":     {"AccessDeniedException", "User: u is not authorized to perform: dynamodb:GetItem on resource: arn:aws:dynamodb:r:1:table/t with an explicit deny in an identity-based policy", []string{"explicit deny in an identity-based policy: remove the Deny of dynamodb:GetItem on arn:aws:dynamodb:r:1:table/t"}, "deploy/iam"},
		"Endpoint": {"AccessDenied", "User: u is not authorized to perform: sts:AssumeRole on resource: r because no VPC endpoint policy allows the sts:AssumeRole action", []string{"because no VPC endpoint policy allows it: let one allow sts:AssumeRole on r"}, "deploy/iam"},
		"Session":  {"AccessDenied", "User: u is not authorized to perform: sqs:SendMessage on resource: r because no session policy allows the sqs:SendMessage action", []string{"because no session policy allows it: let one allow sqs:SendMessage on r"}, "deploy/iam"},
		"Encoded":  {"UnauthorizedOperation", "You are not authorized to perform this operation" + blob + strings.Repeat("y", 900), []string{"allow ec2:CreateFleet for this role", "aws sts decode-authorization-message"}, "yyy"},
		"OptIn":    {"OptInRequired", "You are not subscribed to this service.", []string{"no subscription", "enable the region"}, "unexpired"},
		"Pending":  {"PendingVerification", "Your account is currently being verified.", []string{"AWS verifies this account: wait up to 4 hours"}, "allow ec2:"},
		"Blocked":  {"Blocked", "This account is currently blocked.", []string{"AWS blocked this account: contact AWS Support"}, "allow ec2:"},
		"Key":      {"KMS.NotFoundException", "Key 'k' does not exist", []string{"the KMS key of fleet remuda cannot be used"}, "remuda init"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Explain(answered(403, tt.code, tt.message), "ec2:CreateFleet", "fleet remuda")
			for _, want := range append(tt.want, tt.code) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Explain() = %q, want it to contain %q", err, want)
				}
			}
			if strings.Contains(err.Error(), tt.not) {
				t.Errorf("Explain() = %q, want it without %q", err, tt.not)
			}
		})
	}
}

// Causes differ by code, action and kind of resource, not by the resource's id.
func TestError_Cause_Review_F2(t *testing.T) {
	cause := func(code, message string) string {
		return Explain(answered(403, code, message), "ec2:CreateFleet", "fleet remuda").(*Error).Cause()
	}
	on := func(action, resource string) string {
		return "is not authorized to perform: " + action + " on resource: " + resource
	}
	a := cause("UnauthorizedOperation", on("ec2:RunInstances", "arn:aws:ec2:r:1:subnet/subnet-a"))
	for name, other := range map[string]struct {
		cause string
		same  bool
	}{
		"OtherSubnet": {cause("UnauthorizedOperation", on("ec2:RunInstances", "arn:aws:ec2:r:1:subnet/subnet-b")), true},
		"Volume":      {cause("UnauthorizedOperation", on("ec2:RunInstances", "arn:aws:ec2:r:1:volume/*")), false},
		"Action":      {cause("UnauthorizedOperation", on("ec2:CreateTags", "arn:aws:ec2:r:1:subnet/subnet-a")), false},
		"Code":        {cause("InvalidAMIID.NotFound", "The image id does not exist"), false},
	} {
		if (other.cause == a) != other.same {
			t.Errorf("%s: causes %q and %q, want the same: %t", name, a, other.cause, other.same)
		}
	}
}
