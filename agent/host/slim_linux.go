package host

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"
)

// slim drops what the start of this program, and a run that is over, needed and an idle agent does not: garbage, and pages of the
// program's file, most of which is of other verbs. The kernel reads a page again when it is needed.
func slim() error {
	debug.FreeOSMemory()
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return fmt.Errorf("read what is mapped: %w", err)
	}
	defer maps.Close()
	var errs []error
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		m, ours := mappingOf(lines.Text(), exe)
		if !ours {
			continue
		}
		if _, _, failed := unix.Syscall(unix.SYS_MADVISE, m.begin, m.end-m.begin, unix.MADV_DONTNEED); failed != 0 {
			errs = append(errs, fmt.Errorf("drop pages of %s: %w", exe, failed))
		}
	}
	return errors.Join(append(errs, lines.Err())...)
}

// mapping is a range of addresses.
type mapping struct{ begin, end uintptr }

// mappingOf reads a line of proc(5)'s maps; false unless it is of the file, and cannot be written: what was written is nowhere else.
func mappingOf(line, file string) (m mapping, ok bool) {
	var access string
	if n, err := fmt.Sscanf(line, "%x-%x %s", &m.begin, &m.end, &access); n != 3 || err != nil {
		return m, false
	}
	return m, !strings.Contains(access, "w") && strings.HasSuffix(line, " "+file)
}
