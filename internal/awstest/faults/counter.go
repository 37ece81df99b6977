package faults

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// Counter counts calls and the request units of DynamoDB. The zero value is ready. Safe for concurrent use.
type Counter struct {
	mu     sync.Mutex
	counts Counts
}

// Counts are the calls up to one moment, retries of the client included.
type Counts struct {
	Calls map[string]int // by service.Operation

	// Units of DynamoDB, of calls that succeeded and whose answer said so: the client, or AskCapacity,
	// must ask for it.
	ReadUnits, WriteUnits float64
	// Conditional writes that failed. DynamoDB charges them by the size of the item they met, and does
	// not say how much.
	ConditionsFailed int
}

// Snapshot returns the counts so far. The caller owns them.
func (c *Counter) Snapshot() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.counts
	out.Calls = maps.Clone(out.Calls)
	return out
}

func (c *Counter) call(op string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts.Calls == nil {
		c.counts.Calls = map[string]int{}
	}
	c.counts.Calls[op]++
}

// Since returns what was added after earlier was taken. Operations without a call are left out.
func (c Counts) Since(earlier Counts) Counts {
	calls := map[string]int{}
	for op, n := range c.Calls {
		if n != earlier.Calls[op] {
			calls[op] = n - earlier.Calls[op]
		}
	}
	return Counts{
		Calls: calls, ReadUnits: c.ReadUnits - earlier.ReadUnits, WriteUnits: c.WriteUnits - earlier.WriteUnits,
		ConditionsFailed: c.ConditionsFailed - earlier.ConditionsFailed,
	}
}

// units says of the operations of DynamoDB that consume capacity whether they write.
var units = map[string]bool{
	"GetItem": false, "BatchGetItem": false, "Query": false, "Scan": false, "TransactGetItems": false,
	"PutItem": true, "UpdateItem": true, "DeleteItem": true, "BatchWriteItem": true, "TransactWriteItems": true,
}

// askCapacity makes DynamoDB say what the call consumed.
func askCapacity(c *call) {
	if _, ok := units[c.operation]; !ok {
		return
	}
	fields := c.fields()
	if fields == nil || fields["ReturnConsumedCapacity"] != nil {
		return
	}
	fields["ReturnConsumedCapacity"] = json.RawMessage(`"TOTAL"`)
	c.body = mustJSON(fields)
}

// capacity adds what an answer of DynamoDB says was consumed.
func (c *Counter) capacity(operation string, status int, body []byte) {
	fields := object(body)
	c.mu.Lock()
	defer c.mu.Unlock()
	if status != http.StatusOK {
		switch _, code, _ := strings.Cut(text(fields["__type"]), "#"); code {
		case "ConditionalCheckFailedException", "TransactionCanceledException":
			c.counts.ConditionsFailed++
		}
		return
	}
	type consumed struct{ CapacityUnits float64 }
	var one consumed
	var many []consumed // of batches and transactions, by table
	raw := fields["ConsumedCapacity"]
	if raw == nil {
		return
	}
	if json.Unmarshal(raw, &one) == nil {
		many = []consumed{one}
	} else if json.Unmarshal(raw, &many) != nil {
		return
	}
	for _, m := range many {
		if units[operation] {
			c.counts.WriteUnits += m.CapacityUnits
		} else {
			c.counts.ReadUnits += m.CapacityUnits
		}
	}
}
