package sim

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind is a fault that a call may meet.
type Kind string

// The kinds of fault.
const (
	CrashBefore Kind = "crash-before" // the process dies, the call is never made
	CrashAfter  Kind = "crash-after"  // the process dies, the call has had its effect
	LostReply   Kind = "lost-reply"   // the effect is there, the caller gets an error
	Late        Kind = "late"         // the caller gets an error, the effect comes seconds later
	Twice       Kind = "twice"        // carried out twice, the second answer is given: a retry of the SDK
	Throttled   Kind = "throttled"    // refused without effect
	Stale       Kind = "stale"        // a read answers with what was true before the last write
	Older       Kind = "older"        // the same, two to four writes back
	Torn        Kind = "torn"         // a read of several items sees each at another time, up to seconds apart
	Forgets     Kind = "forgets"      // a listing lacks one thing that the last one showed
	Hangs       Kind = "hangs"        // never carried out, and no answer until the caller gives up
	Fails       Kind = "fails"        // what the machine does itself fails
)

// weak reports whether a kind is what a contract promises anyway: nothing may come late for it.
func (k Kind) weak() bool { return k == Stale || k == Older || k == Torn || k == Twice || k == Forgets }

// Role is a kind of process.
type Role string

// The roles.
const (
	Controller Role = "controller"
	Agent      Role = "agent"
	Client     Role = "client"
)

// Site is a place in the program from which the outside is called, as far as the call itself tells:
// who calls what, about a thing in which state.
type Site struct {
	Role   Role
	Method string // contract.Method
	Detail string // kind of record and state of what it is about; may be empty
}

func (s Site) String() string { return fmt.Sprintf("%s/%s/%s", s.Role, s.Method, s.Detail) }

// Call is a call from a site about one thing.
type Call struct {
	Site

	About string // name of the record, instance or runner; may be empty
}

func (c Call) String() string { return fmt.Sprintf("%s/%s", c.Site, c.About) }

// ParseCall reads what String wrote.
func ParseCall(text string) (Call, error) {
	f := strings.SplitN(text, "/", 4)
	if len(f) != 4 || f[0] == "" || f[1] == "" {
		return Call{}, fmt.Errorf("call: must be role/contract.Method/detail/about, got %q", text)
	}
	return Call{Site{Role(f[0]), f[1], f[2]}, f[3]}, nil
}

// reads are the calls without an effect.
var reads = []string{
	"store.Get", "store.Scan", "store.Watch", "pool.Receive", "fleet.Plan", "fleet.List", "fleet.Templates",
	"github.Runners", "github.FindRunner", "github.ActiveRuns", "github.CompletedRuns", "github.WorkflowRun", "github.WorkflowJobs",
}

// Effect reports whether a call changes anything. How often a lease is renewed is chance, and counts for none.
func (s Site) Effect() bool {
	return !slices.Contains(reads, s.Method) && s.Method != "store.Ring" && !strings.HasPrefix(s.Detail, "Lease")
}

// mayBeStale are the sites whose answer the contract allows to be old. Consistent reads never are.
func (s Site) mayBeStale() bool {
	switch s.Method {
	case "store.Get":
		return strings.HasPrefix(s.Detail, "eventual")
	case "pool.Receive", "fleet.List", "github.Runners":
		return true
	}
	return false
}

// ownWorks are the machine's own works that may fail. That it cannot be halted is a matter of the fleet's.
var ownWorks = []string{"runner.Start", "machine.Scrub", "machine.Script"}

// Kinds returns the faults that a call of the site may meet. A method that nobody thought of has an effect.
func (s Site) Kinds() []Kind {
	if strings.HasPrefix(s.Method, "runner.") || strings.HasPrefix(s.Method, "machine.") {
		kinds := []Kind{CrashBefore, CrashAfter} // no network: an error there is a broken machine
		if slices.Contains(ownWorks, s.Method) {
			kinds = append(kinds, Fails)
		}
		return kinds
	}
	kinds := []Kind{CrashBefore, CrashAfter, LostReply, Throttled}
	if s.Method != "store.Watch" { // it lasts anyway
		kinds = append(kinds, Hangs)
	}
	if !slices.Contains(reads, s.Method) {
		kinds = append(kinds, Late, Twice)
	}
	if s.mayBeStale() {
		kinds = append(kinds, Stale)
	}
	switch {
	case s.Method == "store.Get" && s.mayBeStale():
		kinds = append(kinds, Older)
	case s.Method == "store.Scan":
		kinds = append(kinds, Torn)
	case s.Method == "fleet.List" && s.Detail == "all":
		kinds = append(kinds, Forgets)
	}
	return kinds
}

// Fault is one fault: what happens to the nth of the same calls in a story, from 1, by any caller.
type Fault struct {
	Call

	N    int
	Kind Kind
}

func (f Fault) String() string { return fmt.Sprintf("%s #%d %s", f.Call, f.N, f.Kind) }

// Rates are the chances, from 0 to 1, that a call meets a fault of a kind its site allows.
type Rates map[Kind]float64

// Fired is a fault that happened.
type Fired struct {
	Fault

	At      time.Duration // since the beginning of the world
	Process string
}

// faults decides what faults calls meet, and remembers the calls.
type faults struct {
	w    *World
	live func(Call) Kind // the fault of a call that passes a gate, which takes no time; nil: see Script. Set by Live

	mu    sync.Mutex
	seen  map[Call]int // of all processes
	exact map[Call]map[int]Kind
	fired []Fired
	trace uint64
	over  bool // chance has ended
}

func newFaults(w *World) *faults {
	f := &faults{w: w, seen: map[Call]int{}, exact: map[Call]map[int]Kind{}}
	for _, one := range w.o.Faults {
		in(f.exact, one.Call)[one.N] = one.Kind
	}
	return f
}

// of decides what fault a call meets, and remembers it.
func (f *faults) of(p *process, c Call, k key) Kind {
	if f.live != nil {
		return f.live(c)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[c]++
	f.trace += mix(uint64(newHash(uint64(f.w.since())).text(p.name).end().call(c))) // calls of the same instant have no order
	if f.w.o.Trace != nil {
		_, _ = fmt.Fprintf(f.w.o.Trace, "%12d %s %s\n", f.w.since(), p.name, c) // for people
	}
	kind := f.exact[c][f.seen[c]]
	if kind == "" && !f.over && len(f.w.o.Rates) > 0 {
		kind = f.drawn(c.Site, k)
	}
	if kind != "" {
		fault := Fault{c, f.seen[c], kind}
		f.fired = append(f.fired, Fired{fault, f.w.since(), p.name})
		if !kind.weak() {
			died := p.role == Controller && (kind == CrashBefore || kind == CrashAfter)
			f.w.disturbances.note(longestHang, died) // it may take so long to show
		}
		f.w.transcript.tellf("fault %s (%s)", fault, p.name)
	}
	return kind
}

// drawn throws the dice once for a call.
func (f *faults) drawn(s Site, k key) Kind {
	x := k.float()
	for _, kind := range s.Kinds() {
		if x -= f.w.o.Rates[kind]; x < 0 {
			return kind
		}
	}
	return ""
}

// end lets no call meet a fault by chance any more.
func (f *faults) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
}

// report adds the calls and their faults to the report of a story that has ended.
func (f *faults) report(r *Report) {
	r.Fired, r.Made, r.Trace = f.fired, f.seen, f.trace
	for _, n := range f.seen {
		r.Calls += n
	}
}
