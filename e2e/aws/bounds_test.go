package aws

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// H51 H53 H70: what every principal may write does not hurt the others. A job with the role of a machine forges its
// signals and breaks its record; a workflow writes giant and unreadable requests; both notify without end, with keys as long as
// a message holds. Each request that cannot be served is told its field, the next one is served as ever, and what was broken
// is ended.
func TestBounds_NoPrincipalStopsTheOthers_H51_H53_H70(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.install()
	w.begin()
	w.warmUp("run-a", 2)
	idle := slices.DeleteFunc(w.witness.Instances(), func(in store.Instance) bool { return in.State != statemachine.Idle })
	if len(idle) != 2 {
		t.Fatalf("%d idle machines, want 2", len(idle))
	}

	w.notify(40, func(n int) store.Key {
		return store.RequestKey(store.RequestID(fmt.Sprintf("%d%s", n, strings.Repeat("9", 200_000))), store.KindRunRequest)
	})
	w.notify(500, func(n int) store.Key { return store.DrainKey(fmt.Sprintf("order-%d", n)) })
	w.notify(500, func(n int) store.Key {
		return store.RequestKey(store.RequestID(fmt.Sprintf("nobody-%d", n)), store.KindRunRequest)
	})
	giant := strings.Repeat("\x1b[2J", 60_000)
	refused := map[string]string{
		"giant-usage": "size", "giant-type": "size", "giant-class": "size", "text-count": "count: must be of type int", "text-expiry": "expiresAt",
	}
	for id := range refused {
		w.write(id, giant)
	}
	forged, broken := idle[0], idle[1]
	w.set(forged.Principal, store.KindSignal, "value", m(map[string]types.AttributeValue{
		"signal": s(string(store.RegNext)), "runId": s(""), "assignment": n(forged.Assignment), "serial": &types.AttributeValueMemberN{Value: "9223372036854775807"}, "cause": s(""), "detail": s(""),
	}))
	w.set(broken.Principal, store.KindInstance, "expiresAt", s("never"))

	began := time.Now()
	w.warmUp("run-b", 1)
	t.Logf("a run was served in %s", time.Since(began))
	for id, field := range refused {
		w.until("request "+id+" is answered", func() bool {
			st := w.statusOf(id)
			return st.Phase == statemachine.Failed && st.Reason == "invalid" && strings.Contains(st.Message, field) && len(st.Message) <= store.MaxMessage
		})
	}
	w.until("the machine that broke its record is ended", func() bool { return !slices.Contains(w.cloud.Alive(), string(broken.ID)) })
	if w.Ended() != nil {
		t.Errorf("the controller has ended: %v", w.Ended())
	}
}

// warmUp serves a run and waits until its machines are idle again.
func (w *world) warmUp(run string, count int) {
	w.Helper()
	n := fmt.Sprint(count)
	for _, args := range [][]string{
		{"request", "--id", run, "--count", n, "--resource-class", "small", "--timeout", patience.String()},
		{"dev", "submit", "--run", run, "--count", n, "--seconds", "0.1", "--wait"},
		{"release", "--id", run},
	} {
		_, err := w.Remuda(w.Context(), args...)
		w.Check(err)
	}
	w.until("the machines of "+run+" are idle again", func() bool {
		return len(slices.DeleteFunc(w.witness.Instances(), func(in store.Instance) bool { return in.PooledAt.IsZero() })) >= count
	})
}

// until waits for a condition as long as one thing may take.
func (w *world) until(what string, done func() bool) {
	w.Helper()
	w.Check(program.Until(patience, what, done))
}

// notify sends notifications as anybody who may send messages can.
func (w *world) notify(count int, key func(n int) store.Key) {
	w.Helper()
	client := sqs.NewFromConfig(awstest.Config(w, w.moto))
	queue, err := client.GetQueueUrl(w.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(w.name + "-events")})
	w.Check(err)
	var entries []sqstypes.SendMessageBatchRequestEntry
	size := 0
	send := func() {
		if len(entries) > 0 {
			_, err := client.SendMessageBatch(w.Context(), &sqs.SendMessageBatchInput{QueueUrl: queue.QueueUrl, Entries: entries})
			w.Check(err)
		}
		entries, size = nil, 0
	}
	for n := range count {
		k := key(n)
		body, err := json.Marshal(map[string]string{"PK": k.Partition, "SK": k.Sort})
		w.Check(err)
		if len(entries) == 10 || size+len(body) > 200<<10 { // SQS, "Message quotas"
			send()
		}
		entries = append(entries, sqstypes.SendMessageBatchRequestEntry{Id: aws.String(fmt.Sprint(n)), MessageBody: aws.String(string(body))})
		size += len(body)
	}
	send()
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v int64) types.AttributeValue  { return &types.AttributeValueMemberN{Value: fmt.Sprint(v)} }
func m(v map[string]types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberM{Value: v}
}

func list(v ...string) types.AttributeValue {
	out := &types.AttributeValueMemberL{}
	for _, text := range v {
		out.Value = append(out.Value, s(text))
	}
	return out
}

// write puts a request that nobody can serve, as a program in another language would, and notifies.
func (w *world) write(id, giant string) {
	w.Helper()
	item := map[string]types.AttributeValue{
		"PK": s("RUN#" + id), "SK": s(store.KindRunRequest), "version": n(1), "attempt": n(1), "count": n(1), "usageClass": list("spot"),
		"allowedInstanceTypes": list("*"), "resourceClass": s("small"), "maxRuntime": n(600), "timeout": n(600), "releasedAttempt": n(0),
		"release": s(""), "createdAt": s("2026-11-22T08:00:00Z"),
	}
	switch id {
	case "giant-usage":
		item["usageClass"] = list(giant)
	case "giant-type":
		item["allowedInstanceTypes"] = list("c*", giant)
	case "giant-class":
		item["resourceClass"] = s(giant)
	case "text-count":
		item["count"] = s("1")
	case "text-expiry":
		item["expiresAt"] = s("never")
	}
	_, err := w.db().PutItem(w.Context(), &dynamodb.PutItemInput{TableName: &w.name, Item: item})
	w.Check(err)
	w.notify(1, func(int) store.Key { return store.RequestKey(store.RequestID(id), store.KindRunRequest) })
}

// set writes one attribute as the role of a machine may.
func (w *world) set(p store.Principal, kind, attribute string, value types.AttributeValue) {
	w.Helper()
	_, err := w.db().UpdateItem(w.Context(), &dynamodb.UpdateItemInput{
		TableName: &w.name, Key: map[string]types.AttributeValue{"PK": s("INSTANCE#" + string(p)), "SK": s(kind)}, UpdateExpression: aws.String("SET #a = :v"),
		ExpressionAttributeNames: map[string]string{"#a": attribute}, ExpressionAttributeValues: map[string]types.AttributeValue{":v": value},
	})
	w.Check(err)
}

// statusOf reads the answer to a request; the zero one means none.
func (w *world) statusOf(id string) (st store.RunStatus) {
	w.Helper()
	out, err := w.db().GetItem(w.Context(), &dynamodb.GetItemInput{
		TableName: &w.name, Key: map[string]types.AttributeValue{"PK": s("RUN#" + id), "SK": s(store.KindRunStatus)}, ConsistentRead: aws.Bool(true),
	})
	w.Check(err)
	text := func(name string) string {
		if v, ok := out.Item[name].(*types.AttributeValueMemberS); ok {
			return v.Value
		}
		return ""
	}
	return store.RunStatus{Phase: statemachine.Phase(text("phase")), Reason: text("reason"), Message: text("message")}
}
