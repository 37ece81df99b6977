package aws

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
)

// shipped is what a log group has, as its readers see it.
type shipped struct {
	*world
	group string
	logs  *cloudwatchlogs.Client
}

// streams returns the lines of each process, by when it began.
func (s shipped) streams() (out [][]string) {
	s.Helper()
	found, err := s.logs.DescribeLogStreams(s.Context(), &cloudwatchlogs.DescribeLogStreamsInput{LogGroupName: &s.group})
	s.Check(err)
	slices.SortFunc(found.LogStreams, func(a, b types.LogStream) int { return int(*a.CreationTime - *b.CreationTime) })
	for _, stream := range found.LogStreams {
		events, err := s.logs.GetLogEvents(s.Context(), &cloudwatchlogs.GetLogEventsInput{LogGroupName: &s.group, LogStreamName: stream.LogStreamName, StartFromHead: aws.Bool(true)})
		s.Check(err)
		var lines []string
		for _, e := range events.Events {
			lines = append(lines, *e.Message)
		}
		out = append(out, lines)
	}
	return out
}

// has reports whether there is a line of that level and message.
func (s shipped) has(level, msg string) bool {
	s.Helper()
	for _, line := range slices.Concat(s.streams()...) {
		var record struct{ Level, Msg string }
		s.Check(json.Unmarshal([]byte(line), &record))
		if record.Level == level && record.Msg == msg {
			return true
		}
	}
	return false
}

// What alarms look for reaches the log group while the controller runs: that it leads, and what went wrong. When it has
// ended the group has all that standard error has; of one that cannot start it has the reason.
func TestLogGroup(t *testing.T) {
	t.Parallel()
	var s shipped
	w := newWorld(t, func(w *world) {
		w.parts.controller["cloudwatch_logs"] = w.moto
		s = shipped{w, "/" + w.name + "/controller", cloudwatchlogs.NewFromConfig(awstest.Config(w, w.moto))}
		w.env = []string{"REMUDA_LOG_GROUP=" + s.group}
	})
	env := append(w.environ(w.parts.controller), w.env...)
	w.install()
	controller := w.start("controller", env, "controller")
	controller.Says(`"msg":"this log does not reach CloudWatch.*make it: aws logs create-log-group --log-group-name ` + s.group)
	_, err := s.logs.CreateLogGroup(w.Context(), &cloudwatchlogs.CreateLogGroupInput{LogGroupName: &s.group})
	w.Check(err)
	w.Check(program.Until(patience, "the group says that it leads", func() bool { return s.has("INFO", "leading") }))
	text, err := os.ReadFile(w.config())
	w.Check(err)
	w.Check(os.WriteFile(w.config(), append(text, "\nno such setting: 1\n"...), 0o600))
	w.Check(program.Until(patience, "the group says that the file is wrong", func() bool {
		return s.has("ERROR", "the configuration is refused, and the one in force stays")
	}))
	if code := controller.End(syscall.SIGTERM); code != 0 {
		t.Errorf("the controller ended with %d", code)
	}
	var said []string
	for line := range bytes.Lines(controller.Output()) {
		if !bytes.Contains(line, []byte("CloudWatch")) {
			said = append(said, strings.TrimSuffix(string(line), "\n"))
		}
	}
	if got := s.streams(); len(got) != 1 || !slices.Equal(got[0], said) {
		t.Errorf("the group has %d streams:\n%q\nwant the log:\n%q", len(got), got, said)
	}
	s.alarms(slices.Concat(s.streams()...))

	w.Check(os.WriteFile(w.config(), text, 0o600))
	broken := w.start("broken", env, "controller", "--set", "agent.runnerUser=")
	if code := broken.Exit(); code == 0 {
		t.Error("a controller whose jobs' user nobody named ended in order")
	}
	if !s.has("ERROR", "this controller ended") {
		t.Errorf("the group has %q, want why a controller did not start", s.streams())
	}
}
