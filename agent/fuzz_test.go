package agent

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/process"
)

// FuzzStateFile: whatever the file holds, the agent starts; what it cannot read makes the machine one
// that was used, on which no job may run; and what it can is written back and read as the same.
func FuzzStateFile_S15_H49(f *testing.F) {
	f.Add([]byte(`{"startedAt":"2026-01-02T03:04:05.678Z","boot":"b","version":7,"work":{"assignment":1,"runId":"12-a","listener":{"pid":-1,"start":0}},"repository":"octo"}`), "12", "Octo/repo")
	f.Add([]byte(`{"work":{"runId":"12-a"`), "12", "octo/repo")
	f.Add([]byte(`{}`), "", "")
	f.Add([]byte(`{"work":{"runId":"-1"}}`), "", "octo/repo")
	f.Add([]byte(`{"work":{"runId":"1"},"repository":"octo"}`), "1", "octopus/repo")
	f.Fuzz(func(t *testing.T, content []byte, run, repository string) {
		dir := t.TempDir()
		path := filepath.Join(dir, stateFile)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		was, readErr := readState(path)
		allowed := JobStarted(dir, []string{"GITHUB_RUN_ID=" + run, "GITHUB_REPOSITORY=" + repository}) == nil
		if owner, _, _ := strings.Cut(repository, "/"); allowed && (readErr != nil || run == "" ||
			!strings.HasPrefix(string(was.Work.RunID)+"-", run+"-") ||
			was.Repository != "" && !strings.EqualFold(was.Repository, owner) && !strings.EqualFold(was.Repository, repository)) {
			t.Errorf("state %s: a job of run %q in %q is allowed", content, run, repository)
		}
		d, err := openDisk(path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatalf("openDisk = %v", err)
		}
		if readErr != nil && !d.get().Work.used() {
			t.Errorf("state %q cannot be read, and the machine counts as unused", content)
		}
		if err := d.update(func(s *State) { s.Serial++ }); err != nil {
			t.Fatalf("update = %v", err)
		}
		if again, err := readState(path); err != nil || again != d.get() {
			t.Errorf("read again = %+v, %v, want %+v", again, err, d.get())
		}
	})
}

// FuzzBaselineFile: what cannot be read is an error, never an empty baseline, after which nothing would
// be held against it; what can is read again as the same.
func FuzzBaselineFile(f *testing.F) {
	f.Add([]byte(`{"boot":"b","free":18446744073709551615,"processes":[{"pid":1,"start":2}],"ports":["0.0.0.0:22"],"home":{"/a":"x"},"containers":{"containers":null}}`))
	f.Add([]byte(`{"free":-1}`))
	f.Add([]byte(``))
	f.Add([]byte(`{}`))
	boot, err := process.BootID() // "" on systems that have none
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s := Scrubber{Root: t.TempDir()}
		if err := os.WriteFile(s.baselinePath(), content, 0o600); err != nil {
			t.Fatal(err)
		}
		first, err := s.remembered()
		if (err == nil) != (json.Unmarshal(content, new(Baseline)) == nil && (first.Boot != "" || boot == "")) {
			t.Fatalf("remembered = %+v, %v of %q", first, err, content)
		}
		if err != nil {
			return
		}
		text, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.baselinePath(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if second, err := s.remembered(); err != nil || !gocmp.Equal(first, second) {
			t.Errorf("read again: %v, diff %s", err, gocmp.Diff(first, second))
		}
	})
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
