package store

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// emptyRecord returns a record for a sort key, nil for an unknown one.
func emptyRecord(kind string) record {
	if name, ok := strings.CutPrefix(kind, "TYPE#"); ok {
		return goldenRecords()[name].empty
	}
	return nil
}

// FuzzDecode reads whatever may be in a table. What is accepted can be written again, and is then
// read as the same record; Scan reports what is not, and goes on. H70
func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		item := readGolden(f, path)
		f.Add(item.Key.Partition, item.Key.Sort, item.Version, item.ExpiresAt.Unix(), item.Attributes)
	}
	f.Add("INSTANCE#i-1", KindSignal, int64(0), int64(0), []byte("{\"value\":{\"signal\":\"UD_OK\",\"detail\":\"\xff\"}}"))
	f.Add("LAUNCH#l", KindLaunch, int64(1), int64(0), []byte(`{"plan":null,"seats":[null]}`))
	f.Fuzz(func(t *testing.T, partition, sort string, version, expires int64, attributes []byte) {
		item := Item{Key: Key{partition, sort}, Version: version, ExpiresAt: time.Unix(expires, 0), Attributes: attributes}
		all := Visitor{
			Request: func(RunRequest) {}, Client: func(RunClient) {}, Status: func(RunStatus) {}, Instance: func(Instance) {},
			Heartbeat: func(Heartbeat) {}, Signal: func(Signal) {}, Launch: func(Launch) {}, Drain: func(DrainOrder) {}, Floor: func(Floor) {},
		}
		visited := all.visit(item)
		first := emptyRecord(sort)
		if first == nil {
			if visited == nil {
				t.Fatalf("kind %q was accepted", sort)
			}
			return
		}
		if err := decode(item, first); err != nil {
			if visited == nil && sort != KindLease && sort != KindDemand && sort != KindCosts {
				t.Fatalf("visit accepted what decode rejects: %v", err)
			}
			return
		}
		again, err := encode(first, version)
		if err != nil {
			t.Fatalf("encode() of what was read: %v", err)
		}
		if again.Key != item.Key {
			t.Fatalf("key = %v, want %v", again.Key, item.Key)
		}
		second := emptyRecord(sort)
		if err := decode(again, second); err != nil {
			t.Fatalf("decode() of what was written: %v", err)
		}
		third, err := encode(second, version)
		if err != nil || !bytes.Equal(canonical(again.Attributes), canonical(third.Attributes)) {
			t.Fatalf("written again: %s, %v, want %s", third.Attributes, err, again.Attributes)
		}
	})
}

// FuzzTime: what is accepted is written back letter by letter.
func FuzzTime(f *testing.F) {
	for _, text := range []string{`""`, `"2026-01-02T03:04:05.678Z"`, `"2026-01-02T03:04:05,678Z"`, `null`, `"0001-01-01T00:00:00.000Z"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v Time
		if err := v.UnmarshalJSON(text); err != nil {
			return
		}
		got, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("Marshal(%s) error = %v", text, err)
		}
		if !bytes.Equal(got, text) && !v.IsZero() {
			t.Fatalf("%s is written back as %s", text, got)
		}
	})
}
