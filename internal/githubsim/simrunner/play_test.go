//go:build unix

package simrunner

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/remuda-run/remuda/internal/bubbletest"
)

// plays are what the real program said and did, see there.
//
//go:embed testdata/plays.txt
var plays string

// draws are the shares of their ranges that the random pauses of a play took, where they decide when it speaks.
var draws = map[string]float64{
	"refuse-idle": 0.60, "500-idle": 0.66, "429-idle": 0.48, "run-500-acquire": 0.45,
}

// tolerance is how much longer or shorter an interval of a second or more may be.
const tolerance = 0.1

// cue is one line of a play.
type cue struct {
	at         time.Duration
	kind, text string
}

func (c cue) String() string { return fmt.Sprintf("%7.2f %s %s", c.at.Seconds(), c.kind, c.text) }

func (c cue) spoken() bool { return c.kind == "out" || c.kind == "ERR" }

var cueForm = regexp.MustCompile(`^ *(\d+\.\d\d) (out|ERR|do|srv|---) +(.*)$`)

// readPlays returns the lines of each play by its name.
func readPlays(t *testing.T) map[string][]cue {
	t.Helper()
	all := map[string][]cue{}
	_, text, _ := strings.Cut(plays, "\n## ")
	for play := range strings.SplitSeq(text, "\n## ") {
		name, lines, _ := strings.Cut(strings.TrimSpace(play), "\n")
		for line := range strings.SplitSeq(lines, "\n") {
			m := cueForm.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("play %s: cannot read %q", name, line)
			}
			seconds, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = append(all[name], cue{time.Duration(seconds * float64(time.Second)), m[2], m[3]})
		}
	}
	return all
}

// TestPlays replays against the simulated program and GitHub what the real program did: its words, their streams
// and order, exit codes, and intervals.
func TestPlays_H71(t *testing.T) {
	all := readPlays(t)
	if len(all) != 34 {
		t.Fatalf("%d plays, want 34", len(all))
	}
	for name, cues := range all {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				draw, drawn := draws[name]
				if !drawn {
					draw = 0.5
				}
				s := newStage(t, draw)
				defer s.close()
				s.play(t, cues)
			})
		})
	}
}

// play plays the cues: it does what they do and waits for what they say.
func (s *stage) play(t *testing.T, cues []cue) {
	t.Helper()
	last, before := time.Duration(0), time.Duration(0) // of the cue before: here, and there
	s.begin()
	for i := 0; i < len(cues); i++ {
		c := cues[i]
		var at time.Duration
		switch {
		case c.kind == "do" || c.kind == "srv":
			at = last + c.at - before
			time.Sleep(at - s.since())
			s.do(t, c)
		case c.spoken():
			if s.ended {
				s.begin()
			}
			got := s.next(t, c)
			if i+1 < len(cues) && together(c, cues[i+1]) && !same(got, c) {
				cues[i], cues[i+1] = cues[i+1], cues[i] // of two streams the order is whose was read first
				c = cues[i]
			}
			if !same(got, c) {
				t.Fatalf("said\n%s\nwant\n%s", got, c)
			}
			at = got.at
		default:
			code := s.exit(t)
			if want := "exit " + strconv.Itoa(code); c.text != want {
				t.Fatalf("%s, want %s", want, c.text)
			}
			at = s.since()
		}
		if want := c.at - before; want >= time.Second && math.Abs(float64(at-last-want)) > tolerance*float64(want) {
			t.Errorf("%s\ncame after %s, want %s", c, at-last, want)
		}
		last, before = at, c.at
	}
	synctest.Wait()
	if left := s.left(); len(left) > 0 {
		t.Errorf("said besides: %v", left)
	}
}

// together reports whether two cues came on two streams in the same moment.
func together(a, b cue) bool {
	return a.spoken() && b.spoken() && a.kind != b.kind && b.at-a.at <= 10*time.Millisecond
}

// same reports whether two lines are equal but for stamps and addresses.
func same(a, b cue) bool { return a.kind == b.kind && plain(a.text) == plain(b.text) }

var (
	stampText = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ: `)
	address   = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+(:\d+)?`)
)

func plain(text string) string {
	return address.ReplaceAllString(stampText.ReplaceAllString(text, "STAMP: "), "ADDRESS")
}
