package sim

import (
	"fmt"
	"slices"
	"strings"
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
	"store.Get", "store.Scan", "store.Watch", "pool.Receive", "fleet.Plan", "fleet.List", "fleet.Template",
	"github.Runners", "github.FindRunner",
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
