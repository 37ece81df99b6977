package awscfg

import (
	"context"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// Call is one call of AWS and its outcome, to count it by. Each try of a call that is repeated is one.
type Call struct {
	Service, Operation string // as the SDK names them: DynamoDB, PutItem
	Err                error
}

type toldKey struct{}

// WithTold returns a context with which Load returns a configuration that tells of each call. told is called by many
// goroutines at once, and must not block.
func WithTold(ctx context.Context, told func(Call)) context.Context {
	return context.WithValue(ctx, toldKey{}, told)
}

// tell tells of each try: it goes behind the SDK's repetition, where that is used.
func tell(told func(Call)) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("RemudaTold",
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
				out, meta, err := next.HandleFinalize(ctx, in)
				told(Call{awsmiddleware.GetServiceID(ctx), awsmiddleware.GetOperationName(ctx), err})
				return out, meta, err
			}), middleware.After)
	}
}
