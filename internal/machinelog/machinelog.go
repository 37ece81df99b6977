// Package machinelog keeps the last output of machines beyond their end, for those who ask what happened on one.
//
// Read takes it from the files of an instance, into which jobs may have written anything: no link is followed, only
// plain files are read, and of each source no more than its end. What has the form of a secret, or is known to be one,
// leaves a machine as *** only. Store is the place that outlives machines; Folder is one. See docs/operating.md.
package machinelog

import (
	"context"
	"errors"
	"time"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// SourceBytes bounds the text of one source. It is the end that counts.
const SourceBytes = 256 << 10

// Sources.
const (
	Agent   = "agent"   // what the agent printed
	Script  = "script"  // what the operator's scripts printed
	Runner  = "runner"  // what the runner program printed, and its own log files
	Console = "console" // what the fleet kept of the machine's console
)

// Log is the last output of one machine.
type Log struct {
	InstanceID string    `json:"instanceId"`
	TakenAt    time.Time `json:"takenAt"`
	Reason     string    `json:"reason"` // why it was taken then
	Sources    []Source  `json:"sources"`
}

// Source is the end of one kind of output. Its text is valid UTF-8, but otherwise whatever was printed.
type Source struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Store keeps logs. It is safe for concurrent use; only one Put of a machine is under way at a time.
type Store interface {
	// Put keeps the log of a machine in place of an earlier one, for Keep.
	Put(ctx context.Context, l Log) error
	// Get returns the log of a machine, or ErrNone.
	Get(ctx context.Context, id string) (Log, error)
}

// ErrNone says that there is no log of a machine, or no longer.
var ErrNone = errors.New("no output of it is kept")

// idForm is the form of an instance's id (EC2; procfleet's are the same). Nothing else becomes part of a name.
var idForm = lazyregexp.New(`^i-[0-9a-f]{8,17}$`)

// ValidID reports whether there may be a machine of that id.
func ValidID(id string) bool { return idForm().MatchString(id) }
