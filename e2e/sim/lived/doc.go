// Package lived adds up what the stories of the simulation lived through and what of it they covered, over processes
// and interruptions: the tests of the simulation tell it story by story (Progress), the campaign keeps it.
package lived

import "encoding/json"

// Progress is what some stories in a row brought.
type Progress struct {
	Next   uint64   `json:"next,omitempty"` // the seed behind the last one of random stories
	Sum    *Sum     `json:"sum,omitempty"`  // of random stories
	Part   Part     `json:"part"`
	Broken []string `json:"broken,omitempty"` // what broke, for people
}

// Mark begins a line of Progress in a test's output.
const Mark = "progress: "

// Line writes p on one line.
func (p Progress) Line() (string, error) {
	text, err := json.Marshal(p)
	return Mark + string(text) + "\n", err
}
