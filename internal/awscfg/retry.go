package awscfg

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// retryer repeats calls as the SDK does, and also calls whose reply was cut or is unreadable. The SDK already repeats these calls after a
// broken connection, when their effect is also unknown. The client of the table has a separate retryer (store/dynamostore).
func retryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(damaged)}, o.Retryables...)
	})
}

// damaged reports whether a successful reply was damaged on the way.
func damaged(err error) aws.Ternary {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return aws.TrueTernary
	}
	var unread *smithy.DeserializationError
	if api := smithy.APIError(nil); !errors.As(err, &unread) || errors.As(err, &api) {
		return aws.UnknownTernary
	}
	if answer := (*smithyhttp.ResponseError)(nil); errors.As(err, &answer) && answer.HTTPStatusCode() >= http.StatusBadRequest {
		return aws.UnknownTernary
	}
	return aws.TrueTernary
}

// maxWhole bounds the replies, in bytes, that are read whole before the SDK gets them. Configuration, secrets and release.json are smaller.
// A cut reply then fails the call, which is repeated, instead of the code that reads the body.
const maxWhole = 256 << 10

// whole returns the response with its body in memory, if the body is small.
func whole(resp *http.Response) (*http.Response, error) {
	if resp.StatusCode >= http.StatusBadRequest || resp.ContentLength <= 0 || resp.ContentLength > maxWhole {
		return resp, nil
	}
	body, err := io.ReadAll(resp.Body)
	err = errors.Join(err, resp.Body.Close())
	if err != nil {
		return nil, fmt.Errorf("read the reply: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}
