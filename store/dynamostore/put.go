package dynamostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/remuda-run/remuda/store"
)

// Conditions of a Put. An item past its expiry counts as absent; DynamoDB removes it hours later. So does one whose
// expiry is no instant, which DynamoDB would keep for ever: an instance can write that into its own record.
const (
	ifAbsent  = "attribute_not_exists(#pk) OR attribute_exists(#expires) AND NOT #expires BETWEEN :next AND :last"
	ifCurrent = "#version = :expect AND (attribute_not_exists(#expires) OR #expires BETWEEN :next AND :last)"
)

// agentPartition begins the partitions of instances, and agentAttributes are all that their agents may
// write there: the policy of an agent allows UpdateItem on these names and nothing else (deploy/iam).
const agentPartition = "INSTANCE#"

var agentAttributes = []string{"value", "updatedAt", "beat", attrExpires}

// Put implements store.Table. It makes one try. Who writes notifies next: the queue's address is looked up meanwhile.
//
// An unconditional item of an instance's partition that has only attributes of the agent is written by
// UpdateItem, which leaves other attributes as they are. There are none, since such a key has one writer.
func (t *Table) Put(ctx context.Context, item store.Item, expect int64) error {
	if err := t.usable(); err != nil {
		return err
	}
	if err := item.Valid(expect); err != nil {
		return err
	}
	wire, err := encode(item)
	if err != nil {
		return fmt.Errorf("put %s %s: %w: %w", item.Key.Partition, item.Key.Sort, store.ErrInvalid, err)
	}
	t.queue.Prepare(ctx)
	if expect == store.Unconditional && ofAgent(item.Key, wire) {
		return t.update(ctx, item.Key, wire)
	}
	now := t.clock.Now().Unix()
	in := &dynamodb.PutItemInput{TableName: &t.name, Item: wire}
	if expect != store.Unconditional {
		conditional(in, expect, now)
	}
	var old answer
	_, err = bounded(ctx, t.itemLimit, "dynamodb:PutItem", t.resource(), t.db.PutItem, in, old.into)
	if failed := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &failed) {
		return t.conflict(item.Key, expect, old.items, now)
	}
	return err
}

// conditional lets in succeed only over version expect (0: absent or expired), and otherwise return
// what is stored, at no further cost.
func conditional(in *dynamodb.PutItemInput, expect, now int64) {
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	in.ExpressionAttributeNames = map[string]string{"#expires": attrExpires}
	in.ExpressionAttributeValues = attributes{":next": integer(now + 1), ":last": integer(lastExpiry)}
	if expect == 0 {
		in.ConditionExpression = aws.String(ifAbsent)
		in.ExpressionAttributeNames["#pk"] = attrPartition
		return
	}
	in.ConditionExpression = aws.String(ifCurrent)
	in.ExpressionAttributeNames["#version"] = attrVersion
	in.ExpressionAttributeValues[":expect"] = integer(expect)
}

// conflict returns the *store.ConflictError that carries what was stored at now.
func (t *Table) conflict(key store.Key, expect int64, old []store.Item, now int64) error {
	out := &store.ConflictError{Key: key, Expect: expect}
	if len(old) > 0 && !expired(old[0], now) {
		out.Current = &old[0]
	}
	return out
}

// update writes the agent's attributes, and removes those of them that the item does not have.
func (t *Table) update(ctx context.Context, key store.Key, wire attributes) error {
	in := &dynamodb.UpdateItemInput{TableName: &t.name, Key: keyOf(key), ExpressionAttributeNames: map[string]string{}}
	var set, remove []string
	for _, name := range agentAttributes {
		in.ExpressionAttributeNames["#"+name] = name
		v, ok := wire[name]
		if !ok {
			remove = append(remove, "#"+name)
			continue
		}
		if in.ExpressionAttributeValues == nil {
			in.ExpressionAttributeValues = attributes{}
		}
		in.ExpressionAttributeValues[":"+name] = v
		set = append(set, "#"+name+" = :"+name)
	}
	var clauses []string
	if len(set) > 0 {
		clauses = append(clauses, "SET "+strings.Join(set, ", "))
	}
	if len(remove) > 0 {
		clauses = append(clauses, "REMOVE "+strings.Join(remove, ", "))
	}
	in.UpdateExpression = aws.String(strings.Join(clauses, " "))
	_, err := bounded(ctx, t.itemLimit, "dynamodb:UpdateItem", t.resource(), t.db.UpdateItem, in)
	return err
}

// ofAgent reports whether an agent may write the item.
func ofAgent(key store.Key, wire attributes) bool {
	for name := range wire {
		if name != attrPartition && name != attrSort && !slices.Contains(agentAttributes, name) {
			return false
		}
	}
	return strings.HasPrefix(key.Partition, agentPartition)
}

// expired reports whether item counts as absent at now, in epoch seconds.
func expired(item store.Item, now int64) bool {
	return !item.ExpiresAt.IsZero() && item.ExpiresAt.Unix() <= now
}

func (t *Table) resource() string { return "table " + t.name }
