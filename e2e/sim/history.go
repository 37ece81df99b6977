package sim

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/remuda-run/remuda/store"
)

// Laws that only the whole history of an instance shows.
const (
	OneHistory = "invariant 1, one history of an instance"   // all that processes wrote and read has an order
	OneHolder  = "invariant 1, no instance held by two runs" // from Ready until it is asked back
)

// longestHistory is how many accesses to one instance are remembered: the search for an order is short then.
const longestHistory = 500

// history is what the processes did to the records of instances, as they see it: when each call began and
// ended, and what it was told.
type history struct {
	w *World

	mu       sync.Mutex
	accesses map[store.Principal][]*access
	full     map[store.Principal]int64 // since when nothing new is remembered
	texts    map[uint64]string         // of contents, for people
	holds    map[store.InstanceID][]hold
	requests map[store.RequestID]store.RunRequest // as last asked for by a client
}

// register is what an instance's record holds. The zero value is absent.
type register struct {
	version int64
	expires int64  // in the time of the history; 0: never
	content uint64 // hash of the attributes
}

// outcome is how a write ended.
type outcome int

const (
	unknown outcome = iota // it may take effect at any time, or never
	applied
	refused
)

// access is one conditional write or one consistent read of one instance.
type access struct {
	who       string
	from, to  int64
	write     bool
	expect    int64
	value     register // written
	outcome   outcome
	found     register // read, or in the way of the write
	aside     int64    // how far the clock may be off that told it what had expired
	sent      int
	forgotten bool // nobody learnt anything from it
}

// hold is the time a run's client may rely on an instance.
type hold struct {
	run     store.RequestID
	attempt int
	asked   int64 // when it asked for machines
	from    int64 // when it learnt that it has this one
	to      int64 // when somebody asked for its release
}

const never = math.MaxInt64

func newHistory(w *World) *history {
	return &history{
		w: w, accesses: map[store.Principal][]*access{}, full: map[store.Principal]int64{}, texts: map[uint64]string{},
		holds: map[store.InstanceID][]hold{}, requests: map[store.RequestID]store.RunRequest{},
	}
}

func (h *history) now() int64 { return int64(h.w.since()) }

// registerOf turns an item into what the history remembers of it.
func (h *history) registerOf(item store.Item) register {
	f := fnv.New64a()
	f.Write(item.Attributes)
	r := register{version: item.Version, content: f.Sum64()}
	if !item.ExpiresAt.IsZero() {
		r.expires = int64(item.ExpiresAt.Sub(h.w.begin))
	}
	return r
}

// add remembers an access, if there is room.
func (h *history) add(p store.Principal, a *access) {
	a.aside = int64(h.w.clocks.hides())
	h.mu.Lock()
	defer h.mu.Unlock()
	switch _, full := h.full[p]; {
	case full:
	case len(h.accesses[p]) >= longestHistory:
		h.full[p] = a.from
	default:
		h.accesses[p] = append(h.accesses[p], a)
	}
}

// write begins a write. Each try of it has to be sent, and the last one answered.
func (h *history) write(p store.Principal, who, text string, value register, expect int64) *access {
	h.mu.Lock()
	h.texts[value.content] = text
	h.mu.Unlock()
	a := &access{who: who, from: h.now(), to: never, write: true, expect: expect, value: value}
	h.add(p, a)
	return a
}

// send notes that the write went out. The first of two tries has no answer.
func (h *history) send(p store.Principal, a *access) {
	h.mu.Lock()
	a.sent++
	again := a.sent > 1
	h.mu.Unlock()
	if again {
		h.add(p, &access{who: a.who, from: a.from, to: never, write: true, expect: a.expect, value: a.value, sent: 1})
	}
}

// answer ends a write.
func (h *history) answer(a *access, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var c *store.ConflictError
	switch {
	case err == nil:
		a.outcome = applied
	case errors.As(err, &c):
		a.outcome = refused
		if c.Current != nil {
			a.found = h.registerOf(*c.Current)
		}
	case errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrRefused):
		a.forgotten = true // nothing was changed
	default:
		return // it may even go out later
	}
	a.to = h.now()
}

// reads is for what a process read consistently: of the keys it asked for, what is not among items is absent.
func (h *history) reads(p *process, from int64, keys []store.Key, items []store.Item) {
	found := map[store.Key]register{}
	for _, k := range keys {
		found[k] = register{}
	}
	for _, item := range items {
		found[item.Key] = h.registerOf(item)
	}
	for k, r := range found {
		if owner, ok := k.Principal(); ok && k.Sort == store.KindInstance {
			h.add(owner, &access{who: p.name, from: from, to: h.now(), found: r})
		}
	}
}

// writes is for a write that a process begins. It returns what to call whenever it goes out, and with its answer.
func (h *history) writes(p *process, text string, item store.Item, expect int64) (sent func(), answered func(error)) {
	owner, ok := item.Key.Principal()
	if !ok || item.Key.Sort != store.KindInstance {
		if id, ok := item.Key.RequestID(); ok && item.Key.Sort == store.KindRunRequest && p.role == Client {
			var r store.RunRequest
			if err := json.Unmarshal(item.Attributes, &r); err != nil {
				h.w.verdicts.broke("records", "%v: %v", item.Key, err)
			}
			h.asks(id, r)
		}
		return func() {}, func(error) {}
	}
	a := h.write(owner, p.name, text, h.registerOf(item), expect)
	return func() { h.send(owner, a) }, func(err error) { h.answer(a, err) }
}

// found is for a record that an earlier version has left.
func (h *history) found(p store.Principal, item store.Item) {
	a := h.write(p, "the earlier version", "what was there", h.registerOf(item), 0)
	h.send(p, a)
	h.answer(a, nil)
}

// holding notes that the client of an attempt has learnt which instances are its own.
func (h *history) holding(run store.RequestID, attempt int, asked int64, instances []store.Seat) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.requests[run]; r.Attempt > attempt || r.ReleasedAttempt >= attempt {
		return // somebody asked it back meanwhile
	}
	for _, s := range instances {
		h.holds[s.InstanceID] = append(h.holds[s.InstanceID], hold{run, attempt, asked, h.now(), never})
	}
}

// asks notes what a client is about to write: it ends what the attempts before hold, and what is given back.
func (h *history) asks(run store.RequestID, r store.RunRequest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.requests[run]
	r.Attempt, r.ReleasedAttempt = max(r.Attempt, before.Attempt), max(r.ReleasedAttempt, before.ReleasedAttempt)
	h.requests[run] = r
	for id := range h.holds {
		for i := range h.holds[id] {
			held := &h.holds[id][i]
			if held.run == run && held.to == never && (held.attempt < r.Attempt || held.attempt <= r.ReleasedAttempt) {
				held.to = h.now()
			}
		}
	}
}

// check looks for an order of all accesses to each instance that explains them, and for instances in two hands.
// It returns how many accesses there were, and how many without an answer.
func (h *history) check() (all, open int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(h.accesses)) {
		ops := operations(h.accesses[p], h.full[p])
		for _, o := range ops {
			all++
			if o.Return == never {
				open++
			}
		}
		if !porcupine.CheckOperations(instanceModel, ops) {
			h.w.verdicts.broke(OneHistory, "no order of the %d accesses to %s explains what they told:\n%s", len(ops), p, h.describe(ops))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(h.holds)) {
		if ops := lockOperations(h.holds[id]); !porcupine.CheckOperations(lockModel, ops) {
			h.w.verdicts.broke(OneHolder, "%s was held by two runs at once:\n%s", id, h.describe(ops))
		}
	}
	return all, open
}

// operations turns accesses into the form of the checker. Past cut, if it is not 0, others are forgotten that may have
// changed the instance: what ended later tells nothing, and a write that ended later may have had an effect.
func operations(accesses []*access, cut int64) []porcupine.Operation {
	var out []porcupine.Operation
	for _, a := range accesses {
		a := *a
		if cut > 0 && a.to >= cut {
			a.outcome, a.to, a.forgotten = unknown, never, a.forgotten || !a.write
		}
		if !a.forgotten && (a.sent > 0 || !a.write) {
			out = append(out, porcupine.Operation{Input: a, Call: a.from, Output: a, Return: a.to})
		}
	}
	return out
}

// instanceModel is a register with compare-and-set on its version.
var instanceModel = porcupine.Model{
	Init: func() any { return register{} },
	Step: func(state, input, _ any) (bool, any) {
		have, a := state.(register), input.(access)                                            //nolint:forcetypeassert // ours
		gone := have == register{} || have.expires != 0 && have.expires-a.aside <= a.to        // it may be absent
		there := have != register{} && (have.expires == 0 || have.expires+a.aside > a.from)    // it may be there
		matches := gone && a.expect == 0 || there && a.expect != 0 && have.version == a.expect // its condition may hold
		told := gone && a.found == register{} || there && have == a.found                      // it may have found that
		switch {
		case !a.write:
			return told, have
		case a.outcome == applied:
			return matches, a.value
		case a.outcome == refused:
			fails := gone && a.expect != 0 || there && have.version != a.expect
			return told && fails, have
		case matches:
			return true, a.value
		}
		return true, have
	},
}

// lockOperation takes or gives an instance.
type lockOperation struct {
	owner string
	take  bool
}

// lockOperations turns holds into the form of the checker. A run gets an instance at some time between asking
// and learning of it, and gives it at some time after it was asked back.
func lockOperations(holds []hold) []porcupine.Operation {
	var out []porcupine.Operation
	for _, h := range holds {
		owner := fmt.Sprintf("%s/%d", h.run, h.attempt)
		out = append(out, porcupine.Operation{Input: lockOperation{owner, true}, Call: h.asked, Return: h.from})
		if h.to != never {
			out = append(out, porcupine.Operation{Input: lockOperation{owner, false}, Call: h.to, Return: never})
		}
	}
	return out
}

// lockModel is a lock: it has one owner at a time.
var lockModel = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		owner, o := state.(string), input.(lockOperation) //nolint:forcetypeassert // ours
		if o.take {
			return owner == "", o.owner
		}
		return owner == o.owner, ""
	},
}

// describe writes a history for people, a line for each operation.
func (h *history) describe(ops []porcupine.Operation) string {
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var b strings.Builder
	for _, o := range ops {
		end := "open"
		if o.Return != never {
			end = time.Duration(o.Return).String()
		}
		fmt.Fprintf(&b, "  %s to %s: ", time.Duration(o.Call), end)
		switch a := o.Input.(type) {
		case access:
			b.WriteString(h.tell(a))
		case lockOperation:
			b.WriteString(a.owner + map[bool]string{true: " has it", false: " gives it back"}[a.take])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// tell writes an access for people.
func (h *history) tell(a access) string {
	record := func(r register) string {
		if r == (register{}) {
			return "nothing"
		}
		return fmt.Sprintf("v%d (%s)", r.version, h.texts[r.content])
	}
	if !a.write {
		return fmt.Sprintf("%s reads %s", a.who, record(a.found))
	}
	did := fmt.Sprintf("%s writes %s over v%d: ", a.who, record(a.value), a.expect)
	switch a.outcome {
	case applied:
		return did + "done"
	case refused:
		return did + "refused, there is " + record(a.found)
	case unknown:
	}
	return did + "no answer"
}
