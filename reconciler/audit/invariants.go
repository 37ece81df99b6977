package audit

import "slices"

// Part is something that an invariant must be able to see.
type Part string

// The parts beside the store, without which there is no snapshot.
const (
	Fleet  Part = "fleet"
	GitHub Part = "github"
)

// Invariant is one thing that must never happen.
type Invariant struct {
	ID    int    // 1 to 10 as in docs/architecture.md#invariants; what they rest on follows
	Name  string // names the violation, for programs
	Says  string // what never happens, for people
	Needs []Part // without them some of it, or all, cannot be seen

	check func(*Snapshot, Options, reporter)                  // of one snapshot
	step  func(was, is *Snapshot, o Options, report reporter) // of what changed between two; nil: nothing to say
}

// reporter takes what an invariant finds.
type reporter func(Violation)

// Violation is one invariant broken by one resource.
type Violation struct {
	ID        int    `json:"id"`        // of the Invariant
	Invariant string `json:"invariant"` // its Name
	Resource  string `json:"resource"`  // kind and name, such as "instance i-1"
	Problem   string `json:"problem"`   // what is wrong
	Advice    string `json:"advice"`    // what to do about it

	// Definite violations contradict within one item, so that no order of reading explains them.
	Definite bool `json:"-"`
	// Mark is what stays the same as long as it is the same violation, such as an assignment.
	Mark string `json:"-"`
}

var invariants = []Invariant{
	{ID: 1, Name: "two-owners", Says: "Two requests own one instance", check: twoOwners},
	{ID: 2, Name: "foreign-job", Says: "A job of one run runs on an instance of another", Needs: []Part{GitHub}, check: foreignJob},
	{ID: 3, Name: "outlived-threshold", Says: "A machine outlives its threshold by more than two minutes", Needs: []Part{Fleet}, check: outlivedThreshold},
	{ID: 4, Name: "unknown-machine", Says: "A machine has neither a record nor a launch that explains it", Needs: []Part{Fleet}, check: unknownMachine},
	{ID: 5, Name: "unreachable-idle", Says: "An idle instance cannot be claimed", check: unreachableIdle},
	{ID: 6, Name: "healthy-killed", Says: "A healthy, unexpired machine is killed, or a running job, because something else failed", check: healthyKilled, step: healthyKilledStep},
	{ID: 7, Name: "unanswered-request", Says: "A request is without an answer past its deadline", check: unansweredRequest},
	{ID: 8, Name: "too-many-launched", Says: "More machines are launched than needed", check: tooManyLaunched},
	{ID: 9, Name: "outside-table", Says: "A state changes outside the tables", check: outsideTable, step: outsideTableStep},
	{ID: 10, Name: "readable-secret", Says: "A secret is readable by another instance", check: readableSecret},
	{ID: 11, Name: "no-leader", Says: "There is work and no controller leads, or one writes without leading", check: noLeader, step: noLeaderStep},
	{ID: 12, Name: "unreadable-record", Says: "A record breaks its rules and is skipped", check: unreadableRecord},
	{ID: 13, Name: "vanished-machine", Says: "An instance counts as alive whose machine is gone or silent", Needs: []Part{Fleet}, check: vanishedMachine},
	{ID: 14, Name: "stray-runner", Says: "A runner stays registered that no instance uses", Needs: []Part{GitHub}, check: orphanRunner},
	{ID: 15, Name: "missing-resource", Says: "A table, queue or template that the installation needs is missing or differs", check: missingResource},
}

// Invariants returns a copy of the table.
func Invariants() []Invariant { return slices.Clone(invariants) }

// Check returns what one snapshot violates, in the order of the table. The snapshot must be sorted.
func Check(s *Snapshot, o Options) []Violation {
	var out []Violation
	for inv := range each(invariants) {
		out = append(out, inv.Check(s, o)...)
	}
	return out
}

// Step returns what the way from one snapshot to a later one violates. Both must be sorted. These
// violations have happened, whatever comes after: all are definite.
func Step(was, is *Snapshot, o Options) []Violation {
	var out []Violation
	for inv := range each(invariants) {
		if inv.step != nil {
			inv.step(was, is, o, inv.into(&out))
		}
	}
	for v := range each(out) {
		v.Definite = true
	}
	return out
}

// Check returns what one snapshot violates of this invariant alone.
func (inv *Invariant) Check(s *Snapshot, o Options) (out []Violation) {
	inv.check(s, o, inv.into(&out))
	return out
}

// into appends what is reported to out, as violations of this invariant.
func (inv *Invariant) into(out *[]Violation) reporter {
	return func(v Violation) {
		v.ID, v.Invariant = inv.ID, inv.Name
		*out = append(*out, v)
	}
}

// Confirm returns those violations of two looks at a live installation that are no accident of reading
// one thing after the other: the definite ones of either, and the others that both saw alike. Their texts
// are those of the second look.
func Confirm(first, second []Violation) []Violation {
	among := func(list []Violation, a Violation) bool {
		return slices.ContainsFunc(list, func(b Violation) bool { return a.ID == b.ID && a.Resource == b.Resource && a.Mark == b.Mark })
	}
	out := slices.DeleteFunc(slices.Clone(second), func(v Violation) bool { return !v.Definite && !among(first, v) })
	for _, f := range first {
		if f.Definite && !among(out, f) {
			out = append(out, f)
		}
	}
	slices.SortStableFunc(out, func(a, b Violation) int { return a.ID - b.ID })
	return out
}
