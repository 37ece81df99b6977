package lived

import (
	"encoding/json"
	"strings"
)

// How a hunt for a bug tells what it does, at the beginnings of lines.
const (
	BeginMark = "hunt: in " // a mode and a story, before it is told
	FoundMark = "hunt: found "
)

// StoryRef names a story of a mode, so that it can be told again.
type StoryRef struct {
	Mode  string `json:"mode"`  // stories, singles, pairs, random or kills
	Story string `json:"story"` // "": more than one
}

func (r StoryRef) String() string { return r.Mode + ": " + r.Story }

// ParseStoryRef reads what String wrote.
func ParseStoryRef(text string) (StoryRef, bool) {
	mode, story, ok := strings.Cut(text, ": ")
	return StoryRef{mode, story}, ok
}

// Find is what a hunt found.
type Find struct {
	StoryRef

	Law    string `json:"law"` // or what the mode expects
	Text   string `json:"text"`
	Expect bool   `json:"expect,omitempty"` // no law, but what the mode expects
}

// Line writes f on one line.
func (f Find) Line() (string, error) {
	text, err := json.Marshal(f)
	return FoundMark + string(text) + "\n", err
}

// ParseFind reads what Line wrote.
func ParseFind(line string) (Find, bool) {
	text, ok := strings.CutPrefix(line, FoundMark)
	var f Find
	return f, ok && json.Unmarshal([]byte(text), &f) == nil
}
