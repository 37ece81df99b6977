package awserr

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// answered is the error of an answer with status and code.
func answered(status int, code, message string) error {
	return &smithy.OperationError{ServiceID: "X", OperationName: "Y", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: message},
	}}
}

func TestClassOf(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want Class
	}{
		{"Nil", nil, None},
		{"NoAnswer", errors.New("read: connection reset by peer"), Unavailable},
		{"Cancelled", fmt.Errorf("x: %w", &aws.RequestCanceledError{Err: context.Canceled}), Unavailable},
		{"Late", context.DeadlineExceeded, Unavailable},
		{"500", answered(500, "InternalServerError", ""), Unavailable},
		{"503WithoutCode", answered(503, "", ""), Unavailable},
		{"500OfAnUnknownCode", answered(500, "Whatever", ""), Unavailable},
		{"EC2LimitIsA503", answered(503, "RequestLimitExceeded", ""), Throttled},
		{"DynamoDBThrottle", &types.ProvisionedThroughputExceededException{}, Throttled},
		{"DynamoDBThrottleByCode", answered(400, "ThrottlingException", ""), Throttled},
		{"TooMany", answered(429, "Whatever", ""), Throttled},
		{"SQSThrottle", answered(403, "RequestThrottled", ""), Throttled},
		{"KMSThrottle", answered(400, "KmsThrottled", ""), Throttled},
		{"Denied", answered(400, "AccessDeniedException", ""), Denied},
		{"DeniedEC2", answered(403, "UnauthorizedOperation", ""), Denied},
		{"DeniedSQS", answered(403, "AccessDenied", ""), Denied},
		{"UnknownKeyID", answered(400, "UnrecognizedClientException", ""), Unavailable},
		{"UnknownToken", answered(403, "InvalidClientTokenId", ""), Unavailable},
		{"UnknownToEC2", answered(401, "AuthFailure", "AWS was not able to validate the provided access credentials"), Unavailable},
		{"ImageOfOthers", answered(401, "AuthFailure", "Not authorized for images: [ami-0]"), Denied},
		{"ExpiredToken", answered(403, "ExpiredToken", ""), Unavailable},
		{"ExpiredTokenDynamoDB", answered(400, "ExpiredTokenException", ""), Unavailable},
		{"ExpiredTokenEC2", answered(400, "RequestExpired", "Request has expired."), Unavailable},
		{"Clock", answered(403, "RequestTimeTooSkewed", ""), Unavailable},
		{"ClockDynamoDB", answered(400, "InvalidSignatureException", "Signature expired: 20260101T000000Z is now earlier than 20260101T000500Z"), Unavailable},
		{"WrongSecret", answered(400, "InvalidSignatureException", "The request signature we calculated does not match"), Denied},
		{"WrongSecretEC2", answered(403, "SignatureDoesNotMatch", ""), Denied},
		{"403OfAnUnknownCode", answered(403, "Whatever", ""), Denied},
		{"NoTable", &types.ResourceNotFoundException{}, NotFound},
		{"NoQueue", answered(400, "AWS.SimpleQueueService.NonExistentQueue", ""), NotFound},
		{"NoQueueUnprefixed", answered(400, "NonExistentQueue", ""), NotFound},
		{"PrefixedByAProxy", answered(403, "AWS.SimpleQueueService.RequestThrottled", ""), Throttled},
		{"OverLimitPrefixed", answered(403, "AWS.SimpleQueueService.OverLimit", ""), Throttled},
		{"GlobalTable", answered(400, "ReplicatedWriteConflictException", ""), Unavailable},
		{"NoObject", answered(404, "NoSuchKey", ""), NotFound},
		{"NoInstance", answered(400, "InvalidInstanceID.NotFound", ""), NotFound},
		{"NoTemplate", answered(400, "InvalidLaunchTemplateName.NotFoundException", ""), NotFound},
		{"TableExists", &types.ResourceInUseException{}, Exists},
		{"TemplateExists", answered(400, "InvalidLaunchTemplateName.AlreadyExistsException", ""), Exists},
		{"QueueOfOtherAttributes", answered(400, "QueueNameExists", ""), Exists},
		{"Validation", answered(400, "ValidationException", ""), Invalid},
		{"EC2Parameter", answered(400, "InvalidParameterValue", ""), Invalid},
		{"Unsent", fmt.Errorf("x: %w", &smithy.SerializationError{Err: errors.New("y")}), Invalid},
		{"ClientFaultWithoutStatus", &smithy.GenericAPIError{Code: "ValidationException", Fault: smithy.FaultClient}, Invalid},
		{"UnknownFaultWithoutStatus", &smithy.GenericAPIError{Code: "Odd"}, Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ClassOf(tt.err); got != tt.want {
				t.Errorf("ClassOf(%v) = %s, want %s", tt.err, got, tt.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want []string
	}{
		{"Denied", answered(400, "AccessDeniedException", "User: u is not authorized"), []string{
			"dynamodb:PutItem on table remuda: access denied: allow dynamodb:PutItem for this role (deploy/iam)", "User: u is not authorized"}},
		{"Credentials", answered(400, "UnrecognizedClientException", "The security token is invalid"), []string{"credentials refused", "UnrecognizedClientException"}},
		{"WrongSecret", answered(403, "SignatureDoesNotMatch", "no"), []string{"credentials refused: they must be valid"}},
		{"Expired", answered(400, "RequestExpired", ""), []string{"the credentials have expired, or the clock"}},
		{"Clock", answered(403, "RequestTimeTooSkewed", ""), []string{"set the clock of this machine"}},
		{"NotFound", &types.ResourceNotFoundException{Message: aws.String("Requested resource not found")}, []string{"table remuda: not found", "remuda init"}},
		{"Throttled", answered(400, "ThrottlingException", "Rate exceeded"), []string{"throttled: ThrottlingException: Rate exceeded"}},
		{"Exists", &types.ResourceInUseException{}, []string{"exists or is being changed"}},
		{"Invalid", answered(400, "ValidationException", "Item size"), []string{"refused as invalid: ValidationException: Item size"}},
		{"NoAnswer", &smithy.OperationError{ServiceID: "X", OperationName: "Y", Err: errors.New("connection refused")}, []string{"no usable answer: connection refused"}},
		{"NoName", &smithy.OperationError{ServiceID: "X", OperationName: "Y", Err: &net.DNSError{Name: "dynamodb.eu-west-9.amazonaws.com", Err: "no such host"}},
			[]string{"the service is unreachable: name resolution failed", "name servers of this host"}},
		{"UnknownCA", &smithy.OperationError{ServiceID: "X", OperationName: "Y", Err: x509.UnknownAuthorityError{}}, []string{"the service is unreachable: TLS", "SSL_CERT_FILE"}},
		{"Plain", errors.New("oops"), []string{"no usable answer: oops"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Explain(tt.err, "dynamodb:PutItem", "table remuda")
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Explain() = %q, want it to contain %q", err, want)
				}
			}
			var explained *Error
			if !errors.As(err, &explained) || explained.Class != ClassOf(tt.err) || !errors.Is(err, tt.err) || ClassOf(err) != ClassOf(tt.err) {
				t.Errorf("Explain() = %#v, want the class and the cause kept", err)
			}
		})
	}
	if err := Explain(nil, "a", "b"); err != nil {
		t.Errorf("Explain(nil) = %v, want nil", err)
	}
}

// EC2 appends thousands of characters that no one can read.
func TestExplain_IsShort(t *testing.T) {
	secretive := answered(403, "UnauthorizedOperation", "You are not authorized. Encoded authorization failure message: "+strings.Repeat("x", 5000))
	long := answered(400, "ValidationException", strings.Repeat("ä", 5000))
	for _, err := range []error{secretive, long} {
		text := Explain(err, "ec2:CreateFleet", "fleet remuda").Error()
		if len(text) > 600 || strings.Contains(text, "Encoded") || !strings.HasPrefix(text, "ec2:CreateFleet on fleet remuda: ") {
			t.Errorf("Explain() = %d bytes: %.200s", len(text), text)
		}
	}
}

// The SDK itself makes these errors, not a test's idea of them.
func TestClassOf_ErrorsOfTheSDK(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	tests := []struct {
		name   string
		handle http.HandlerFunc
		want   Class
	}{
		{"Denied", answer(400, `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no"}`), Denied},
		{"NotFound", answer(400, `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"no"}`), NotFound},
		{"Validation", answer(400, `{"__type":"com.amazon.coral.validate#ValidationException","message":"no"}`), Invalid},
		{"500", answer(500, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"}`), Unavailable},
		{"503OfAProxy", answer(503, `<html>busy</html>`), Unavailable},
		{"200OfAProxy", answer(200, `<html>welcome</html>`), Unavailable},
		{"404OfAProxy", answer(404, `<html>nothing</html>`), Unavailable},
		{"Broken", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(tt.handle)
			defer server.Close()
			_, err := clientOf(server).GetItem(t.Context(), &dynamodb.GetItemInput{
				TableName: aws.String("t"), Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "x"}},
			})
			if got := ClassOf(err); got != tt.want {
				t.Errorf("ClassOf(%v) = %s, want %s", err, got, tt.want)
			}
		})
	}
	t.Run("InputMissing", func(t *testing.T) {
		server := httptest.NewServer(answer(200, `{}`))
		defer server.Close()
		_, err := clientOf(server).GetItem(t.Context(), &dynamodb.GetItemInput{})
		if got := ClassOf(err); got != Invalid {
			t.Errorf("ClassOf(%v) = %s, want %s", err, got, Invalid)
		}
	})
}

func clientOf(server *httptest.Server) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(server.URL), HTTPClient: server.Client(), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
	})
}
