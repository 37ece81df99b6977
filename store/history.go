package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/remuda-run/remuda/statemachine"
)

// Bounds of a history: DynamoDB bills each started kilobyte of an item with every write.
const (
	MaxHistory  = 48   // entries
	historySize = 1500 // bytes of all of them
	historyText = 60   // bytes of the detail of one
)

// History is what happened to a record, oldest entry first, one entry per line: milliseconds since the record began, a code and an optional
// detail. It keeps the newest MaxHistory entries in at most 1,500 bytes, and the entries of the last owners longest. A history is only
// written together with other changes of the record. Entries in memory are written with the next change.
type History string

// Code names what an entry of a history tells. Codes are short, since every write pays for them.
type Code string

// The codes of an instance's history.
const (
	CodeLaunched   Code = "new"    // its record was made; detail: the request
	CodeBooted     Code = "boot"   // its agent's first heartbeat was read
	CodeScript     Code = "script" // its script passed
	CodeScriptFail Code = "script!"
	CodeMinted     Code = "reg"   // a registration was written for it
	CodeOnline     Code = "on"    // its listener is online
	CodeLabelled   Code = "label" // its listener was, and got the request's label
	CodeOnlineFail Code = "on!"   // its listener does not come online; detail: the cause
	CodeHandedOver Code = "hand"  // to its request
	CodeJobBegan   Code = "job"
	CodeJobEnded   Code = "job."
	CodeReleased   Code = "rel"  // its request gave it back; detail: how
	CodeUnclaimed  Code = "back" // it was given back before it was handed over
	CodeScrubbed   Code = "clean"
	CodeScrubFail  Code = "clean!"
	CodePooled     Code = "pool"
	CodeClaimed    Code = "claim" // detail: the request
	CodeEnded      Code = "end"   // detail: the event, and why
	CodeBeat       Code = "beat"  // its agent's last heartbeat; never stored, readers add it
)

// The codes of a request's history.
const (
	CodeAccepted Code = "take" // the attempt was taken up; detail: how many of which class
	CodePassed   Code = "pass" // candidates that were left alone; detail: how many, and why
	CodeClaims   Code = "won"  // claims that were won; detail: how many
	CodeLosses   Code = "won!" // claims that another won; detail: how many
	CodeAsked    Code = "ask"  // a launch; detail: how many, of which usage class
	CodeCame     Code = "came" // what it brought; detail: how many, after how long
	CodeRefused  Code = "ask!" // where capacity was refused, and the fleet's own code
	CodeWaits    Code = "wait" // what it waits for; detail: a reason
	CodePhases   Code = "slow" // the seat that was ready last, and its phases
	CodeReady    Code = "ready"
	CodeFailed   Code = "fail" // detail: the reason
	CodeLostSeat Code = "lost" // detail: the instance, and why
	CodeRefilled Code = "seat" // a lost seat was filled again
	CodeOver     Code = "over" // nothing is held any more; detail: the reason
)

// Entry is one line of a history.
type Entry struct {
	At     time.Time
	Code   Code
	Detail string
}

// With returns the history with one entry more. begun is when the record began. What is too old to be kept is dropped.
func (h History) With(begun Time, e Entry) History {
	detail := strings.Join(strings.Fields(Head(e.Detail, historyText)), " ")
	line := strings.TrimSpace(fmt.Sprintf("%d %s %s", max(0, e.At.Sub(begun.Time).Milliseconds()), e.Code, detail))
	lines := h.lines()
	if slices.Contains(lines, line) {
		return h // a write has landed whose answer was lost
	}
	lines = append(lines, line)
	size := len(lines) - 1
	for _, l := range lines {
		size += len(l)
	}
	for len(lines) > MaxHistory || size > historySize {
		oldest := oldestOf(lines)
		size -= len(lines[oldest]) + 1
		lines = slices.Delete(lines, oldest, oldest+1)
	}
	return History(strings.Join(lines, "\n"))
}

// owners are the codes that show the request that paid for an instance. Statuses do not have these codes.
var owners = []Code{CodeLaunched, CodeHandedOver, CodeReleased, CodeUnclaimed, CodeClaimed}

// keptOwners is how many entries of owners are kept: the entries of the last four owners. Other entries cannot displace them.
const keptOwners = 12

// oldestOf returns the index of the entry to drop.
func oldestOf(lines []string) int {
	owns := func(line string) bool {
		_, rest, _ := strings.Cut(line, " ")
		code, _, _ := strings.Cut(rest, " ")
		return slices.Contains(owners, Code(code))
	}
	n := 0
	for _, line := range lines {
		if owns(line) {
			n++
		}
	}
	if n > keptOwners {
		return 0
	}
	return max(0, slices.IndexFunc(lines, func(line string) bool { return !owns(line) }))
}

// Noted returns the id as details of histories have it.
func (id RequestID) Noted() string { return Head(string(id), historyText) }

// Names reports whether the detail of an entry names the request, whose id may be longer than a detail.
func Names(detail string, id RequestID) bool {
	return id != "" && detail == id.Noted()
}

// Runs returns the requests that an instance has served, as its history names them, and the present owner.
func (h History) Runs(owner RequestID) []string {
	var out []string
	add := func(run string) {
		if run != "" && !slices.Contains(out, run) {
			out = append(out, run)
		}
	}
	for _, e := range h.Entries(Time{}) {
		if e.Code == CodeLaunched || e.Code == CodeClaimed {
			add(e.Detail)
		}
	}
	add(owner.Noted())
	return out
}

func (h History) lines() []string {
	if h == "" {
		return nil
	}
	return strings.Split(string(h), "\n")
}

// Entries reads the history of a record that began at begun. A line that is none is left out.
func (h History) Entries(begun Time) []Entry {
	lines := h.lines()
	out := make([]Entry, 0, len(lines))
	for _, line := range lines {
		at, rest, _ := strings.Cut(line, " ")
		code, detail, _ := strings.Cut(rest, " ")
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil || ms < 0 || code == "" {
			continue
		}
		out = append(out, Entry{begun.Add(time.Duration(ms) * time.Millisecond), Code(code), detail})
	}
	return out
}

// Noted reports whether an instance's history has an entry of this code since the instance was last assigned.
func (h History) Noted(code Code) bool {
	for _, e := range slices.Backward(h.Entries(Time{})) {
		switch e.Code {
		case code:
			return true
		case CodeLaunched, CodeClaimed, CodeReleased, CodeUnclaimed:
			return false
		default:
		}
	}
	return false
}

func (h History) validate() error {
	if len(h) > historySize {
		return fmt.Errorf("history: must be at most %d bytes, got %d", historySize, len(h))
	}
	return nil
}

// entry says what an event of the table is in an instance's history; renewals are none.
func (t Transition) entry() (Entry, bool) {
	e := Entry{At: t.Now}
	switch t.Event {
	case statemachine.Claim:
		e.Code, e.Detail = CodeClaimed, string(t.RunID)
	case statemachine.HandedOver:
		e.Code = CodeHandedOver
	case statemachine.Released:
		e.Code, e.Detail = CodeReleased, string(t.Release)
	case statemachine.Unclaimed:
		e.Code, e.Detail = CodeUnclaimed, string(t.Release)
	case statemachine.Pooled:
		e.Code = CodePooled
	case statemachine.Expired, statemachine.Rejected, statemachine.Lost, statemachine.Dismissed:
		e.Code, e.Detail = CodeEnded, t.Reason
		if !strings.HasPrefix(t.Reason, string(t.Event)) {
			e.Detail = strings.TrimSuffix(string(t.Event)+": "+t.Reason, ": ")
		}
		switch {
		case t.StateReason != "": // more precise than the fleet's state, and there is no room for both
			e.Detail = string(t.Event) + ": " + t.Why
		case t.Why != "":
			e.Detail += ": " + t.Why
		}
	case statemachine.Launched, statemachine.Renewed:
		return e, false
	}
	return e, true
}

// reported are the codes of signals; of RegNext another registration follows, which is an entry of its own.
var reported = map[SignalName]Code{
	ScriptOK: CodeScript, ScriptFailed: CodeScriptFail, RegOK: CodeOnline, RegFailed: CodeOnlineFail,
	RemoveOK: CodeScrubbed, RemoveFailed: CodeScrubFail,
}

// Entry is what a signal says in the history of the instance; nothing if it is of an earlier assignment.
func (v SignalValue) Entry(in Instance, at time.Time) (Entry, bool) {
	code, says := reported[v.Signal]
	return Entry{at, code, v.Cause}, says && v.RunID == in.RunID && v.Assignment == in.Assignment
}

// codeOf says what an event of the table is in a request's history; progress is none.
func codeOf(event statemachine.RequestEvent) (Code, bool) {
	switch event {
	case statemachine.Accept:
		return CodeAccepted, true
	case statemachine.Fulfil:
		return CodeReady, true
	case statemachine.Fail:
		return CodeFailed, true
	case statemachine.Finish:
		return CodeOver, true
	case statemachine.Observe:
	}
	return "", false
}

// outcome is the detail of an event in a request's history.
func (r RunStatus) outcome(event statemachine.RequestEvent) string {
	if event == statemachine.Accept {
		return strconv.Itoa(r.Counts.Wanted)
	}
	return r.Reason
}
