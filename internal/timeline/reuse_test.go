package timeline_test

import (
	"testing"
	"time"

	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/store"
)

// begun is when the instances of these tests were made.
var begun = store.At(time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC))

// serve returns an instance with a history: each text is a code, with a detail after a blank, a second after the one before.
func serve(from int, detail string, entries ...store.Entry) store.Instance {
	in := store.Instance{CreatedAt: begun, Detail: detail}
	for i, e := range entries {
		e.At = begun.Add(time.Duration(from+i) * time.Second)
		in.History = in.History.With(begun, e)
	}
	return in
}

var (
	released = store.Entry{Code: store.CodeReleased, Detail: "drain"}
	clean    = store.Entry{Code: store.CodeScrubbed}
)

func unclean(cause string) store.Entry { return store.Entry{Code: store.CodeScrubFail, Detail: cause} }

// The last ten runs are counted by the result of their cleanup. Cleanups without a run, and machines that serve one run, do not count.
func TestReuseOf_Review_R16(t *testing.T) {
	port := "scrub: agent: not clean: port 4317 in use: a process listens on 0.0.0.0:4317"
	for name, tt := range map[string]struct {
		instances []store.Instance
		want      string
		runs      int
	}{
		"None":        {nil, "", 0},
		"AllClean":    {[]store.Instance{serve(0, "", released, clean, released, clean)}, "", 2},
		"One":         {[]store.Instance{serve(0, port, released, clean, released, unclean("port"))}, "1 of the last 2 runs cost their instance: port 4317 in use: a process listens on 0.0.0.0:4317", 2},
		"Once":        {[]store.Instance{serve(0, "x", released, unclean(store.UncleanOnce))}, "", 0},
		"WithoutARun": {[]store.Instance{serve(0, "x", clean, unclean("files"))}, "", 0},
		"OldAgent":    {[]store.Instance{serve(0, "", released, unclean(""))}, "1 of the last 1 runs cost their instance: other", 1},
		"Foreign":     {[]store.Instance{serve(0, "", released, unclean("of a later version"))}, "1 of the last 1 runs cost their instance: other", 1},
		"Several": {[]store.Instance{
			serve(0, "disk of /: 1 MiB are free", released, unclean("disk")), serve(100, port, released, unclean("port")),
			serve(200, "scrub: agent: not clean: port 80 in use\nmore", released, unclean("port")), serve(300, "", released, clean),
		}, "3 of the last 4 runs cost their instance: 2 × port 80 in use; 1 × disk of /: 1 MiB are free", 4},
		"LastTen": {[]store.Instance{serve(0, "old", released, unclean("files")), serve(10, "", released, clean, released, clean, released, clean, released, clean, released, clean,
			released, clean, released, clean, released, clean, released, clean, released, clean)}, "", 10},
	} {
		t.Run(name, func(t *testing.T) {
			got := timeline.ReuseOf(tt.instances)
			if got.String() != tt.want || got.Runs != tt.runs {
				t.Errorf("ReuseOf = %q of %d, want %q of %d", got, got.Runs, tt.want, tt.runs)
			}
		})
	}
}

// A cleanup is reported until the instance is assigned again.
func TestCleanup_Review_R16(t *testing.T) {
	for name, tt := range map[string]struct {
		in      store.Instance
		cause   string
		cleaned bool
	}{
		"Clean":   {serve(0, "", released, clean), "", true},
		"Refused": {serve(0, "", released, unclean("disk")), "disk", true},
		"Claimed": {serve(0, "", released, clean, store.Entry{Code: store.CodeClaimed, Detail: "2"}), "", false},
		"Busy":    {serve(0, "", store.Entry{Code: store.CodeHandedOver}), "", false},
	} {
		if cause, cleaned := timeline.Cleanup(tt.in); cause != tt.cause || cleaned != tt.cleaned {
			t.Errorf("%s: Cleanup = %q, %v, want %q, %v", name, cause, cleaned, tt.cause, tt.cleaned)
		}
	}
}
