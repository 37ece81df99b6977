package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// listenState is that of a socket that waits for connections (Linux, include/net/tcp_states.h).
const listenState = "0A"

// ports lists the TCP sockets that listen, of anybody on a machine of its own, else of the runner's
// user; none where no user is the runs' alone: then jobs and the machine's own services cannot be told
// apart, and what descends from jobs is ended without.
func (s Scrubber) ports() ([]string, error) {
	if s.User == nil {
		return nil, nil
	}
	var found []string
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // no IPv6, or not Linux
		}
		if err != nil {
			return nil, fmt.Errorf("list ports: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			uid, port, ok := listening(line)
			if ok && (s.Whole || uid == s.User.UID) {
				found = append(found, port)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
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
