package awserr

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Class is what an error means for the caller.
type Class int

const (
	// None is the class of nil.
	None Class = iota
	// Unavailable means that no usable answer came: a 5xx, a timeout, a broken connection, a context that
	// ended. The call may have had its effect; later it may succeed. So it is where the service refused
	// a signature that will be right without anyone: temporary credentials are renewed, those just made become
	// known, clocks are set.
	Unavailable
	// Throttled means that the service refused the call for its rate. It had no effect; slower, it
	// will succeed.
	Throttled
	// Denied means that this caller may not: a permission is missing, or the signature is wrong. It had
	// no effect, and an operator must act.
	Denied
	// NotFound means that what the call is about does not exist, or is not visible yet.
	NotFound
	// Exists means that what was to be created is there already, or is being created or changed.
	Exists
	// Invalid means that the service refused the call as it is, from any caller. It had no effect.
	Invalid
)

func (c Class) String() string {
	return [...]string{"none", "unavailable", "throttled", "denied", "not found", "exists", "invalid"}[c]
}

// Codes that the rules of ClassOf would sort wrongly or not at all. Sources: "Common errors" of the
// references of DynamoDB, SQS and EC2, "Error codes for the Amazon EC2 API", aws/retry of the SDK.
var codes = map[string]Class{
	"BandwidthLimitExceeded":                      Throttled,
	"LimitExceededException":                      Throttled, // DynamoDB: too many tables at work at once
	"OverLimit":                                   Throttled, // SQS: too many messages in flight
	"PriorRequestNotComplete":                     Throttled,
	"ProvisionedThroughputExceededException":      Throttled,
	"QueueDeletedRecently":                        Throttled, // SQS: wait 60 s
	"AWS.SimpleQueueService.QueueDeletedRecently": Throttled,
	"RequestLimitExceeded":                        Throttled,
	"SlowDown":                                    Throttled,
	"TooManyRequestsException":                    Throttled,

	"InternalFailure":              Unavailable,
	"InternalServerError":          Unavailable,
	"RequestTimeout":               Unavailable,
	"RequestTimeoutException":      Unavailable,
	"TransactionConflictException": Unavailable, // another's transaction is at work on the item
	// In a global table, another region writes the item at the same time.
	"ReplicatedWriteConflictException": Unavailable,

	"AccessDenied":              Denied,
	"AccessDeniedException":     Denied,
	"AccountProblem":            Denied, // S3
	"Blocked":                   Denied, // EC2: the account
	"KMS.AccessDeniedException": Denied,
	"KmsAccessDenied":           Denied,
	"PendingVerification":       Denied, // EC2: the account
	"UnauthorizedOperation":     Denied,

	"NonExistentQueue": NotFound, // SQS
	"NoSuchBucket":     NotFound,
	"NoSuchEntity":     NotFound, // IAM
	"NoSuchKey":        NotFound, // S3

	"QueueNameExists":        Exists,
	"ResourceInUseException": Exists,
	"TableInUseException":    Exists,
}

// signers are the codes of calls that were refused because of who signed them, or how.
var signers = []string{
	"AuthFailure", "IncompleteSignature", "IncompleteSignatureException", "InvalidSignatureException",
	"MissingAuthenticationToken", "MissingAuthenticationTokenException", "NotSignedUp", "OptInRequired", "SignatureDoesNotMatch",
}

// lapsed are the codes for credentials that have expired, or that the service does not know, or not yet.
var lapsed = []string{
	"ExpiredToken", "ExpiredTokenException", "InvalidAccessKeyId", "InvalidClientTokenId", "RequestExpired", "UnrecognizedClientException",
}

// clocks are the codes of calls that were signed at a time the service takes for wrong.
var clocks = []string{"RequestInTheFuture", "RequestTimeTooSkewed"}

// hasLapsed reports whether credentials were refused that are expired or unknown. EC2 says AuthFailure
// then, and also where an image may not be used.
func hasLapsed(err error) bool {
	code := Code(err)
	return slices.Contains(lapsed, code) || code == "AuthFailure" && says(err, "validate the provided access credentials")
}

// isOffTime reports whether this machine's clock is wrong to the service. The services with JSON answers
// say InvalidSignatureException then, and also where the secret is wrong. The SDK learns the service's
// time from such an answer, for the next call.
func isOffTime(err error) bool {
	code := Code(err)
	return slices.Contains(clocks, code) ||
		code == "InvalidSignatureException" && (says(err, "Signature expired") || says(err, "Signature not yet current"))
}

func says(err error, words string) bool {
	api := smithy.APIError(nil)
	return errors.As(err, &api) && strings.Contains(api.ErrorMessage(), words)
}

// Code returns the code of the service's answer, "" if err holds none.
func Code(err error) string {
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// ClassOf returns the class of an error of an SDK call. What it does not know it takes for
// Unavailable if the service did not answer, since no one can say that the call had no effect.
func ClassOf(err error) Class {
	if err == nil {
		return None
	}
	code := Code(err)
	if c, ok := codes[code]; ok {
		return c
	}
	code = strings.TrimPrefix(code, "AWS.SimpleQueueService.") // a prefix of SQS for some codes, and of emulators for all
	if c, ok := codes[code]; ok {
		return c
	}
	status := 0
	if answer := (*smithyhttp.ResponseError)(nil); errors.As(err, &answer) {
		status = answer.HTTPStatusCode()
	}
	switch {
	case unsent(err):
		return Invalid
	case hasLapsed(err) || isOffTime(err):
		return Unavailable
	case slices.Contains(signers, code):
		return Denied
	case strings.HasSuffix(code, ".AlreadyExistsException") || strings.HasSuffix(code, ".Duplicate") || strings.HasSuffix(code, "AlreadyExists"):
		return Exists // EC2 names the kind of thing first, as in InvalidKeyPair.Duplicate
	case strings.HasSuffix(code, "NotFound") || strings.HasSuffix(code, "NotFoundException") || strings.HasSuffix(code, "DoesNotExist"):
		return NotFound // such as InvalidInstanceID.NotFound, ResourceNotFoundException
	case strings.Contains(code, "Throttl") || status == http.StatusTooManyRequests:
		return Throttled
	case status >= http.StatusInternalServerError || code == "":
		return Unavailable
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return Denied
	case status >= http.StatusBadRequest || fault(err) == smithy.FaultClient:
		return Invalid
	}
	return Unavailable
}

// unsent reports whether the SDK itself found the input wrong.
func unsent(err error) bool {
	var params smithy.InvalidParamsError
	var serialization *smithy.SerializationError
	return errors.As(err, &params) || errors.As(err, &serialization)
}

// fault returns whose mistake the service says it was.
func fault(err error) smithy.ErrorFault {
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return api.ErrorFault()
	}
	return smithy.FaultUnknown
}
