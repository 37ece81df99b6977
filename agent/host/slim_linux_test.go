package host

import (
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

// G15: memory that only the start of a program needed is given back, and the program goes on.
func TestSlim_G15(t *testing.T) {
	if testing.CoverMode() != "" {
		t.Skip("left out: counters of coverage are part of the program")
	}
	resident := func() uint64 {
		t.Helper()
		p, err := procfs.Self()
		if err != nil {
			t.Fatal(err)
		}
		is, err := p.NewStatus()
		if err != nil {
			t.Fatal(err)
		}
		return is.RssFile
	}
	before := resident()
	if err := slim(); err != nil {
		t.Fatalf("slim() error = %v", err)
	}
	if after := resident(); after >= before {
		t.Errorf("%d KiB of the program are resident, want fewer than before: %d", after>>10, before>>10)
	}
}

func TestMappingOf(t *testing.T) {
	const program = "/opt/remuda/bin/remuda"
	for line, want := range map[string]bool{
		"00400000-015ee000 r-xp 00000000 fe:00 9977877                            " + program:            true,
		"015ee000-02730000 r--p 011ee000 fe:00 9977877                            " + program:            true,
		"02730000-027d6000 rw-p 02330000 fe:00 9977877                            " + program:            false,
		"00400000-015ee000 r-xp 00000000 fe:00 9977877                            " + program + "-other": false,
		"00400000-015ee000 r-xp 00000000 fe:00 9977877                            /other" + program:      false,
		"296f58800000-296f59c00000 rw-p 00000000 00:00 0 ":                                               false,
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]":            false,
		"": false,
	} {
		m, ours := mappingOf(line, program)
		if ours != want || ours && m.begin >= m.end {
			t.Errorf("mappingOf(%q) = %+v, %t, want %t", line, m, ours, want)
		}
	}
}

// What a linker wrote before it made a mapping read-only stays.
func TestCleanMappings(t *testing.T) {
	const program = "/opt/remuda/bin/remuda"
	got, err := cleanMappings(strings.NewReader(`00400000-00500000 r-xp 00000000 fe:00 9977877                            `+program+`
Size:               1024 kB
Anonymous:             0 kB
AnonHugePages:         0 kB
VmFlags: rd ex mr mw me sd
00500000-00600000 r--p 00100000 fe:00 9977877                            `+program+`
Anonymous:           256 kB
00600000-00700000 rw-p 00200000 fe:00 9977877                            `+program+`
Anonymous:             0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:00 77                         /lib/libc.so.6
Anonymous:             0 kB
`), program)
	if err != nil || len(got) != 1 || got[0] != (mapping{0x400000, 0x500000}) {
		t.Errorf("cleanMappings() = %+v, %v, want the first alone", got, err)
	}
}
