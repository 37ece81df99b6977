package scrub

import (
	"encoding/json"
	"os"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/process"
)

// FuzzBaselineFile: what cannot be read is an error, never an empty baseline, after which nothing would
// be held against it; what can is read again as the same.
func FuzzBaselineFile(f *testing.F) {
	f.Add([]byte(`{"format":3,"boot":"b","free":18446744073709551615,"processes":[{"pid":1,"start":2}],"ports":["0.0.0.0:22"],"kept":{"/a":"x"},"containers":{"containers":null}}`))
	f.Add([]byte(`{"free":-1}`))
	f.Add([]byte(``))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"boot":"b","home":{"/a":"x"}}`)) // format 1
	boot, err := process.BootID()                   // "" on systems that have none
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s := Scrubber{Root: t.TempDir()}
		if err := os.WriteFile(s.baselinePath(), content, 0o600); err != nil {
			t.Fatal(err)
		}
		first, err := s.remembered()
		if (err == nil) != (json.Unmarshal(content, new(Baseline)) == nil && (first.Boot != "" || boot == "") && first.Format == baselineFormat) {
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
