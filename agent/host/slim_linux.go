package host

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("read what is mapped: %w", err)
	}
	defer maps.Close()
	clean, err := cleanMappings(maps, exe)
	errs := []error{err}
	for _, m := range clean {
		if _, _, failed := unix.Syscall(unix.SYS_MADVISE, m.begin, m.end-m.begin, unix.MADV_DONTNEED); failed != 0 {
			errs = append(errs, fmt.Errorf("drop pages of %s: %w", exe, failed))
		}
	}
	return errors.Join(errs...)
}

// mapping is a range of addresses.
type mapping struct{ begin, end uintptr }

// cleanMappings reads proc(5)'s smaps, and returns the mappings of a file that cannot be written and were not: what was written, as a
// linker does before it forbids that, is nowhere else.
func cleanMappings(smaps io.Reader, file string) (clean []mapping, err error) {
	var m mapping
	ours := false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), ":")
		switch {
		case strings.Contains(key, "-"): // the first line of a mapping, with its addresses
			m, ours = mappingOf(lines.Text(), file)
		case ours && key == "Anonymous" && strings.TrimSpace(value) == "0 kB":
			clean = append(clean, m)
		}
	}
	return clean, lines.Err()
}

// mappingOf reads the first line of a mapping; false unless it is of the file, and cannot be written.
func mappingOf(line, file string) (m mapping, ok bool) {
	var access string
	if n, err := fmt.Sscanf(line, "%x-%x %s", &m.begin, &m.end, &access); n != 3 || err != nil {
		return m, false
	}
	return m, !strings.Contains(access, "w") && strings.HasSuffix(line, " "+file)
}
