package awserr

import (
	"errors"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// denied finds the refused action. EC2 names the action that it checked, which may differ from the call: CreateFleet fails for
// ec2:RunInstances.
var denied = lazyregexp.New(`not authorized to perform: ?([A-Za-z0-9-]+:[A-Za-z0-9]+)(?: on resource: ?"?([^\s",]+))?`)

// policies finds the kind of policy that refused the action, by a Deny or because it does not allow the action.
var policies = lazyregexp.New(`(with an explicit deny)(?: in an? [A-Za-z -]+?(?:policy|boundary))?|because no ([A-Za-z -]+?(?:policy|boundary))`)

// denial is the refusal in the words of the service.
type denial struct{ action, resource, message string }

func denialOf(err error) (d denial) {
	api := smithy.APIError(nil)
	if !errors.As(err, &api) {
		return d
	}
	d.message = api.ErrorMessage()
	if m := denied().FindStringSubmatch(d.message); m != nil {
		d.action, d.resource = head(m[1], 100), head(strings.TrimRight(m[2], "."), 300)
	}
	return d
}

// accounts maps the codes with which a service refuses a whole account to the remedy. Policies do not change these refusals.
var accounts = map[string]string{
	"Blocked":             "AWS blocked this account: contact AWS Support",
	"OptInRequired":       "this account has no subscription for it: complete the account's sign-up, enable the region, or accept the terms of the image",
	"NotSignedUp":         "this account has not signed up for the service: complete the account's sign-up",
	"PendingVerification": "AWS verifies this account: wait up to 4 hours, then contact AWS Support",
	"AccountProblem":      "AWS reports a problem with this account: contact AWS Support",
}

// remedy returns what an operator can do about a refused call. call is the action if the service does not name one.
func (d denial) remedy(call string) string {
	action := call
	if d.action != "" {
		action = d.action
	}
	if d.resource != "" && d.resource != "*" {
		action += " on " + d.resource
	}
	switch m := policies().FindStringSubmatch(d.message); {
	case m == nil:
	case m[1] != "":
		return "access denied " + m[0] + ": remove the Deny of " + action
	case m[2] != "identity-based policy":
		return "access denied " + m[0] + " allows it: let one allow " + action
	}
	return "access denied: allow " + action + " for this role (deploy/iam)"
}

// Cause tells refusals of the same call apart by code, action and kind of resource. Repeated launches name other subnets and volumes for
// the same missing permission.
func (e *Error) Cause() string {
	d := denialOf(e.Err)
	kind, _, _ := strings.Cut(d.resource, "/")
	return strings.TrimSpace(Code(e.Err) + " " + d.action + " " + kind)
}
