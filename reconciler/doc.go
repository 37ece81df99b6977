// Package reconciler is the controller: it drives every request to an answer and every instance
// through the state machine, and terminates what no request needs.
//
// One Operator runs per process; the lease makes one of them active. The active one keeps a cache of
// all records, filled by a scan and written through, and a few workqueues of keys. Sources only add
// keys; a reconciler takes a key, looks at the present state, decides with one clock reading, makes
// conditional writes, and says when to look again. What safety rests on is in the records, so a crash at any
// point loses nothing; what is remembered besides, such as problems and pauses, is found out anew.
// See docs/architecture.md#reconcilers.
package reconciler
