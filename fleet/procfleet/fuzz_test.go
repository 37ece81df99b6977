//go:build unix

package procfleet

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/remuda-run/remuda/fleet"
)

const someID = "i-0123456789abcdef0"

// FuzzRecord: whatever is in a machine's record, the machine keeps its name and is in a state that
// someone brings to an end.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"id":"` + someID + `","state":"up","leader":{"pid":-1,"start":0},"launchedAt":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"id":"../../x","state":"up"}`))
	f.Add([]byte(`{"id":"` + someID + `","state":"unknown"}`))
	f.Add([]byte(`{"id":`))
	f.Fuzz(func(t *testing.T, content []byte) {
		d := newDisk(t.TempDir())
		if err := os.MkdirAll(d.folder(someID), dirMode); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.folder(someID), recordFile), content, fileMode); err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		r, err := d.load(someID, now)
		if err != nil || r.ID != someID || !r.sound() {
			t.Fatalf("load = %+v, %v of %q", r, err, content)
		}
		if m := (&Fleet{boot: "another"}).view(r); m.ID != someID || m.State == fleet.Up { // its leader cannot live
			t.Errorf("view = %+v of %q", m, content)
		}
		if err := d.save(r); err != nil {
			t.Fatalf("save %+v = %v", r, err)
		}
		if again, err := d.load(someID, now); err != nil || again.ID != r.ID || again.State != r.State || again.Cause != r.Cause {
			t.Errorf("read again = %+v, %v, want %+v", again, err, r)
		}
	})
}

// FuzzJournal: a journal names machines of our own form only: its names become parts of paths.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"plan":"{}","machines":[{"id":"` + someID + `"}],"complete":false}`))
	f.Add([]byte(`{"machines":[{"id":"../../../x"}]}`))
	f.Add([]byte(`{"machines":[{}]}`))
	f.Add([]byte(`{"plan":`))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "l-1.json")
		if err := os.WriteFile(path, content, fileMode); err != nil {
			t.Fatal(err)
		}
		j, err := readJournal(path)
		for _, r := range j.Machines {
			if !idPattern().MatchString(r.ID) {
				t.Errorf("readJournal(%q) names %q, %v", content, r.ID, err)
			}
		}
	})
}
