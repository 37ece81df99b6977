package sim_test

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/e2e/sim"
	"github.com/remuda-run/remuda/e2e/sim/lived"
	"github.com/remuda-run/remuda/store"
)

// again tells one story that a hunt has named, and reports whether there is such a one.
func (h *hunter) again(ref lived.StoryRef) bool {
	seed, err := strconv.ParseUint(ref.Story, 10, 64)
	var o sim.Script
	var expect func(sim.Report) (what, text string)
	ok := false
	switch ref.Mode {
	case "random":
		o, ok = sim.Random(seed), err == nil
	case "kills":
		o, expect, ok = sim.Kills(seed), killsWrong, err == nil
	case "stories":
		i := slices.IndexFunc(h.standing, func(s sim.Story) bool { return s.Name == ref.Story })
		if ok = i >= 0; ok {
			o = h.standing[i].Script
		}
	case "pairs":
		o = sim.PairStory()
		if ok = ref.Story == "none"; !ok {
			o.Faults, ok = parseFaults(ref.Story)
		}
	case "singles":
		return h.againSingle(ref)
	}
	if ok {
		h.run(ref, o, expect)
	}
	return ok
}

func (h *hunter) againSingle(ref lived.StoryRef) bool {
	for i, s := range h.standing {
		rest, ok := strings.CutPrefix(ref.Story, s.Name+": ")
		if !ok {
			continue
		}
		f, ok := parseFaults(rest)
		if !ok || len(f) != 1 {
			return false
		}
		h.quiet = make([]sim.Report, i+1)
		h.quiet[i] = h.run(lived.StoryRef{Mode: "stories", Story: s.Name}, s.Script, nil)
		if slices.Contains(sim.Singles(h.quiet[i].Made), f[0]) { // a bug may bring calls that there are not without it
			h.single(s, i, f[0])
		}
		return true
	}
	return false
}

func parseFaults(text string) (out []sim.Fault, ok bool) {
	for _, one := range strings.Split(text, " and ") {
		f, err := sim.ParseFault(one)
		if err != nil {
			return nil, false
		}
		out = append(out, f)
	}
	return out, true
}

// obliging is a table that refuses nobody: who comes too late is told that it wrote.
type obliging struct{ store.Table }

func (o obliging) Put(ctx context.Context, item store.Item, expect int64) error {
	err := o.Table.Put(ctx, item, expect)
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

// A hunt sees a table that refuses no write, stops there, and names the story so that it is found again; in the
// table as it is the same story breaks nothing.
func TestHunt_FindsABrokenTable(t *testing.T) {
	h := newHunter(t, io.Discard, func(inner store.Table) store.Table { return obliging{inner} })
	h.stories()
	h.singles(0, 1, 20)
	if h.found == nil {
		t.Fatal("nothing found")
	}
	line, err := h.found.Line()
	check(t, err)
	f, ok := lived.ParseFind(strings.TrimSuffix(line, "\n"))
	if !ok || f != *h.found {
		t.Fatalf("ParseFind(%q) = %+v, %v, want %+v", line, f, ok, *h.found)
	}
	ref, _ := lived.ParseStoryRef(f.String())
	for _, under := range []func(store.Table) store.Table{h.under, nil} {
		again := newHunter(t, io.Discard, under)
		if !again.again(ref) {
			t.Fatalf("%q names no story", ref)
		}
		if (again.found != nil) != (under != nil) {
			t.Errorf("%s with the table broken %v: found %+v", ref, under != nil, again.found)
		}
	}
}

// Every mode names its stories so that they can be told again, and a hunt ends with its budget.
func TestHunt_NamesItsStories(t *testing.T) {
	var told strings.Builder
	h := newHunter(t, &told, nil)
	h.standing = h.standing[:1]
	h.stories()
	h.singles(0, 1, math.MaxInt)
	h.pair(0, 1, math.MaxInt)
	if h.found != nil {
		t.Fatalf("found %+v", h.found)
	}
	modes := map[string]bool{}
	for line := range strings.Lines(told.String()) {
		ref, ok := lived.ParseStoryRef(strings.TrimSuffix(strings.TrimPrefix(line, lived.BeginMark), "\n"))
		if ok && !modes[ref.Mode] {
			again := newHunter(t, io.Discard, nil)
			ok = again.again(ref) && again.found == nil
		}
		modes[ref.Mode] = true
		if !ok {
			t.Errorf("%q is no story", line)
		}
	}
	if len(modes) != 3 {
		t.Errorf("modes %v, want stories, singles and pairs", modes)
	}
	if h.again(lived.StoryRef{Mode: "random", Story: "x"}) || h.again(lived.StoryRef{Mode: "dreams", Story: "1"}) {
		t.Error("what is no story was told")
	}
	spent := newHunter(t, io.Discard, nil)
	spent.budget = 1
	spent.everything()
	if len(spent.quiet) != 0 {
		t.Errorf("%d stories without a budget", len(spent.quiet))
	}
}
