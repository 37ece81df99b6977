// Package audit holds an installation to what must never happen: store, fleet and GitHub are read into a
// Snapshot, and one function per invariant says what in it violates the invariant.
//
// The functions are pure: the same snapshot and options give the same violations in the same order. Each
// grants the time that the design grants, and no more, by the numbers of the configuration. So on a
// snapshot of one instant, as a simulation takes it, every violation is one. A live installation moves
// while it is read, and what seems to contradict may only have been read at two times: see Confirm.
//
// Nothing here writes anywhere. See docs/architecture.md#invariants.
package audit
