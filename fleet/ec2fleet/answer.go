package ec2fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// answerLimit bounds a call that ends machines and a page that lists them, their repetitions by the SDK included. EC2 answers
// either within a second or two. Where an answer never comes, the caller must be able to ask again before the two minutes
// are over in which a machine has to end (docs/architecture.md, "Invariants").
const answerLimit = 30 * time.Second

var errAnswerLimit = fmt.Errorf("no answer of EC2 within %s", answerLimit)

// answering is EC2 with that limit.
type answering struct{ ec2API }

func (a answering) TerminateInstances(
	ctx context.Context, in *ec2.TerminateInstancesInput, opts ...func(*ec2.Options),
) (*ec2.TerminateInstancesOutput, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, errAnswerLimit)
	defer cancel()
	return a.ec2API.TerminateInstances(ctx, in, opts...)
}

func (a answering) DescribeInstances(
	ctx context.Context, in *ec2.DescribeInstancesInput, opts ...func(*ec2.Options),
) (*ec2.DescribeInstancesOutput, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, errAnswerLimit)
	defer cancel()
	return a.ec2API.DescribeInstances(ctx, in, opts...)
}
