// Package ports lists the TCP sockets of a machine that wait for connections.
package ports

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// listenState is that of a socket that waits for connections (Linux, include/net/tcp_states.h).
const listenState = "0A"

// Listener is a socket that waits for connections.
type Listener struct {
	UID  int
	Port string // with its address, as address:port
}

// Listening lists the listeners of all users, in no order, one that accepts both of IPv4 and IPv6 once. It lists none on
// other systems than Linux.
func Listening() ([]Listener, error) {
	all, err := fromNetlink()
	if err != nil { // a kernel without it, or a sandbox
		all, err = fromProc()
	}
	if err != nil {
		return nil, fmt.Errorf("list ports: %w", err)
	}
	return all, nil
}

// fromProc reads /proc/net; there are none where there is no /proc.
func fromProc() ([]Listener, error) {
	var found []Listener
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // no IPv6, or not Linux
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			if uid, port, ok := listening(line); ok {
				found = append(found, Listener{uid, port})
			}
		}
	}
	return found, nil
}

// listening reads one line of /proc/net/tcp (proc_pid_net(5)): local address in the second field,
// state in the fourth, user in the eighth.
func listening(line string) (uid int, port string, ok bool) {
	f := strings.Fields(line)
	if len(f) < 8 || f[3] != listenState {
		return 0, "", false
	}
	uid, err := strconv.Atoi(f[7])
	if err != nil {
		return 0, "", false
	}
	address, number, _ := strings.Cut(f[1], ":")
	n, err := strconv.ParseUint(number, 16, 16)
	if err != nil {
		return 0, "", false
	}
	return uid, fmt.Sprintf("%s:%d", addressOf(address), n), true
}

// addressOf reads an address as the kernel prints it: words of 32 bits in the machine's byte order,
// which is little-endian wherever a runner exists (x64, arm64). What is none is shown as it is.
func addressOf(text string) string {
	var b []byte
	for i := 0; i+8 <= len(text); i += 8 {
		w, err := strconv.ParseUint(text[i:i+8], 16, 32)
		if err != nil {
			return text
		}
		b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	a, ok := netip.AddrFromSlice(b)
	if !ok {
		return text
	}
	return a.Unmap().String()
}
