package timeline

import (
	"fmt"
	"strings"
	"time"

	"github.com/remuda-run/remuda/store"
)

// Took writes a duration as people compare it: "3.2 s", "4m10s", "2h05m". One below 0 is that of two clocks: 0.
func Took(d time.Duration) string {
	d = max(0, d)
	if d < 59950*time.Millisecond { // which would round to 60.0 s
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	d = d.Round(time.Second)
	if d < time.Hour {
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// what says what a phase was spent with.
var what = map[Name]string{
	Accepted:     "waiting until a machine was found or a launch asked for",
	Handshake:    "a machine's way back from its last run into the pool",
	Claimed:      "finding and claiming an idle machine",
	Launch:       "the launch call",
	Boot:         "the boot of the machine, from the answer to its launch until its agent spoke",
	Script:       "the pre-runner script",
	Registration: "the registration of the runner, until its listener was online",
	HandOver:     "waiting for the other machines",
}

// What says what a phase was spent with.
func (n Name) What() string {
	var parts []string
	for part := range strings.SplitSeq(string(n), "+") {
		parts = append(parts, what[Name(part)])
	}
	return strings.Join(parts, ", and ")
}

// texts put codes into words, % for the detail.
var texts = map[store.Code]string{
	store.CodeLaunched:   "launched for %",
	store.CodeBooted:     "its agent spoke for the first time",
	store.CodeScript:     "its script passed",
	store.CodeScriptFail: "its script failed",
	store.CodeMinted:     "got a registration",
	store.CodeOnline:     "its listener is online",
	store.CodeLabelled:   "its listener, which was online, got the request's label",
	store.CodeOnlineFail: "its listener does not come online: %",
	store.CodeHandedOver: "handed over",
	store.CodeJobBegan:   "a job began",
	store.CodeJobEnded:   "the job ended",
	store.CodeReleased:   "given back (%)",
	store.CodeUnclaimed:  "released before it was ready (%)",
	store.CodeScrubbed:   "clean",
	store.CodeScrubFail:  "not clean: %",
	store.CodePooled:     "back in the pool",
	store.CodeEnded:      "ended: %",
	store.CodeBeat:       "its agent's last heartbeat",
	store.CodeAccepted:   "taken up: % wanted",
	store.CodePassed:     "candidates left alone: %",
	store.CodeClaimed:    "claimed for %",
	store.CodeClaims:     "claims won: %",
	store.CodeLosses:     "claims that another won: %",
	store.CodeAsked:      "launch asked for: %",
	store.CodeCame:       "launched: %",
	store.CodeRefused:    "refused: %",
	store.CodeWaits:      "waits: %",
	store.CodeReady:      "Ready",
	store.CodeFailed:     "Failed: %",
	store.CodeLostSeat:   "lost %",
	store.CodeRefilled:   "a lost seat was filled again",
	store.CodeOver:       "over: %",
}

// textOf puts an entry into words. A code of another version stands for itself.
func textOf(e store.Entry) string {
	text, known := texts[e.Code]
	if !known {
		text = string(e.Code) + " %"
	}
	text = strings.ReplaceAll(text, "%", e.Detail)
	return strings.TrimRight(strings.ReplaceAll(text, " ()", ""), " :")
}
