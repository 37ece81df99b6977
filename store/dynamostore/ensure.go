package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cenkalti/backoff/v4"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/store"
)

// activeWithin is how long a new table may take to become usable, and activePoll the pause between two
// looks. An empty table takes some 10 s.
const (
	activeWithin = 5 * time.Minute
	activePoll   = time.Second
)

// keySchema is what the table must have.
const keySchema = attrPartition + " (string), " + attrSort + " (string)"

// Ensure creates the table and the queue of notifications, or repairs what differs; without apply it only says what it
// would do. It returns once the table can be used. It may be repeated, and run by two at once. Each of the
// two is seen to, whatever becomes of the other; the steps are those that succeeded.
func (t *Table) Ensure(ctx context.Context, apply bool) ([]ensure.Step, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var steps []ensure.Step
	var errs []error
	add := func(step ensure.Step, err error) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		steps = append(steps, step)
	}
	add(t.ensureTable(ctx, apply))
	step, err := t.queue.Ensure(ctx, apply)
	add(step, classified(err))
	return steps, errors.Join(errs...)
}

// Remove deletes the queue of notifications and the table with all records, or only says so unless apply is true. Each
// fails alone; one that is gone is no step.
func (t *Table) Remove(ctx context.Context, apply bool) ([]ensure.Step, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	steps, queueErr := t.queue.Remove(ctx, apply)
	table, err := t.describe(ctx)
	gone := awserr.ClassOf(err) == awserr.NotFound || err == nil && table.TableStatus == types.TableStatusDeleting
	if err == nil && !gone && apply {
		_, err = bounded(ctx, adminTimeout, "dynamodb:DeleteTable", t.resource(), t.db.DeleteTable, &dynamodb.DeleteTableInput{TableName: &t.name})
	}
	switch {
	case gone:
		err = nil
	case err == nil:
		steps = append(steps, ensure.Removal(t.resource(), apply))
	}
	return steps, errors.Join(classified(queueErr), err)
}

func (t *Table) ensureTable(ctx context.Context, apply bool) (ensure.Step, error) {
	step := ensure.Step{Resource: t.resource(), Action: ensure.Unchanged}
	table, err := t.describe(ctx)
	if awserr.ClassOf(err) == awserr.NotFound {
		if step.Action = ensure.WouldCreate; !apply {
			return step, nil
		}
		step.Action = ensure.Created
		err = t.create(ctx)
		if awserr.ClassOf(err) == awserr.Exists { // another Ensure came first
			step.Action, err = ensure.Unchanged, nil
		}
	}
	if err != nil {
		return step, err
	}
	if table == nil || table.TableStatus != types.TableStatusActive {
		if table, err = t.active(ctx, types.TableStatusUpdating); err != nil {
			return step, err
		}
	}
	if got := schemaOf(table); got != keySchema {
		return step, fmt.Errorf("%w: %s: its key is %s, must be %s: name another table in the URL of the store", store.ErrRefused, t.resource(), got, keySchema)
	}
	changes, err := t.ensureBilling(ctx, table, apply)
	if err != nil {
		return step, err
	}
	expiry, err := t.ensureExpiry(ctx, apply)
	if expiry {
		changes = append(changes, "time to live on "+attrExpires)
	}
	if err != nil || len(changes) == 0 || step.Action == ensure.Created {
		return step, err
	}
	step.Action, step.Detail = ensure.Updated, strings.Join(changes, ", ")
	if !apply {
		step.Action = ensure.WouldUpdate
	}
	return step, nil
}

func (t *Table) describe(ctx context.Context) (*types.TableDescription, error) {
	out, err := bounded(ctx, adminTimeout, "dynamodb:DescribeTable", t.resource(), t.db.DescribeTable, &dynamodb.DescribeTableInput{TableName: &t.name})
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

func (t *Table) create(ctx context.Context) error {
	_, err := bounded(ctx, adminTimeout, "dynamodb:CreateTable", t.resource(), t.db.CreateTable, &dynamodb.CreateTableInput{
		TableName:   &t.name,
		BillingMode: types.BillingModePayPerRequest, // fleets are idle most of the time, and come in bursts
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(attrPartition), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(attrSort), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(attrPartition), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(attrSort), KeyType: types.KeyTypeRange},
		},
	})
	return err
}

// active returns the table once it can be used, or has one of these states.
func (t *Table) active(ctx context.Context, or ...types.TableStatus) (table *types.TableDescription, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, activeWithin, fmt.Errorf("%s is not active after %s", t.resource(), activeWithin))
	defer cancel()
	look := func() error {
		table, err = t.describe(ctx)
		switch {
		case awserr.ClassOf(err) == awserr.Denied:
			return backoff.Permanent(err)
		case err != nil: // not found, too: DescribeTable may lag behind CreateTable
			return err
		case table.TableStatus == types.TableStatusDeleting:
			return backoff.Permanent(fmt.Errorf("%w: %s is being deleted: try again when it is gone", store.ErrUnavailable, t.resource()))
		case table.TableStatus == types.TableStatusActive, slices.Contains(or, table.TableStatus):
			return nil
		}
		return fmt.Errorf("%w: %s is %s", store.ErrUnavailable, t.resource(), strings.ToLower(string(table.TableStatus)))
	}
	if err := backoff.Retry(look, backoff.WithContext(backoff.NewConstantBackOff(activePoll), ctx)); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("wait for %s: %w", t.resource(), err)
	}
	return table, nil
}

// schemaOf returns the table's key in the form of keySchema.
func schemaOf(table *types.TableDescription) string {
	kinds := map[string]string{}
	for _, a := range table.AttributeDefinitions {
		kinds[aws.ToString(a.AttributeName)] = map[types.ScalarAttributeType]string{
			types.ScalarAttributeTypeS: "string", types.ScalarAttributeTypeN: "number", types.ScalarAttributeTypeB: "binary",
		}[a.AttributeType]
	}
	var parts []string
	for _, k := range table.KeySchema { // hash first
		name := aws.ToString(k.AttributeName)
		parts = append(parts, name+" ("+kinds[name]+")")
	}
	return strings.Join(parts, ", ")
}

// ensureExpiry turns time to live on and reports whether it was off.
func (t *Table) ensureExpiry(ctx context.Context, apply bool) (changed bool, err error) {
	status, attribute, err := t.expiry(ctx)
	if err != nil {
		return false, err
	}
	on := status == types.TimeToLiveStatusEnabled || status == types.TimeToLiveStatusEnabling
	switch {
	case on && attribute == attrExpires:
		return false, nil
	case on:
		return false, fmt.Errorf("%w: time to live of %s is on attribute %s, must be on %s: turn it off first", store.ErrRefused, t.resource(), attribute, attrExpires)
	case status == types.TimeToLiveStatusDisabling:
		return false, fmt.Errorf("%w: time to live of %s is being turned off: try again in an hour", store.ErrUnavailable, t.resource())
	case !apply:
		return true, nil
	}
	_, err = bounded(ctx, adminTimeout, "dynamodb:UpdateTimeToLive", t.resource(), t.db.UpdateTimeToLive, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &t.name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(attrExpires), Enabled: aws.Bool(true)},
	})
	if awserr.ClassOf(err) == awserr.Invalid { // so DynamoDB says that it is on already
		if status, attribute, again := t.expiry(ctx); again == nil && attribute == attrExpires &&
			(status == types.TimeToLiveStatusEnabled || status == types.TimeToLiveStatusEnabling) {
			return false, nil
		}
	}
	return err == nil, err
}

func (t *Table) expiry(ctx context.Context) (status types.TimeToLiveStatus, attribute string, err error) {
	out, err := bounded(ctx, adminTimeout, "dynamodb:DescribeTimeToLive", t.resource(), t.db.DescribeTimeToLive,
		&dynamodb.DescribeTimeToLiveInput{TableName: &t.name})
	if err != nil || out.TimeToLiveDescription == nil {
		return types.TimeToLiveStatusDisabled, "", err
	}
	return out.TimeToLiveDescription.TimeToLiveStatus, aws.ToString(out.TimeToLiveDescription.AttributeName), nil
}
