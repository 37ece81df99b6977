package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/store"
)

// Reuse is how many of the last runs cost their instance, because the cleanup was refused.
type Reuse struct {
	Runs   int         `json:"runs"` // the number of counted runs
	Lost   int         `json:"lost"`
	Causes []LostReuse `json:"causes,omitempty"` // the most frequent first
}

// LostReuse is one cause.
type LostReuse struct {
	Cause  string `json:"cause"` // one of store.UncleanCauses
	Count  int    `json:"count"`
	Detail string `json:"detail,omitempty"` // of the newest cleanup
}

// lastRuns is how many runs a Reuse counts, and causeText how much it shows of a detail, in bytes.
const (
	lastRuns  = 10
	causeText = 120
)

// cleanup is one end of a run on an instance.
type cleanup struct {
	at            time.Time
	cause, detail string
}

// cleanups returns the cleanups in an instance's history. It skips machines that serve one run.
func cleanups(in store.Instance) (all []cleanup) {
	released := false
	for _, e := range in.History.Entries(in.CreatedAt) {
		switch {
		case e.Code == store.CodeReleased:
			released = true
		case released && e.Code == store.CodeScrubbed:
			all, released = append(all, cleanup{at: e.At}), false
		case released && e.Code == store.CodeScrubFail && e.Detail != store.UncleanOnce:
			cause := cmp.Or(e.Detail, store.UncleanOther)
			if !slices.Contains(store.UncleanCauses(), cause) {
				cause = store.UncleanOther
			}
			all, released = append(all, cleanup{e.At, cause, in.Detail}), false
		}
	}
	return all
}

// Cleanup returns the result of the last cleanup of an instance: the cause of a refusal, or "". It returns false if the instance had no
// cleanup since its last assignment.
func Cleanup(in store.Instance) (cause string, cleaned bool) {
	all := cleanups(in)
	if len(all) == 0 || !in.History.Noted(store.CodeScrubbed) && !in.History.Noted(store.CodeScrubFail) {
		return "", false
	}
	return all[len(all)-1].cause, true
}

// ReuseOf counts the last runs of these instances, including ended instances.
func ReuseOf(instances []store.Instance) Reuse {
	var all []cleanup
	for _, in := range instances {
		all = append(all, cleanups(in)...)
	}
	slices.SortStableFunc(all, func(a, b cleanup) int { return b.at.Compare(a.at) })
	all = all[:min(len(all), lastRuns)]
	out := Reuse{Runs: len(all)}
	for _, c := range all {
		if c.cause == "" {
			continue
		}
		out.Lost++
		i := slices.IndexFunc(out.Causes, func(l LostReuse) bool { return l.Cause == c.cause })
		if i < 0 {
			i = len(out.Causes)
			detail, _, _ := strings.Cut(strings.TrimPrefix(c.detail, "scrub: agent: not clean: "), "\n")
			out.Causes = append(out.Causes, LostReuse{Cause: c.cause, Detail: store.Head(detail, causeText)})
		}
		out.Causes[i].Count++
	}
	slices.SortStableFunc(out.Causes, func(a, b LostReuse) int { return b.Count - a.Count })
	return out
}

// String returns one sentence, or "" if no run cost its instance.
func (r Reuse) String() string {
	if r.Lost == 0 {
		return ""
	}
	parts := make([]string, len(r.Causes))
	for i, c := range r.Causes {
		parts[i] = cmp.Or(c.Detail, c.Cause)
		if len(r.Causes) > 1 {
			parts[i] = fmt.Sprintf("%d × %s", c.Count, parts[i])
		}
	}
	return fmt.Sprintf("%d of the last %d runs cost their instance: %s", r.Lost, r.Runs, strings.Join(parts, "; "))
}
