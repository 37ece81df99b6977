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

// promptly makes a call within that limit, and says so where it ended the call: the SDK names a deadline only.
func promptly[Out any](ctx context.Context, call func(context.Context) (Out, error)) (Out, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerLimit, errAnswerLimit)
	defer cancel()
	out, err := call(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errAnswerLimit) {
		err = fmt.Errorf("%w: %w", errAnswerLimit, err)
	}
	return out, err
}

// pager is a paginator of the SDK's.
type pager[Out any] interface {
	HasMorePages() bool
	NextPage(ctx context.Context, opts ...func(*ec2.Options)) (*Out, error)
}

// prompt are pages of which each comes promptly.
type prompt[Out any] struct{ pager[Out] }

func (p prompt[Out]) NextPage(ctx context.Context, opts ...func(*ec2.Options)) (*Out, error) {
	return promptly(ctx, func(ctx context.Context) (*Out, error) { return p.pager.NextPage(ctx, opts...) })
}

// collect returns the items of all pages, or of those before an error.
func collect[Out, Item any](ctx context.Context, pages pager[Out], items func(*Out) []Item) ([]Item, error) {
	var all []Item
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return all, err
		}
		all = append(all, items(out)...)
	}
	return all, nil
}
