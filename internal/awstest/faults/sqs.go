package faults

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"sync"
)

// queues remembers the messages that were delivered, so that they can be delivered again.
type queues struct {
	mu      sync.Mutex
	next    int                            // number of the next handle made up here
	seen    map[string]map[string]*message // by queue, by id
	handles map[string]*message            // by receipt handle, the real and the made up ones
}

// message is one that was delivered.
type message struct {
	order   int // of its first delivery
	fields  map[string]json.RawMessage
	handle  string // the service's last receipt handle
	deleted bool
	gone    bool // deleted again after it was resurrected: SQS keeps no promise, tests end somewhere
}

func newQueues() *queues {
	return &queues{seen: map[string]map[string]*message{}, handles: map[string]*message{}}
}

// queue names the queue of a call: the end of its URL.
func queue(fields map[string]json.RawMessage) string { return path.Base(text(fields["QueueUrl"])) }

// deliver answers ReceiveMessage in place of the service, or returns nil if there is nothing for this
// fault to deliver or fire says no. Of several messages, the one delivered first is chosen.
func (q *queues) deliver(c *call, kind Kind, fire func() bool) *http.Response {
	q.mu.Lock()
	defer q.mu.Unlock()
	if kind == EmptyReceive {
		if !fire() {
			return nil
		}
		return c.ok(map[string]any{})
	}
	candidates := slices.Collect(maps.Values(q.seen[queue(c.fields())]))
	candidates = slices.DeleteFunc(candidates, func(m *message) bool { return m.gone || m.deleted != (kind == Resurrect) })
	if len(candidates) == 0 || !fire() {
		return nil
	}
	m := slices.MinFunc(candidates, func(a, b *message) int { return a.order - b.order })
	q.next++
	handle := fmt.Sprintf("again-%d-%s", q.next, text(m.fields["MessageId"])) // like SQS, another for each delivery
	q.handles[handle] = m
	fields := maps.Clone(m.fields)
	fields["ReceiptHandle"] = mustJSON(handle)
	const count = "ApproximateReceiveCount"
	if attributes := object(fields["Attributes"]); attributes != nil {
		if n, err := strconv.Atoi(text(attributes[count])); err == nil {
			attributes[count] = mustJSON(strconv.Itoa(n + 1))
		}
		fields["Attributes"] = mustJSON(attributes)
		m.fields["Attributes"] = fields["Attributes"]
	}
	return c.ok(map[string]any{"Messages": []any{fields}})
}

// outgoing puts the service's receipt handles in place of those made up here. A call about nothing but
// messages that the service does not have any more is answered here, as SQS does: with success.
func (q *queues) outgoing(c *call) *http.Response {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch c.operation {
	case "DeleteMessage", "ChangeMessageVisibility":
		fields := c.fields()
		m := q.handles[text(fields["ReceiptHandle"])]
		if m == nil {
			return nil
		}
		if m.deleted {
			m.gone = m.gone || c.operation == "DeleteMessage"
			return c.ok(map[string]any{})
		}
		fields["ReceiptHandle"] = mustJSON(m.handle)
		c.body = mustJSON(fields)
	case "DeleteMessageBatch", "ChangeMessageVisibilityBatch":
		return q.batch(c)
	}
	return nil
}

// batch does so for each entry. The entries answered here are gone from the call; answered adds them.
func (q *queues) batch(c *call) *http.Response {
	fields := c.fields()
	var entries, rest []map[string]json.RawMessage
	if json.Unmarshal(fields["Entries"], &entries) != nil {
		return nil
	}
	for _, e := range entries {
		m := q.handles[text(e["ReceiptHandle"])]
		switch {
		case m == nil:
			rest = append(rest, e)
		case m.deleted:
			m.gone = m.gone || c.operation == "DeleteMessageBatch"
			c.done = append(c.done, map[string]json.RawMessage{"Id": e["Id"]})
		default:
			e["ReceiptHandle"] = mustJSON(m.handle)
			rest = append(rest, e)
		}
	}
	if len(rest) == 0 && len(c.done) > 0 {
		return c.ok(map[string]any{"Successful": c.done, "Failed": []any{}})
	}
	fields["Entries"] = mustJSON(rest)
	c.body = mustJSON(fields)
	return nil
}

// answered learns what was delivered and deleted, and returns the body for the client.
func (q *queues) answered(c *call, status int, body []byte) []byte {
	if status != http.StatusOK {
		return body
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	asked, got := c.fields(), object(body)
	switch c.operation {
	case "ReceiveMessage":
		var messages []map[string]json.RawMessage
		if json.Unmarshal(got["Messages"], &messages) == nil {
			for _, m := range messages {
				q.delivered(queue(asked), m)
			}
		}
	case "DeleteQueue", "PurgeQueue":
		delete(q.seen, queue(asked))
	case "DeleteMessage":
		q.deleted(text(asked["ReceiptHandle"]))
	case "DeleteMessageBatch", "ChangeMessageVisibilityBatch":
		var entries, successful []map[string]json.RawMessage
		if json.Unmarshal(asked["Entries"], &entries) != nil || got["Successful"] != nil && json.Unmarshal(got["Successful"], &successful) != nil {
			return body
		}
		handles := map[string]string{}
		for _, e := range entries {
			handles[text(e["Id"])] = text(e["ReceiptHandle"])
		}
		for _, s := range successful {
			if c.operation == "DeleteMessageBatch" {
				q.deleted(handles[text(s["Id"])])
			}
		}
		if len(c.done) > 0 {
			got["Successful"] = mustJSON(append(successful, c.done...))
			return mustJSON(got)
		}
	}
	return body
}

func (q *queues) delivered(queue string, fields map[string]json.RawMessage) {
	if q.seen[queue] == nil {
		q.seen[queue] = map[string]*message{}
	}
	id := text(fields["MessageId"])
	m := q.seen[queue][id]
	if m == nil {
		m = &message{order: len(q.seen[queue])}
		q.seen[queue][id] = m
	}
	m.fields, m.handle = fields, text(fields["ReceiptHandle"])
	q.handles[m.handle] = m
}

func (q *queues) deleted(handle string) {
	if m := q.handles[handle]; m != nil {
		m.deleted = true
	}
}
