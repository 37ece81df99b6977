package actionsrunner

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// writes says when a file is written to, or closed by one who wrote it, which is how the end of a process shows.
type writes struct {
	events *os.File
	seen   chan struct{} // holds one at most
	done   chan struct{} // closed when its goroutine has ended
}

// watchWrites begins to watch f. The kernel grants a user few watches (fs.inotify.max_user_instances, 128): an error means
// that there is none. The caller closes it.
func watchWrites(f *os.File) (*writes, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", f.Name(), err)
	}
	w := &writes{events: os.NewFile(uintptr(fd), "inotify"), seen: make(chan struct{}, 1), done: make(chan struct{})}
	// By its descriptor: another file may have its name by now.
	if _, err := unix.InotifyAddWatch(fd, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.IN_MODIFY|unix.IN_CLOSE_WRITE); err != nil {
		_ = w.events.Close() // nothing was read
		return nil, fmt.Errorf("watch %s: %w", f.Name(), err)
	}
	go w.run()
	return w, nil
}

// run ends with close.
func (w *writes) run() {
	defer close(w.done)
	for b := make([]byte, unix.SizeofInotifyEvent*16); ; {
		if _, err := w.events.Read(b); err != nil {
			return
		}
		poke(w.seen)
	}
}

// close ends the watch.
func (w *writes) close() {
	_ = w.events.Close() // it was only read
	<-w.done
}
