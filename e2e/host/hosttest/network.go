//go:build linux

package hosttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Addresses of a machine and of what is around it, in namespaces of their own: every machine has the same.
const (
	MachineAddress = "10.99.0.2"
	siteAddress    = "10.99.0.1"
	// Outside is where a server answers that is no metadata service: who can reach it has a network.
	Outside = siteAddress + ":80"
)

// network is what a machine is connected to: a namespace of its own with one cable to another, in which the metadata
// service answers from behind, as EC2's does: its answers live for HopLimit hops. Nothing of it has a name on this computer, and
// all of it goes with the process that made it.
type network struct {
	machine, site *os.File
	closers       []io.Closer
	serving       sync.WaitGroup
	ctx           context.Context //nolint:containedctx // of connections, which end with the machine
	cut           context.CancelFunc
}

func newNetwork(hops int, metadata http.Handler) (_ *network, err error) {
	n := &network{}
	n.ctx, n.cut = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("network: %w", err), n.close())
		}
	}()
	if n.machine, err = newNamespace(); err != nil {
		return n, err
	}
	if n.site, err = newNamespace(); err != nil {
		return n, err
	}
	inside := []string{
		"link set lo up", "link add host0 type veth peer name site0 netns " + path(n.site), "addr add " + MachineAddress + "/24 dev host0",
		"link set host0 up", "route add default via " + siteAddress,
	}
	outside := []string{
		"link set lo up", "addr add 169.254.169.254/32 dev lo", "addr add " + siteAddress + "/24 dev site0", "link set site0 up",
		"route add 172.16.0.0/12 via " + MachineAddress, // networks of containers
	}
	if err = errors.Join(ip(n.machine, inside), ip(n.site, outside), forward(n.machine)); err != nil {
		return n, err
	}
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var set error
		err := c.Control(func(fd uintptr) { set = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_TTL, hops) })
		return errors.Join(err, set)
	}}
	return n, errors.Join(n.serve(config, "169.254.169.254:80", metadata), n.serve(net.ListenConfig{}, Outside, http.NotFoundHandler()))
}

func (n *network) serve(config net.ListenConfig, address string, h http.Handler) error {
	l, err := listen(n.site, config, address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	n.closers = append(n.closers, server)
	n.serving.Go(func() { _ = server.Serve(l) }) // until it is closed
	return nil
}

// path names a namespace to other programs as long as this process keeps it open.
func path(namespace *os.File) string {
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), namespace.Fd())
}

func newNamespace() (f *os.File, err error) {
	thread(func() {
		if err = unix.Unshare(unix.CLONE_NEWNET); err == nil {
			f, err = os.Open("/proc/thread-self/ns/net")
		}
	})
	return f, err
}

// thread runs f on a thread of its own, which ends with it.
func thread(f func()) {
	var done sync.WaitGroup
	done.Go(func() {
		runtime.LockOSThread()
		f()
	})
	done.Wait()
}

// within runs f in a namespace.
func within(namespace *os.File, f func() error) (err error) {
	thread(func() {
		if err = unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err == nil {
			err = f()
		}
	})
	return err
}

func ip(namespace *os.File, commands []string) error {
	return within(namespace, func() error {
		for _, c := range commands {
			if out, err := exec.Command("ip", strings.Fields(c)...).CombinedOutput(); err != nil {
				return fmt.Errorf("ip %s: %w: %s", c, err, out)
			}
		}
		return nil
	})
}

// forward does what a container engine does on a computer whose /proc/sys it may write: packets of containers pass.
func forward(namespace *os.File) error {
	return within(namespace, func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0) })
}

func listen(namespace *os.File, config net.ListenConfig, address string) (l net.Listener, err error) {
	err = within(namespace, func() (err error) {
		l, err = config.Listen(context.Background(), "tcp", address)
		return err
	})
	return l, err
}

// reach lets the machine have connections to an address of this computer at one of its own.
func (n *network) reach(at, to string) error {
	l, err := listen(n.machine, net.ListenConfig{}, at)
	if err != nil {
		return fmt.Errorf("network: %w", err)
	}
	n.closers = append(n.closers, l)
	n.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // it is closed
			}
			n.serving.Go(func() { n.pipe(c, to) })
		}
	})
	return nil
}

// pipe connects c to an address until both have said all, or the machine ends.
func (n *network) pipe(c net.Conn, to string) {
	defer c.Close()
	other, err := (&net.Dialer{}).DialContext(n.ctx, "tcp", to)
	if err != nil {
		return // as if nobody listened
	}
	defer other.Close()
	defer context.AfterFunc(n.ctx, func() { _, _ = c.Close(), other.Close() })()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, other}, {other, c}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // an error is an end, too
			if to, ok := way[0].(*net.TCPConn); ok {
				_ = to.CloseWrite()
			}
		})
	}
	both.Wait()
}

// close is for a machine that has ended: its connections end with it.
func (n *network) close() error {
	n.cut()
	var errs []error
	for _, c := range n.closers {
		errs = append(errs, c.Close())
	}
	n.serving.Wait()
	for _, f := range []*os.File{n.machine, n.site} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
