// Package faults stands between a client of AWS and a service and does what the network and AWS do on a
// bad day, on a seed: replies that get lost, errors with and without effect, throttling, messages
// delivered twice, machines that cannot be seen yet. It also counts calls.
//
// It is a [http.RoundTripper] for a client in the same process, and a proxy on loopback for another
// process, see [Proxy]. Some faults change requests, which are signed: the service behind must not
// check signatures. Those of package awstest do not.
//
// Which call a fault meets depends on the seed, the call's operation and how many calls of that operation
// came before, so what else runs at the same time does not matter.
package faults

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Kind is what goes wrong.
type Kind string

// Faults of any operation. Those that strike after the service took the request strike only if it
// succeeded; otherwise the client gets the service's own error.
const (
	LostReply     Kind = "lost reply"     // done, then the connection breaks
	ErrorAfter    Kind = "error after"    // done, then answered with status 500
	ErrorBefore   Kind = "error before"   // not done, status 500
	Throttle      Kind = "throttle"       // not done, the service's throttling error
	TimeoutAfter  Kind = "timeout after"  // done, no answer within Stall
	TimeoutBefore Kind = "timeout before" // not done, no answer within Stall
	Deny          Kind = "deny"           // not done, the caller has no permission
	CutBody       Kind = "cut body"       // done, then the connection breaks in the middle of the reply's body
	CorruptBody   Kind = "corrupt body"   // done, and the second half of the reply's body is overwritten
)

// Faults of one operation.
const (
	EmptyReceive Kind = "empty receive" // sqs.ReceiveMessage finds nothing
	Duplicate    Kind = "duplicate"     // sqs.ReceiveMessage delivers again what is hidden
	Resurrect    Kind = "resurrect"     // sqs.ReceiveMessage delivers again what was deleted
	Invisible    Kind = "invisible"     // ec2.DescribeInstances does not know a new instance for HiddenCalls calls
)

// operation is the one that a kind is for.
var operation = map[Kind]string{
	LostReply: "", ErrorAfter: "", ErrorBefore: "", Throttle: "", TimeoutAfter: "", TimeoutBefore: "", Deny: "", CutBody: "", CorruptBody: "",
	EmptyReceive: receive, Duplicate: receive, Resurrect: receive, Invisible: describe,
}

const (
	receive  = "sqs.ReceiveMessage"
	describe = "ec2.DescribeInstances"
)

// Rule lets one kind of fault happen to some operations.
type Rule struct {
	Op    string  // pattern of service.Operation as in path.Match, such as dynamodb.PutItem or sqs.*
	Kind  Kind    //
	Rate  float64 // share of the calls, above 0 up to 1; of the launched instances for Invisible
	Limit int     // at most so many times; 0: no limit
}

func (r Rule) String() string { return fmt.Sprintf("%s of %s at rate %g", r.Kind, r.Op, r.Rate) }

// Faults says what happens. The first rule that strikes a call wins. Without rules, calls are counted.
type Faults struct {
	Seed        uint64
	Rules       []Rule
	Stall       time.Duration // how long a call hangs that times out, if the client waits; 0: it fails at once
	HiddenCalls int           // for Invisible: answers that an instance is missing from; 0: 2
	AskCapacity bool          // add ReturnConsumedCapacity to calls of DynamoDB that take it
}

func (f Faults) check() error {
	for i, r := range f.Rules {
		only, known := operation[r.Kind]
		_, err := path.Match(r.Op, "")
		switch {
		case !known:
			return fmt.Errorf("rule %d: Kind %q: no such kind", i, r.Kind)
		case err != nil || r.Op == "":
			return fmt.Errorf("rule %d: Op %q: want a pattern of service.Operation", i, r.Op)
		case only != "" && r.Op != only:
			return fmt.Errorf("rule %d: Op %q: want %s, the only one for %s", i, r.Op, only, r.Kind)
		case !(r.Rate > 0 && r.Rate <= 1):
			return fmt.Errorf("rule %d: Rate %g: want above 0, up to 1", i, r.Rate)
		case r.Limit < 0:
			return fmt.Errorf("rule %d: Limit %d: want 0 or more", i, r.Limit)
		}
	}
	if f.Stall < 0 || f.HiddenCalls < 0 {
		return fmt.Errorf("limits: Stall %s, HiddenCalls %d: want 0 or more", f.Stall, f.HiddenCalls)
	}
	return nil
}

// Hit is a fault that struck an operation.
type Hit struct {
	Op   string
	Kind Kind
}

// dice decides which rule strikes, and remembers what did. Safe for concurrent use.
type dice struct {
	seed  uint64
	rules []Rule

	mu    sync.Mutex
	off   bool
	calls map[string]uint64 // by operation
	fired []int             // by rule
	hits  map[Hit]int
}

// number returns the number of this call among those of the operation, from 0.
func (d *dice) number(op string) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.calls[op]
	d.calls[op]++
	return n
}

// strikes reports whether rule i strikes the n-th call of op. It does not count as fired yet.
func (d *dice) strikes(i int, op string, n uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.rules[i]
	if match, _ := path.Match(r.Op, op); !match || d.spent(i) { // the pattern is valid, see check
		return false
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", i, op)
	return rand.New(rand.NewPCG(d.seed^h.Sum64(), n)).Float64() < r.Rate
}

// spent reports whether rule i must not strike any more. The lock is held.
func (d *dice) spent(i int) bool {
	return d.off || d.rules[i].Limit > 0 && d.fired[i] >= d.rules[i].Limit
}

// fire counts that rule i struck op. It reports false if it must not, for its limit was reached or faults
// were turned off meanwhile.
func (d *dice) fire(i int, op string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.spent(i) {
		return false
	}
	d.fired[i]++
	d.hits[Hit{Op: op, Kind: d.rules[i].Kind}]++
	return true
}

// Enable turns all faults on, as they are at first, or off. Calls are counted either way.
func (t *Transport) Enable(on bool) {
	t.dice.mu.Lock()
	defer t.dice.mu.Unlock()
	t.dice.off = !on
}

// Fired returns how often which fault struck.
func (t *Transport) Fired() map[Hit]int {
	t.dice.mu.Lock()
	defer t.dice.mu.Unlock()
	return maps.Clone(t.dice.hits)
}

// MustFire fails the test if a rule never struck: then the test has shown nothing about it.
func (t *Transport) MustFire(tb testing.TB) {
	tb.Helper()
	t.dice.mu.Lock()
	defer t.dice.mu.Unlock()
	var idle []string
	for i, n := range t.dice.fired {
		if n == 0 {
			idle = append(idle, t.dice.rules[i].String())
		}
	}
	if slices.Sort(idle); len(idle) > 0 {
		tb.Errorf("seed %d: these faults never struck: %s", t.dice.seed, strings.Join(idle, "; "))
	}
}
