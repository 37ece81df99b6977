package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/remuda-run/remuda/internal/logkey"
)

// HookSocket is the name of the socket in Options.Dir at which a job-started hook has the agent read its record.
const HookSocket = "hook.sock"

// confirmsAtOnce bounds the hooks that are served at the same time. A listener made ahead has one job.
const confirmsAtOnce = 4

// open makes the socket, unless it is there or none is to be.
func (c *confirmer) open() error {
	c.opening.Lock()
	defer c.opening.Unlock()
	if !c.o.HookSocket || c.listener != nil {
		return nil
	}
	l, err := listenIn(c.o.Dir)
	if err != nil {
		return fmt.Errorf("open the job-started hook's socket: %w", err)
	}
	c.listener = l
	close(c.opened)
	return nil
}

// listenIn opens the socket in a folder. Who may pass the folder may connect: what it gets to know is nothing.
func listenIn(dir string) (net.Listener, error) {
	path := filepath.Join(dir, HookSocket)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // an earlier agent's
		return nil, err
	}
	folder, err := openPath(dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	l, err := net.Listen("unix", socketIn(folder))
	if err != nil {
		return nil, err
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // the name that it knows is another file's by then
	}
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// socketIn names the socket in an open folder, whose own name may be too long for an address (unix(7): 108 bytes).
func socketIn(folder *os.File) string {
	return filepath.Join("/proc/self/fd", strconv.Itoa(int(folder.Fd())), HookSocket)
}

// serve answers hooks until ctx ends, once the socket is open.
func (c *confirmer) serve(ctx context.Context) {
	if c.disk.get().Work.Ahead { // a job of the listener that an earlier agent left may wait
		if err := c.open(); err != nil {
			c.log.Error("job-started hooks cannot be answered", logkey.Error, err)
		}
	}
	if !await(ctx, c.opened) {
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = c.listener.Close() }) // that ends Accept
	defer stop()
	slots := make(chan struct{}, confirmsAtOnce)
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			if ctx.Err() == nil {
				c.log.Error("job-started hooks are not answered any more", logkey.Error, err)
			}
			return
		}
		select {
		case slots <- struct{}{}:
			serving.Go(func() {
				defer func() { <-slots }()
				c.answer(ctx, conn)
			})
		default:
			_ = conn.Close() // it asks again
		}
	}
}

// answer serves one hook: a line that is empty, or says why nothing is known yet.
func (c *confirmer) answer(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	said := ""
	if err := c.confirm(ctx); err != nil {
		said = err.Error()
	}
	_ = conn.SetWriteDeadline(c.o.Clock.Now().Add(readLimit)) // one that does not read holds no place
	_, _ = fmt.Fprintln(conn, oneLine(said))                  // it may have gone
}
