package faults

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"
)

// failure is an error in the words of each protocol.
type failure struct {
	status  int
	code    string
	message string
}

// internal, throttled and denied are by service; the default is "". The codes are those of each API reference's
// list of common errors; EC2 and IAM throttle with 503 and 400.
var (
	internal = map[string]failure{
		"dynamodb": {500, "InternalServerError", "The request processing has failed because of an unknown error."},
		"ec2":      {500, "InternalError", "An internal error has occurred."},
		"s3":       {500, "InternalError", "We encountered an internal error. Please try again."},
		"iam":      {500, "ServiceFailure", "The request processing has failed because of an unknown error."},
		"ssm":      {500, "InternalServerError", "An error occurred on the server side."},
		"logs":     {503, "ServiceUnavailableException", "The service cannot complete the request."},

		"secretsmanager": {500, "InternalServiceError", "An error occurred on the server side."},

		"": {500, "InternalFailure", "The request processing has failed because of an unknown error."},
	}
	throttled = map[string]failure{
		"dynamodb": {400, "ProvisionedThroughputExceededException", "The level of configured provisioned throughput for the table was exceeded."},
		"ec2":      {503, "RequestLimitExceeded", "Request limit exceeded."},
		"sqs":      {400, "ThrottlingException", "Rate exceeded"},
		"ssm":      {400, "ThrottlingException", "Rate exceeded"},
		"logs":     {400, "ThrottlingException", "Rate exceeded"},
		"s3":       {503, "SlowDown", "Please reduce your request rate."},

		"secretsmanager": {400, "ThrottlingException", "Rate exceeded"},

		"": {400, "Throttling", "Rate exceeded"},
	}
	denied = map[string]failure{
		"dynamodb": {400, "AccessDeniedException", ""},
		"ec2":      {403, "UnauthorizedOperation", "You are not authorized to perform this operation. "},
		"sqs":      {403, "AccessDeniedException", ""},
		"ssm":      {400, "AccessDeniedException", ""},
		"logs":     {400, "AccessDeniedException", ""},

		"secretsmanager": {400, "AccessDeniedException", ""},

		"": {403, "AccessDenied", ""},
	}
)

// denied says who may not do what.
func (c *call) denied() failure {
	f := pick(denied, c.service)
	f.message += "User: arn:aws:sts::123456789012:assumed-role/test/session is not authorized to perform: " + c.service + ":" + c.operation +
		" because no identity-based policy allows it"
	return f
}

// namespaces stand before the error code in JSON.
var namespaces = map[string]string{"dynamodb": "com.amazonaws.dynamodb.v20120810#", "sqs": "com.amazonaws.sqs#"}

func pick(by map[string]failure, service string) failure {
	if f, ok := by[service]; ok {
		return f
	}
	return by[""]
}

// fail answers with the failure in the call's protocol.
func (c *call) fail(f failure) *http.Response {
	switch {
	case c.service == "s3":
		return c.answer(f.status, "application/xml", fmt.Appendf(nil,
			"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>%s</Message><RequestId>fault</RequestId></Error>", f.code, f.message))
	case c.form == nil:
		return c.answer(f.status, json10, mustJSON(map[string]string{
			"__type": namespaces[c.service] + f.code, "message": f.message,
		}))
	case c.service == "ec2":
		return c.answer(f.status, "text/xml;charset=UTF-8", fmt.Appendf(nil,
			"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors>"+
				"<RequestID>fault</RequestID></Response>", f.code, f.message))
	default:
		side := "Sender"
		if f.status >= 500 {
			side = "Receiver"
		}
		return c.answer(f.status, "text/xml", fmt.Appendf(nil,
			"<ErrorResponse><Error><Type>%s</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>fault</RequestId></ErrorResponse>",
			side, f.code, f.message))
	}
}

// errReset is how a broken connection looks, errTimeout one on which nothing comes.
var (
	errReset   = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	errTimeout = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
)
