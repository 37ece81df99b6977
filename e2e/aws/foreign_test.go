package aws

import (
	"bytes"
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/remuda-run/remuda/e2e/hostile"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Limits of the controller with a hundred hostile items. DynamoDB Local stalls with more.
const (
	confined   = 256 << 20 // bytes of the controller's memory cgroup
	mostGrowth = 64        // MiB of resident memory
	mostShown  = 1_000_000 // bytes of one view
)

// The role of a workflow fills a table in DynamoDB with large items. A controller with little memory keeps running, can start again and
// answers the requests. Another run gets its runners.
func TestForeignItems_AreBounded_Review_S2_S7(t *testing.T) {
	shell, args := hostile.Confined(t, confined)
	w := newWorld(t, func(w *world) { // the hostile items stall other tests, and exhaust a small heap
		w.dynamo = awstest.OwnDynamoDBLocal(t, "2g")
		for _, p := range []endpoints{w.parts.controller, w.parts.client, w.parts.machine} {
			p["dynamodb"] = w.dynamo
		}
	})
	w.install()
	w.host()
	start := func() *program.Daemon {
		d := program.Start(t, program.Command{
			Name: "controller", Program: shell, Args: append(args, "controller"), Dir: w.dir, Env: append(w.environ(w.parts.controller), "REMUDA_INTERVALS_SCAN=3m"), Patience: patience,
		})
		d.Says("records read")
		return d
	}
	serve := func(run string) {
		for _, args := range [][]string{
			{"request", "--id", run, "--count", "1", "--resource-class", "small", "--timeout", patience.String()},
			{"dev", "submit", "--run", run, "--count", "1", "--seconds", "0.1", "--wait"},
			{"release", "--id", run},
		} {
			_, err := w.Remuda(t.Context(), args...)
			w.Check(err)
		}
	}
	d := start()
	serve("100")
	empty := hostile.Peak(t, d.Pid())
	if code := d.End(syscall.SIGTERM); code != 0 {
		t.Fatalf("the controller ends with %d", code)
	}

	// Few of them are large lists: DynamoDB Local takes seconds to read one on a busy computer. The tests of package dynamostore read all kinds.
	items := append(hostile.Items("666", 3), hostile.Texts("666", 97)...)
	began := time.Now()
	for _, item := range items { // while no one reads, which is slow beside that
		w.put(item)
	}
	t.Logf("written in %s", time.Since(began))
	d = start()
	w.notify(len(items), func(n int) store.Key { return items[n].Key })
	serve("200")
	for _, id := range []string{"666-0", "666-1", "666-text-96"} {
		w.until("request "+id+" is answered", func() bool {
			st := w.statusOf(id)
			return st.Phase == statemachine.Failed && st.Reason == reconciler.ReasonSpec && strings.Contains(st.Message, "at most 16384 bytes")
		})
	}
	grown := func(when string) {
		now, seconds := hostile.Peak(t, d.Pid()), hostile.Seconds(t, d.Pid())
		t.Logf("%s: %d MiB resident at most, %d MiB without hostile items, %.1f s of CPU", when, now, empty, seconds)
		if now > empty+mostGrowth {
			t.Errorf("%s the controller takes %d MiB, and %d MiB without hostile items: want at most %d more", when, now, empty, mostGrowth)
		}
	}
	grown("while they came")
	if code := d.End(syscall.SIGTERM); code != 0 {
		t.Fatalf("the controller ends with %d", code)
	}
	d = start()
	serve("300")
	grown("started again")
	for _, format := range []string{"table", "wide", "json"} {
		out, err := w.Remuda(t.Context(), "status", "-o", format)
		if err != nil || len(out) > mostShown {
			t.Errorf("status -o %s: %d bytes, %v, want at most %d", format, len(out), err, mostShown)
		}
		t.Logf("status -o %s: %d bytes", format, len(out))
	}
}

// put stores an item as the role of a workflow can, without the limits of package dynamostore.
func (w *world) put(item store.Item) {
	w.Helper()
	d := json.NewDecoder(bytes.NewReader(item.Attributes))
	d.UseNumber()
	var members map[string]any
	w.Check(d.Decode(&members))
	wire := valueOf(members).(*types.AttributeValueMemberM).Value
	wire["PK"], wire["SK"] = s(item.Key.Partition), s(item.Key.Sort)
	_, err := w.db().PutItem(w.Context(), &dynamodb.PutItemInput{TableName: &w.name, Item: wire})
	w.Check(err)
}

func valueOf(v any) types.AttributeValue {
	switch v := v.(type) {
	case string:
		return s(v)
	case json.Number:
		return &types.AttributeValueMemberN{Value: v.String()}
	case []any:
		out := &types.AttributeValueMemberL{}
		for _, e := range v {
			out.Value = append(out.Value, valueOf(e))
		}
		return out
	case map[string]any:
		out := map[string]types.AttributeValue{}
		for name, e := range v {
			out[name] = valueOf(e)
		}
		return m(out)
	}
	return &types.AttributeValueMemberNULL{Value: true}
}
