// Package reconciler is the controller: it drives every request to an answer and every instance
// through the state machine, and terminates what nobody needs.
//
// One Operator runs per process; the lease makes one of them active. The active one keeps a View of
// all records, filled by a scan and written through, and a few workqueues of keys. Sources only add
// keys; a reconciler takes a key, looks at the present state, decides with one clock reading, makes
// one conditional write, and says when to look again. Nothing is remembered between two calls that
// the records do not also tell, so a crash at any point loses nothing.
// See docs/architecture.md#reconcilers.
package reconciler
