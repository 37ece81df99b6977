package contain

import (
	"bufio"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
)

// reports are what helpers of jobs say: over a connection, since every file of theirs is removed.
type reports struct {
	listener net.Listener
	mu       sync.Mutex
	said     map[string][]string // by name, the oldest first
}

func newReports(t testing.TB) *reports {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &reports{listener: l, said: map[string][]string{}}
	done := make(chan error, 1)
	go func() { done <- r.serve() }()
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), <-done); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *reports) serve() error {
	for {
		c, err := r.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if name, text, _ := strings.Cut(strings.TrimSpace(line), " "); err == nil { // not one that was killed meanwhile
			r.mu.Lock()
			r.said[name] = append(r.said[name], text)
			r.mu.Unlock()
		}
		_ = c.Close() // nothing was written
	}
}

// of returns what was said under a name last; "" if nothing was.
func (r *reports) of(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if all := r.said[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}
