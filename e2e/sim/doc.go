// Package sim lives through whole installations in virtual time and breaks everything around them.
//
// A World is a store, a pool, a fleet and a GitHub in memory, with the real controllers and agents and
// with workflows that ask, run jobs and give back. Each process reaches the others only through its
// gate: one function that delays every call, makes it as weak as AWS and GitHub are, and may end the
// process in the middle of it. Below the gates stands the truth: it sees every change once and holds
// it to the invariants of docs/architecture.md#invariants, one function each, and one type for those of a subject.
//
// A test may drive a world itself, call by call and without gates: Live. The reconciler's stories do.
//
// Worlds run in testing/synctest bubbles. What fault a call meets and how long it takes is drawn from the
// seed and the call's own name, never from a sequence of draws, and no two calls end in the same
// nanosecond: one seed gives the same story. See docs/reliability.md.
package sim
