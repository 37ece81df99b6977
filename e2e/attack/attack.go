// Package attack is the test's side of program hostile: it builds the program and holds the lifelines of its attacks.
package attack

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Build builds program hostile into a file.
func Build(t testing.TB, file string) {
	t.Helper()
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, "github.com/remuda-run/remuda/e2e/attack/hostile")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // the machines of tests have other libraries, or none
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build program hostile: %v: %s", err, out)
	}
}

// Lines are the lifelines of attacks. An attack inherits its lifeline to every process that it has, so the kernel closes the lifeline
// when the last one ends.
type Lines struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu  sync.Mutex
	all []*Line // the oldest first
}

// Line is one lifeline.
type Line struct {
	Name string // as the attack has it
	PID  string // of its first process, in its own namespace

	conn net.Conn
	mu   sync.Mutex
	said []string // what the attack reported, the introduction first
	over bool     // no process is left
}

// Listen starts to wait for lifelines, until the test ends. Then it closes them, and every attack that reads its lifeline exits.
func Listen(t testing.TB) *Lines {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	lines := &Lines{listener: l}
	failed := make(chan error, 1)
	go func() { failed <- lines.accept() }()
	t.Cleanup(func() {
		err := errors.Join(l.Close(), <-failed)
		for _, line := range lines.lines("") {
			_ = line.conn.Close() // most are closed
		}
		lines.serving.Wait()
		if err != nil {
			t.Error(err)
		}
	})
	return lines
}

// Address is where attacks find the test.
func (l *Lines) Address() string { return l.listener.Addr().String() }

func (l *Lines) accept() error {
	for {
		c, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept a lifeline: %w", err)
		}
		l.serving.Go(func() { l.serve(c) })
	}
}

// serve reads a lifeline until it is closed. The attack begins once it is answered, so no attack lives that is not in the list.
func (l *Lines) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	text, err := r.ReadString('\n')
	name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	pid, rest, _ := strings.Cut(rest, " ")
	if err != nil || rest == "" {
		return // it ended before it began
	}
	line := &Line{Name: name, PID: pid, conn: c, said: []string{rest}}
	l.mu.Lock()
	l.all = append(l.all, line)
	l.mu.Unlock()
	_, err = c.Write([]byte{'!'})
	for err == nil {
		if text, err = r.ReadString('\n'); err == nil {
			line.mu.Lock()
			line.said = append(line.said, strings.TrimSpace(text))
			line.mu.Unlock()
		}
	}
	line.mu.Lock()
	defer line.mu.Unlock()
	line.over = true
}

func (l *Lines) lines(prefix string) (found []*Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.HasPrefix(line.Name, prefix) {
			found = append(found, line)
		}
	}
	return found
}

// Stood returns the lifelines, alive or not, whose names begin with a prefix.
func (l *Lines) Stood(prefix string) []*Line { return l.lines(prefix) }

// Alive returns the lifelines of attacks that still have a process.
func (l *Lines) Alive(prefix string) (alive []*Line) {
	for _, line := range l.lines(prefix) {
		if !line.Over() {
			alive = append(alive, line)
		}
	}
	return alive
}

// Over reports whether the attack has no process anymore.
func (l *Line) Over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// Said returns what the attack reported.
func (l *Line) Said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.said, "; ")
}

// Steal asks a chain for the tokens that it finds now. It answers with one more line in Said, or ends.
func (l *Line) Steal() {
	_, _ = l.conn.Write([]byte{'s'}) // it may end just now
}

// Answered reports whether Steal has its answer, or can have none.
func (l *Line) Answered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over || len(l.said) > 1
}

// End closes a lifeline: every process that reads it ends.
func (l *Line) End() {
	if c, ok := l.conn.(*net.TCPConn); ok {
		_ = c.CloseWrite() // it may have ended
	}
}
