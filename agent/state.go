package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// stateFile is the name of the state file in Options.Dir.
const stateFile = "agent-state.json"

// State is what the agent must remember over its own restart. It holds no secret: the job-started
// hook, which runs as the runner's user, reads it too.
type State struct {
	StartedAt  store.Time        `json:"startedAt"` // first start on this machine
	Boot       string            `json:"boot"`      // of the machine, when Work.Listener was started
	Version    int64             `json:"version"`   // highest version of the record seen; 0: none yet
	Threshold  store.Time        `json:"threshold"` // of that version
	ReadAt     store.Time        `json:"readAt"`    // when it was learned
	Script     ScriptState       `json:"script"`
	Serial     int64             `json:"serial"` // last registration used; never used again
	Work       Work              `json:"work"`
	Report     store.SignalValue `json:"report"`     // the last one, delivered or not
	Repository string            `json:"repository"` // whose jobs may run here
	Foul       string            `json:"foul"`       // why this machine may serve no run any more; "": it may
}

// ScriptState says how the pre-runner script went.
type ScriptState struct {
	Done   bool   `json:"done"`
	Failed string `json:"failed"` // status and last lines; "" if it succeeded

	Seconds store.Seconds `json:"seconds,omitempty"` // what it took, to a millisecond
}

// Work is the assignment that the machine was last made ready for. The zero value is a machine
// no run has used.
type Work struct {
	Assignment int64                  `json:"assignment"` // unknownWork: some, its number was lost
	RunID      store.RequestID        `json:"runId"`
	Dirty      bool                   `json:"dirty"`  // it could not be cleaned: nothing may run for this assignment
	Failed     bool                   `json:"failed"` // a failure was reported that only new material or another assignment ends
	Serial     int64                  `json:"serial"` // registration used for it; 0: none yet
	Name       string                 `json:"name"`   // of the runner
	Mode       store.RegistrationMode `json:"mode"`
	RunnerID   int64                  `json:"runnerId"`
	Ahead      bool                   `json:"ahead,omitempty"` // the registration was made ahead (ADR 0029)
	Online     bool                   `json:"online"`          // this registration's listener was online
	Listener   process.Ref            `json:"listener"`        // zero: none
	Boundary   string                 `json:"boundary,omitempty"`
}

// waits reports whether the machine listens ahead, and knows of no run yet that its listener is for.
func (w Work) waits() bool { return w.Ahead && w.RunID == "" }

// assumes reports whether the record gives the registration that the machine listens under ahead to a run. The listener, whatever
// became of it, is that run's then.
func (w Work) assumes(in store.Instance) bool {
	return w.waits() && !w.Dirty && in.RunID != "" && in.Ahead() && in.Registration.Serial == w.Serial
}

// used reports whether a run may have left something behind.
func (w Work) used() bool { return w.RunID != "" || w.Dirty || w.Assignment == unknownWork }

// unknownWork is the assignment of a machine whose state could not be read.
const unknownWork = -1

// disk keeps the state in memory and in a file, which is replaced as a whole.
type disk struct {
	path string
	log  *slog.Logger
	mu   sync.Mutex
	s    State
}

// openDisk reads the state at path. One that cannot be decoded is renamed to <path>.bad.
func openDisk(path string, log *slog.Logger) (*disk, error) {
	d := &disk{path: path, log: log}
	s, err := readState(path)
	_, unread := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
	case unread:
		return nil, err
	default:
		log.Error("the agent's state file was unreadable and set aside", logkey.Path, path, logkey.Error, err)
		if err := os.Rename(path, path+".bad"); err != nil {
			return nil, fmt.Errorf("set state aside: %w", err)
		}
		s = State{Work: Work{Assignment: unknownWork}}
	}
	d.s = s
	return d, nil
}

// Forget removes the state that an agent left in dir, for a machine that is another one now.
func Forget(dir string) error {
	return atomicfile.Remove(dir, stateFile, keyFile)
}

func readState(path string) (State, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return State{}, fmt.Errorf("read state: %w", err)
	}
	var s State
	if err := json.Unmarshal(b, &s); err != nil {
		return State{}, fmt.Errorf("decode state %s: %w", path, err)
	}
	return s, nil
}

func (d *disk) get() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.s
}

// update changes the state and then the file. The change stays in memory even if the file could
// not be written.
func (d *disk) update(change func(*State)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.s
	change(&d.s)
	if d.s == before {
		return nil
	}
	return atomicfile.WriteJSON(d.path, d.s, 0o644)
}

// assume stores the run that the record assigns to the machine's registration, if there is one. Only the file makes the agent work for
// a run: the job-started hook reads it. A record older than the last one is errOutdated, because the run may be released since.
func (d *disk) assume(in store.Instance) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if in.Version < d.s.Version {
		return errOutdated
	}
	if !d.s.Work.assumes(in) {
		return nil
	}
	s := d.s
	s.Work.Assignment, s.Work.RunID = in.Assignment, in.RunID
	if err := atomicfile.WriteJSON(d.path, s, 0o644); err != nil {
		return err
	}
	d.s = s
	return nil
}

var errOutdated = errors.New("a newer version of this instance's record has been read")

// save is update for a change that need not be in the file: it is known until this process ends.
func (d *disk) save(change func(*State)) {
	if err := d.update(change); err != nil {
		d.log.Error("the agent's state could not be saved", logkey.Error, err)
	}
}
