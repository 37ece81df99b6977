// Package ec2form says what ids of EC2 look like: for the configuration, which names the key of a wrong one, and for the fleet,
// which uses them.
package ec2form

import "regexp"

// Form is what an id or a name must look like.
type Form struct {
	form *regexp.Regexp
	want string
}

// Match reports whether text is of the form.
func (f Form) Match(text string) bool { return f.form.MatchString(text) }

// String is what is allowed, as an error says it after "must be".
func (f Form) String() string { return f.want }

// The forms. Ids have 8 or 17 digits (EC2 User Guide, "Resource IDs").
var (
	Subnet        = Form{regexp.MustCompile(`^subnet-[0-9a-f]{8,17}$`), "an id such as subnet-0123456789abcdef0"}
	SecurityGroup = Form{regexp.MustCompile(`^sg-[0-9a-f]{8,17}$`), "an id such as sg-0123456789abcdef0"}
	Image         = Form{
		regexp.MustCompile(`^ami-[0-9a-f]{8,17}$|^resolve:ssm:[A-Za-z0-9_.:/-]+$`),
		"an id such as ami-0123456789abcdef0, or resolve:ssm: and the name of a parameter",
	}
	InstanceProfile = Form{
		regexp.MustCompile(`^(arn:aws[a-z-]*:iam::[0-9]{12}:instance-profile/([^ ]+/)?)?[A-Za-z0-9_+=,.@-]{1,128}$`),
		"the name or the ARN of an instance profile",
	}
	Role = Form{regexp.MustCompile(`^[A-Z0-9]{16,128}$`), "the unique id of a role, such as AROA1234567890EXAMPLE"}
)
