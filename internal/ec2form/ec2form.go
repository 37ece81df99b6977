// Package ec2form says what is allowed of what EC2 and its machines are given: for the configuration, which names the key of
// what is wrong, and for the fleet and its first script, which use it.
package ec2form

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// Form is what a text must look like.
type Form struct {
	match func(string) bool
	want  string
}

// Match reports whether text is of the form.
func (f Form) Match(text string) bool { return f.match(text) }

// String is what is allowed, as an error says it after "must be".
func (f Form) String() string { return f.want }

// like matches a regular expression.
func like(form, want string) Form {
	compiled := lazyregexp.New(form)
	return Form{func(text string) bool { return compiled().MatchString(text) }, want}
}

const imageID = `^ami-[0-9a-f]{8,17}$`

// The forms of ids, which have 8 or 17 digits (EC2 User Guide, "Resource IDs"), and of names.
var (
	Subnet          = like(`^subnet-[0-9a-f]{8,17}$`, "an id such as subnet-0123456789abcdef0")
	SecurityGroup   = like(`^sg-[0-9a-f]{8,17}$`, "an id such as sg-0123456789abcdef0")
	ImageID         = like(imageID, "the id of an image, such as ami-0123456789abcdef0")
	Image           = like(imageID+`|^resolve:ssm:[A-Za-z0-9_.:/-]+$`, "an id such as ami-0123456789abcdef0, or resolve:ssm: and the name of a parameter")
	InstanceProfile = like(`^(arn:aws[a-z-]*:iam::[0-9]{12}:instance-profile/([^ ]+/)?)?[A-Za-z0-9_+=,.@-]{1,128}$`, "the name or the ARN of an instance profile")
	Role            = like(`^[A-Z0-9]{16,128}$`, "the unique id of a role, such as AROA1234567890EXAMPLE")
)

// Bounds of numbers.
const (
	MostGiB = 16 << 10 // of a gp3 volume (EBS User Guide, "General Purpose SSD volumes")

	// PriceOff switches price protection off (EC2 API, InstanceRequirementsRequest). Its default drops
	// types that were allowed explicitly.
	PriceOff = 999_999

	MostTags     = 40  // leaves room for our own among the 50 of a resource (EC2 User Guide, "Tag restrictions")
	MostTagValue = 256 // bytes of a value
)

// TagKey is what a key may be of a tag that the instance metadata show, as they do here: EC2 refuses a
// launch with any other (EC2 User Guide, "View tags for your EC2 instances using instance metadata").
var TagKey = Form{tagKey, "1 to 128 of letters, digits and + - = . , _ : @, none of . .. and _index, not beginning with aws: or remuda-"}

var tagKeyForm = lazyregexp.New(`^[A-Za-z0-9+=.,_:@-]{1,128}$`)

func tagKey(key string) bool {
	lower := strings.ToLower(key)
	return tagKeyForm().MatchString(key) && !slices.Contains([]string{".", "..", "_index"}, key) &&
		!strings.HasPrefix(lower, "aws:") && !strings.HasPrefix(lower, "remuda-")
}

// What machines fetch, and where they have it.
var (
	Download = Form{download, "an http or https URL without credentials or spaces, or s3://bucket/key with a clean key of A-Z, a-z, 0-9, /, _, ., ~ and -"}
	SHA256   = like(`^[0-9a-fA-F]{64}$`, "64 hexadecimal digits")
	Path     = Form{plainPath, "a clean absolute path without control characters"}
)

// objectForm has the names of buckets (S3 User Guide, "General purpose bucket naming rules"), and keys of which no
// character is encoded, as signatures would have to agree on.
var objectForm = lazyregexp.New(`^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_.~-]+)+$`)

// download reports whether raw can be handed to curl as it is.
func download(raw string) bool {
	if object, ok := strings.CutPrefix(raw, "s3://"); ok {
		return objectForm().MatchString(raw) && path.Clean(object) == object
	}
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" &&
		!strings.ContainsFunc(raw, func(r rune) bool { return control(r) || r == ' ' })
}

// plainPath reports whether p can be written in any list of paths. A line break or a backslash would
// have a meaning to sha256sum.
func plainPath(p string) bool {
	return path.IsAbs(p) && path.Clean(p) == p && p != "/" && !strings.ContainsFunc(p, control) && !strings.Contains(p, `\`)
}

func control(r rune) bool { return r < ' ' || r == 0x7f }
