package ec2fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// answerLimit bounds one call that ends machines, and one page of what lists them, its repetitions by the SDK included. EC2
// answers each within a second or two. One that it never answers must not use up the two minutes in which a machine has to end
// (docs/architecture.md, "Invariants").
const answerLimit = 30 * time.Second

var errAnswerLimit = fmt.Errorf("no answer of EC2 within %s", answerLimit)

// answering is EC2 with that limit.
type answering struct{ ec2API }

func (a answering) TerminateInstances(
	ctx context.Context, in *ec2.TerminateInstancesInput, opts ...func(*ec2.Options),
) (*ec2.TerminateInstancesOutput, error) {
	return answered(ctx, in, opts, a.ec2API.TerminateInstances)
}

func (a answering) DescribeInstances(
	ctx context.Context, in *ec2.DescribeInstancesInput, opts ...func(*ec2.Options),
) (*ec2.DescribeInstancesOutput, error) {
	return answered(ctx, in, opts, a.ec2API.DescribeInstances)
}

func (a answering) DescribeInstanceTypes(
	ctx context.Context, in *ec2.DescribeInstanceTypesInput, opts ...func(*ec2.Options),
) (*ec2.DescribeInstanceTypesOutput, error) {
	return answered(ctx, in, opts, a.ec2API.DescribeInstanceTypes)
}

// answered makes a call, and says so where the limit ended it: the SDK names a deadline only.
func answered[In, Out any](
	ctx context.Context, in In, opts []func(*ec2.Options), call func(context.Context, In, ...func(*ec2.Options)) (Out, error),
) (Out, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, errAnswerLimit)
	defer cancel()
	out, err := call(ctx, in, opts...)
	if err != nil && errors.Is(context.Cause(ctx), errAnswerLimit) {
		err = fmt.Errorf("%w: %w", errAnswerLimit, err)
	}
	return out, err
}
