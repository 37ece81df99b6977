package awserr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/remuda-run/remuda/internal/netfault"
)

// Error is an error of a call, for an operator. It wraps the cause.
type Error struct {
	Call     string // as policies name it, such as dynamodb:PutItem
	Resource string // kind and name, such as "table remuda"
	Class    Class
	Err      error
}

// Explain returns err as an *Error that names call, resource and, where there is one, the remedy. Nil
// stays nil.
func Explain(err error, call, resource string) error {
	if err == nil {
		return nil
	}
	return &Error{Call: call, Resource: resource, Class: ClassOf(err), Err: err}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string {
	return fmt.Sprintf("%s on %s: %s: %s", e.Call, e.Resource, e.meaning(), textOf(e.Err))
}

// meaning says what the class means here, and what to do.
func (e *Error) meaning() string {
	code := Code(e.Err)
	switch {
	case isOffTime(e.Err):
		return "refused for its time: set the clock of this machine"
	case code == "RequestExpired":
		return "refused for its time: the credentials have expired, or the clock of this machine is wrong"
	case hasLapsed(e.Err):
		return "credentials refused: they are expired, or not known here: renew them if nothing else does"
	case accounts[code] != "":
		return accounts[code]
	case isKey(code) && e.Class != Throttled:
		return "the KMS key of " + e.Resource + " cannot be used: check that the key exists and is enabled, and allow this role to use it"
	case slices.Contains(signers, code):
		return "credentials refused: they must be valid, unexpired and of the account and region meant"
	case e.Class == Denied:
		return denialOf(e.Err).remedy(e.Call)
	case e.Class == NotFound:
		if madeByInit(e.Resource) {
			return "not found: check name and region, or create it with `remuda init`"
		}
		return "not found: check name and region"
	case e.Class == Exists:
		return "exists or is being changed"
	case e.Class == Throttled:
		return "throttled"
	case e.Class == Invalid:
		return "refused as invalid"
	}
	if why := netfault.Of(e.Err); why != "" {
		return "the service is unreachable: " + why
	}
	return "no usable answer"
}

// isKey reports whether a code is about a KMS key. SQS and S3 return KMS.NotFoundException, KmsDisabled and similar codes.
func isKey(code string) bool {
	code = strings.TrimPrefix(code, "AWS.SimpleQueueService.")
	return strings.HasPrefix(code, "KMS.") || strings.HasPrefix(code, "Kms")
}

// maxText bounds the service's message, and maxDenied the message about a missing permission with caller, action, resource and policy. EC2
// appends an encoded message of some thousand characters to a refusal (EC2, DecodeAuthorizationMessage).
const (
	maxText   = 400
	maxDenied = 600
)

// decode replaces an encoded message, which people cannot read.
const decode = "(CloudTrail has the message for `aws sts decode-authorization-message`)"

// textOf returns the service's words, or the innermost reason why there are none.
func textOf(err error) string {
	text := ""
	if api := smithy.APIError(nil); errors.As(err, &api) {
		text = api.ErrorCode()
		if m := strings.TrimSpace(api.ErrorMessage()); m != "" {
			text += ": " + m
		}
	} else if op := (*smithy.OperationError)(nil); errors.As(err, &op) {
		text = op.Err.Error()
	} else {
		text = err.Error()
	}
	limit := maxText
	if d := denialOf(err); d.action != "" {
		limit = maxDenied
	}
	if before, _, found := strings.Cut(text, "Encoded authorization failure message:"); found {
		return head(strings.TrimSpace(before), limit) + " " + decode
	}
	return head(text, limit)
}

// head cuts text to at most limit bytes.
func head(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// madeByInit reports whether a resource is one that remuda itself makes.
func madeByInit(resource string) bool {
	kinds := []string{"table ", "queue ", "launch template "}
	return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(resource, kind) })
}
