package timeline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/store"
)

// letters stand for the phases in the detail of store.CodePhases, which has to be short.
var letters = map[Name]string{
	Accepted: "a", Handshake: "x", Claimed: "c", Launch: "l", Boot: "b", Script: "s", Registration: "r", HandOver: "h",
}

// maxSlow is what the detail of an entry may have, in bytes (store.History).
const maxSlow = 60

// Slow is the detail of a request's store.CodePhases: the instance and the milliseconds of its phases, such as
// "i-0ab l1200 b31000 s2000". Where they are too many, the shortest is left out.
func Slow(id store.InstanceID, phases []Phase) string {
	phases = slices.Clone(phases)
	for {
		text := string(id)
		for _, p := range phases {
			text += " " + lettersOf(p.Name) + strconv.FormatInt(p.Duration().Milliseconds(), 10)
		}
		if len(text) <= maxSlow || len(phases) == 0 {
			return text
		}
		i := slices.Index(phases, slices.MinFunc(phases, func(a, b Phase) int { return cmp.Compare(a.Duration(), b.Duration()) }))
		phases = slices.Delete(phases, i, i+1)
	}
}

func lettersOf(name Name) string {
	var text string
	for part := range strings.SplitSeq(string(name), "+") {
		text += letters[Name(part)]
	}
	return text
}

// readSlow reads what Slow has written: the phases one after the other, the last of them ending at the entry's own instant.
func readSlow(e store.Entry) (store.InstanceID, []Phase) {
	words := strings.Fields(e.Detail)
	if len(words) == 0 {
		return "", nil
	}
	var out []Phase
	at := e.At
	for _, word := range slices.Backward(words[1:]) {
		digits := strings.IndexAny(word, "0123456789")
		if digits < 1 {
			continue
		}
		name := nameOf(word[:digits])
		ms, err := strconv.ParseInt(word[digits:], 10, 32) // 24 days: longer than any request
		if err != nil || name == "" {
			continue
		}
		from := at.Add(-time.Duration(ms) * time.Millisecond)
		out = append(out, newPhase(name, from, at, Done))
		at = from
	}
	slices.Reverse(out)
	return store.InstanceID(words[0]), out
}

func nameOf(word string) Name {
	var parts []string
	for _, letter := range strings.Split(word, "") {
		for name, l := range letters {
			if l == letter {
				parts = append(parts, string(name))
			}
		}
	}
	return Name(strings.Join(parts, "+"))
}

// ReadyLast returns the instance that was online last of those with which the request became Ready, and its phases: the
// one that the others waited for.
func ReadyLast(st store.RunStatus, instances []store.Instance, now time.Time) (store.InstanceID, []Phase) {
	var id store.InstanceID
	var last Phase
	var slowest []Phase
	for _, in := range instances {
		phases := Phases(st, in, now)
		if len(phases) == 0 {
			continue
		}
		end := phases[len(phases)-1]
		refill := !st.ReadyAt.IsZero() && end.To.After(st.ReadyAt.Time)
		if end.Outcome == Done && !refill && (slowest == nil || end.From.After(last.From.Time)) {
			id, last, slowest = in.ID, end, phases
		}
	}
	return id, slowest
}
