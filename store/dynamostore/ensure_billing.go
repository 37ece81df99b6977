package dynamostore

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// ensureBilling puts right what a table that others made may be paid by: capacity that is provisioned throttles each burst,
// and nobody reads a stream. It returns what it changed, or would change. DynamoDB takes one change of a table at a time.
func (t *Table) ensureBilling(ctx context.Context, table *types.TableDescription, apply bool) ([]string, error) {
	var changes []string
	for _, c := range []struct {
		due  bool
		says string
		in   dynamodb.UpdateTableInput
	}{
		{provisioned(table), fmt.Sprintf("billing mode %s becomes %s", types.BillingModeProvisioned, types.BillingModePayPerRequest),
			dynamodb.UpdateTableInput{BillingMode: types.BillingModePayPerRequest}},
		{table.StreamSpecification != nil && aws.ToBool(table.StreamSpecification.StreamEnabled), "stream off",
			dynamodb.UpdateTableInput{StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(false)}}},
	} {
		if !c.due {
			continue
		}
		changes = append(changes, c.says)
		if !apply {
			continue
		}
		if _, err := t.active(ctx); err != nil {
			return nil, err
		}
		c.in.TableName = &t.name
		if _, err := bounded(ctx, adminTimeout, "dynamodb:UpdateTable", t.resource(), t.db.UpdateTable, &c.in); err != nil {
			return nil, fmt.Errorf("%s: %w", c.says, err)
		}
	}
	return changes, nil
}

// provisioned reports the billing mode; DynamoDB says none of a table that was never paid by request (DynamoDB API, TableDescription).
func provisioned(table *types.TableDescription) bool {
	return table.BillingModeSummary == nil || table.BillingModeSummary.BillingMode == types.BillingModeProvisioned
}
