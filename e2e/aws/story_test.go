package aws

import (
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/story"
)

// The whole story, from an account in which nothing of ours exists to one in which nothing of ours lives
// (S15, S31, S47, S62, S66, S69, S71, S85). Machines read the program from a bucket, as their role.
func TestStory_EC2(t *testing.T) {
	t.Parallel()
	w := newWorld(t, (*world).publish)
	for _, try := range []struct{ args, want string }{
		{"--dry-run", "would create"}, {"--dry-run", "would create"}, // so the first made nothing
		{"", "created"}, {"", "unchanged"},
	} {
		if diff := cmp.Diff(w.steps(try.want), w.init(strings.Fields(try.args)...)); diff != "" {
			t.Fatalf("remuda init %s (-want +got):\n%s", try.args, diff)
		}
	}
	w.begin()
	// run-a 3, the loser of the race 1, run-d 1, and one for the killed seat if the pool had no other.
	w.tells(story.Full, 6)
}

// steps is what `remuda init` says if it did the same to all.
func (w *world) steps(action string) string {
	var b strings.Builder
	for _, r := range []string{"table " + w.name, "queue " + w.name + "-events", "queue " + w.name + "-small", "launch template " + w.name + "-machine"} {
		b.WriteString(r + ": " + action + "\n")
	}
	return b.String() + "github octo/remuda: reachable\n"
}

// tells tells a story and holds the installation to it: see judge. launches is the most machines that it
// may launch.
func (w *world) tells(steps []story.Step, launches int) {
	w.Helper()
	s := story.New(story.Options{
		Site: w, Witness: w.witness, GitHub: w.github.Root, Out: w.Output(), Patience: patience,
		Forgotten: time.Minute, // the jobs of two runners on a busy machine
		Drain:     true, Launches: launches,
	})
	w.Check(s.Tell(w.Context(), steps))
	w.judge(s)
}

// judge asks the witness, and then looks at what is left.
func (w *world) judge(s *story.Story) {
	w.Helper()
	if err := s.Judge(w.Context()); err != nil {
		w.Error(err)
	}
	w.left()
}

// left looks at what is left once the controller has stopped: nothing alive at EC2, no process, and every
// record under the principal of its instance.
func (w *world) left() {
	w.Helper()
	if code := w.controller.End(syscall.SIGTERM); code != 0 {
		w.Errorf("controller ended with exit code %d, want 0", code)
	}
	if alive := w.cloud.Alive(); len(alive) > 0 {
		w.Errorf("instances alive at EC2 = %v, want none", alive)
	}
	if err := program.Until(patience, "no machine runs", func() bool { return len(w.machines.Running()) == 0 }); err != nil { // it may not know of the last ones yet
		w.Errorf("%v: %v run", err, w.machines.Running())
	}
	w.principals()
}

// principals holds the partition of every record of an instance to the instance's identity at AWS.
func (w *world) principals() {
	w.Helper()
	want := regexp.MustCompile("^INSTANCE#" + regexp.QuoteMeta(*w.role.RoleId) + ":(i-[0-9a-f]{17})$")
	var seen []string
	for _, item := range w.scan() {
		pk, ok := item["PK"].(*types.AttributeValueMemberS)
		if !ok || !strings.HasPrefix(pk.Value, "INSTANCE#") {
			continue
		}
		m := want.FindStringSubmatch(pk.Value)
		if m == nil {
			w.Errorf("partition %s: want INSTANCE#%s:<instance id>", pk.Value, *w.role.RoleId)
			continue
		}
		seen = append(seen, m[1])
	}
	slices.Sort(seen)
	if diff := cmp.Diff(w.machines.Machines(), slices.Compact(seen)); diff != "" {
		w.Errorf("instances with records (-launched +recorded):\n%s", diff)
	}
}
