package soak

import (
	"bytes"
	"encoding/json"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
)

// restartPause is RestartSec of the controller's unit file, made short: it would only be added to every
// figure.
const restartPause = 100 * time.Millisecond

// unit is a program that is started again whenever it ends, as systemd does.
type unit struct {
	program.Command

	mu       sync.Mutex
	now      *program.Process
	stopping bool
	over     chan struct{} // closed when none runs any more
	code     int           // exit code of the last one
}

// keep starts a unit, until the test ends.
func (s *soak) keep(name string, args ...string) *unit {
	s.Helper()
	u := &unit{Command: program.Command{Name: name, Args: args, Dir: s.dir, Env: s.environ, Patience: patience}, over: make(chan struct{})}
	s.Check(u.start())
	go func() {
		defer close(u.over)
		for {
			<-u.now.Ended() // only this goroutine writes now from now on
			u.mu.Lock()
			u.code = u.now.State().ExitCode()
			stopping := u.stopping
			u.mu.Unlock()
			if stopping {
				return
			}
			time.Sleep(restartPause)
			if err := u.start(); err != nil {
				s.Errorf("start %s again: %v", name, err)
				return
			}
			s.ledger.count("restarts of controllers")
		}
	}()
	s.Cleanup(func() { u.stop(s) })
	return u
}

// start starts the program.
func (u *unit) start() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	next, err := program.Launch(u.Command)
	if err == nil {
		u.now = next
	}
	return err
}

// signal sends a signal to the program that runs now, if one does.
func (u *unit) signal(sig syscall.Signal) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.now.Signal(sig)
}

// log is all that the unit ever said.
func (u *unit) log() []byte {
	u.mu.Lock()
	defer u.mu.Unlock()
	text, err := os.ReadFile(u.now.Log)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// stop ends the unit in good order and returns the program's exit code. It may be called again.
func (u *unit) stop(s *soak) int {
	u.mu.Lock()
	u.stopping = true
	_ = u.now.Signal(syscall.SIGTERM) // it may have ended
	u.mu.Unlock()
	select {
	case <-u.over:
	case <-time.After(patience):
		s.Errorf("%s does not end within %s", u.Name, patience)
		_ = u.signal(syscall.SIGKILL) // the same
		<-u.over
	}
	return u.code
}

// said is a line of a controller's log.
type said struct {
	At     time.Time `json:"time"`
	Msg    string    `json:"msg"`
	Holder string    `json:"holder"`
	Term   int64     `json:"term"`
}

// says returns what all programs of the unit said so far, or the present one alone. Lines that are no
// records are left out.
func (u *unit) says(present bool) []said {
	text := u.log()
	if present {
		u.mu.Lock()
		text = u.now.Output()
		u.mu.Unlock()
	}
	var all []said
	for line := range bytes.Lines(text) {
		var l said
		if bytes.Contains(line, []byte("lea")) && json.Unmarshal(line, &l) == nil { // leading, lease
			all = append(all, l)
		}
	}
	return all
}

// leader returns the unit whose present program holds the lease; nil if none does for sure.
func (s *soak) leader() *unit {
	lease, err := s.store.Lease(s.Context())
	if err != nil || lease.Holder == "" {
		return nil
	}
	for _, u := range s.controllers {
		for _, l := range u.says(true) {
			if l.Msg == "this controller leads" && l.Holder == lease.Holder && l.Term == lease.Term {
				return u
			}
		}
	}
	return nil
}
