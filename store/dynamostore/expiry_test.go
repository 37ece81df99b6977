package dynamostore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H51: whatever an agent writes into the expiry of its own record, the record is there or it is not: for reads, for
// conditional writes and for a new record, alike.
func TestExpiry_OfAnOwnRecord_TakesItAway_H51(t *testing.T) {
	cfg := local(t, nil)
	u := create(t, cfg)
	table := open(t, u, cfg, clock.RealClock{})
	st := store.New(table)
	n := func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
	for name, tt := range map[string]struct {
		value types.AttributeValue
		gone  bool
	}{
		"Text": {s("never"), true}, "True": {&types.AttributeValueMemberBOOL{Value: true}, true}, "Null": {&types.AttributeValueMemberNULL{Value: true}, true},
		"List": {&types.AttributeValueMemberL{}, true}, "Negative": {n("-1"), true}, "Past": {n("1"), true}, "PastInParts": {n("1.5"), true},
		"Milliseconds": {n("1767409445000"), true}, "Huge": {n("1e100"), true}, "Tiny": {n("1e-100"), true},
		"Future": {n("4102444800"), false}, "FutureInParts": {n("4102444800.5"), false},
	} {
		t.Run(name, func(t *testing.T) {
			p := store.Principal("AROA:i-" + name)
			now := time.Now()
			in, err := st.Register(t.Context(), store.Instance{Principal: p, ID: store.InstanceID("i-" + name), RunID: "1", LaunchToken: "l-1"}, now, time.Hour)
			if err != nil {
				t.Fatalf("Register() error = %v", err)
			}
			_, err = dynamodb.NewFromConfig(cfg).UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: &u.Host, Key: map[string]types.AttributeValue{"PK": s("INSTANCE#" + string(p)), "SK": s(store.KindInstance)},
				UpdateExpression: aws.String("SET expiresAt = :e"), ExpressionAttributeValues: map[string]types.AttributeValue{":e": tt.value},
			})
			if err != nil {
				t.Fatalf("UpdateItem() error = %v", err)
			}
			_, err = st.Instance(t.Context(), store.Consistent, p)
			if gone := errors.Is(err, store.ErrNotFound); gone != tt.gone || !gone && err != nil {
				t.Errorf("Instance() error = %v, want it gone: %v", err, tt.gone)
			}
			_, err = st.Transition(t.Context(), in, store.Transition{Event: statemachine.Rejected, Now: now})
			if gone := errors.Is(err, store.ErrConflict); gone != tt.gone || !gone && err != nil {
				t.Errorf("Transition() error = %v, want a conflict: %v", err, tt.gone)
			}
			if !tt.gone {
				return
			}
			if _, err := st.Register(t.Context(), store.Instance{Principal: p, ID: in.ID, RunID: "2", LaunchToken: "l-2"}, now, time.Hour); err != nil {
				t.Errorf("Register() over it: error = %v", err)
			}
		})
	}
}
