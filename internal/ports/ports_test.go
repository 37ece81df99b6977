package ports

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// H42: a socket that listens is listed with its owner, and not once it is closed.
func TestListening_H42(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("not tried: listen on %s: %v", address, err)
			continue
		}
		mine := Listener{os.Getuid(), strings.NewReplacer("[", "", "]", "").Replace(l.Addr().String())}
		ways := map[string]func() ([]Listener, error){"Listening": Listening, "fromProc": fromProc, "fromNetlink": fromNetlink}
		if _, err := fromNetlink(); errors.Is(err, syscall.EPROTONOSUPPORT) {
			t.Log("not tried: a kernel without sock_diag")
			delete(ways, "fromNetlink")
		}
		for name, list := range ways {
			if got, err := list(); err != nil || !slices.Contains(got, mine) {
				t.Errorf("%s = %v, %v, want %v among them", name, got, err, mine)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for name, list := range ways {
			if got, err := list(); err != nil || slices.Contains(got, mine) {
				t.Errorf("%s = %v, %v, want %v gone", name, got, err, mine)
			}
		}
	}
}

// FuzzListening: no line makes the reader fail, and one of the kernel's own form says what it says.
func FuzzListening(f *testing.F) {
	f.Add("   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1", []byte{127, 0, 0, 1}, uint16(8080), uint32(1000))
	f.Add("0: é:ZZZZ x 0A x x x 1", []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, uint16(0), uint32(1<<32-1))
	f.Add("0: 0100007F0100007 x 0A x x x -1", []byte("::ffff:1.2.3.4.."), uint16(65535), uint32(0))
	f.Fuzz(func(t *testing.T, line string, address []byte, port uint16, uid uint32) {
		listening(line)
		at, ok := netip.AddrFromSlice(address)
		if !ok {
			return
		}
		var hex strings.Builder
		for word := range slices.Chunk(address, 4) {
			fmt.Fprintf(&hex, "%08X", binary.LittleEndian.Uint32(word))
		}
		line = fmt.Sprintf("   7: %s:%04X 00000000:0000 0A 00000000:00000000 00:00000000 00000000 %5d        0 4711 1 0\n", &hex, port, uid)
		want := fmt.Sprintf("%s:%d", at.Unmap(), port)
		if gotUID, got, ok := listening(line); !ok || gotUID != int(uid) || got != want {
			t.Errorf("listening(%q) = %d, %q, %t; want %d, %q", line, gotUID, got, ok, uid, want)
		}
	})
}
