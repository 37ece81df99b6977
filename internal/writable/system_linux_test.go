package writable

import "testing"

func TestMount(t *testing.T) {
	for _, tt := range []struct {
		line, point, kind string
		readOnly, ok      bool
	}{
		{"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n", "/mnt2", "ext3", false, true},
		{"36 35 98:0 / /snap/core ro,nodev - squashfs /dev/loop0 ro\n", "/snap/core", "squashfs", true, true},
		{`36 35 0:9 / /mnt/a\040b\134c rw - fuse.sshfs host: rw` + "\n", `/mnt/a b\c`, "fuse", false, true},
		{"36 35 0:9 / /x rw,protect shared:1 master:2 - proc proc rw\n", "/x", "proc", false, true},
		{"36 35\n", "", "", false, false},
		{"", "", "", false, false},
	} {
		point, readOnly, kind, ok := mount(tt.line)
		if point != tt.point || readOnly != tt.readOnly || kind != tt.kind || ok != tt.ok {
			t.Errorf("mount(%q) = %q, %v, %q, %v", tt.line, point, readOnly, kind, ok)
		}
	}
	kinds := withoutDevice("nodev\tproc\nnodev\ttmpfs\n\text4\nnodev\tnfs4\n")
	for kind, want := range map[string]bool{"proc": true, "tmpfs": false, "ext4": false, "nfs4": true} {
		if kinds[kind] != want {
			t.Errorf("%s is left out: %v", kind, kinds[kind])
		}
	}
	if got := unescape(`a\`); got != `a\` {
		t.Errorf("unescape = %q", got)
	}
}
