package actionsrunner

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
)

// at is how a line of the program begins.
const at = "2026-01-02 03:04:05Z: "

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		line  string
		want  report
		cause string
	}{
		{"", nothing, ""},
		{"√ Connected to GitHub", nothing, ""},
		{"Current runner version: '2.336.0'", nothing, ""},
		{at + "Listening for Jobs", listening, ""},
		{"Listening for Jobs", nothing, ""},
		{at + "Running job: build", running, ""},
		{at + "Running job: Listening for Jobs", running, ""},
		{at + "Running job: " + at + "Listening for Jobs", running, ""},
		{at + "Running job: x completed with result: Succeeded", running, ""},
		{at + "Running job: rate limit", running, ""},
		{at + "Job build completed with result: Succeeded", completed, ""},
		{at + "Job a completed with result: b completed with result: Failed", completed, ""},
		{at + "Job build completed with result: not a result", nothing, ""},
		{at + "Job message received", nothing, ""},
		{at + "Runner reconnected.", reconnected, ""},
		{at + "Runner connect error: The HTTP request timed out. Retrying until reconnected.", blocked, store.CauseUnavailable},
		{at + "Runner connect error: API rate limit exceeded. Retrying until reconnected.", blocked, store.CauseThrottled},
		{at + "Runner connect error: A session for this runner already exists.. Retrying until reconnected.", blocked, agent.CauseConflict},
		{"A session for this runner already exists.", blocked, agent.CauseConflict},
		{"Stop retry on SessionConflictException after retried for 240 seconds.", ending, agent.CauseConflict},
		{"An error occured: Runner version v2.330.0 is deprecated and cannot receive messages.", ending, store.CauseDeprecated},
		{"Failed to create a session. The runner registration has been deleted from the server, please re-configure.", ending, store.CauseRefused},
		{"The runner no longer exists on the server. Cleaning up local configuration.", ending, store.CauseRefused},
		{"Failed to create session. Access denied.", ending, store.CauseRefused},
		{"An error occurred: Connection refused (broker.actions.githubusercontent.com:443)", blocked, store.CauseUnavailable},
		{"Runner update in progress, do not shutdown runner.", updating, ""},
		{"2026-13-02 03:04:05Z: Listening for Jobs", nothing, ""},
	} {
		if got, cause := parse(tt.line); got != tt.want || cause != tt.cause {
			t.Errorf("parse(%q) = %d, %q; want %d, %q", tt.line, got, cause, tt.want, tt.cause)
		}
	}
}

// idle and working say what is known of the job's worker.
func idle() bool    { return false }
func working() bool { return true }

// A job goes on without the connection, and is not over when that is back.
func TestApply_BusyWithoutConnection_H38(t *testing.T) {
	st := agent.Status{State: agent.Busy, Online: true, Jobs: 1}
	apply(&st, at+"Runner connect error: timeout. Retrying until reconnected.", working)
	if st.State != agent.Busy || st.Cause != store.CauseUnavailable {
		t.Errorf("after a connect error %+v, want busy", st)
	}
	apply(&st, at+"Runner reconnected.", working)
	if st.State != agent.Busy || st.Cause != "" {
		t.Errorf("after the reconnection %+v, want busy without a cause", st)
	}
	if apply(&st, at+"Something else", working) {
		t.Error("a line that says nothing counts as a change")
	}
}

// Who listens goes on through an outage of GitHub, whose end the program does not tell.
func TestApply_ListeningThroughAnOutage_H71(t *testing.T) {
	const blockedLine = at + "Runner connect error: Failed to get job message. Request to http://broker/message failed with status: InternalServerError. Error message Error: Internal Server Error. Retrying until reconnected."
	var st agent.Status
	apply(&st, blockedLine, idle)
	if st.State != agent.Blocked || st.Cause != store.CauseUnavailable || st.Detail != blockedLine {
		t.Errorf("before it listens %+v, want blocked with the line", st)
	}
	apply(&st, at+"Listening for Jobs", idle)
	apply(&st, blockedLine, idle)
	if st.State != agent.Listening || st.Cause != store.CauseUnavailable {
		t.Errorf("once it listens %+v, want listening, the cause kept", st)
	}
	apply(&st, at+"Running job: build", idle)
	if st.State != agent.Busy || st.Cause != "" {
		t.Errorf("with a job %+v, want busy without a cause", st)
	}
}

// No one can make a job look like anything else by its name, of however many lines: while its worker lives it
// runs, afterwards it is over, and nothing in it ends a registration.
func FuzzParse_JobNames(f *testing.F) {
	for _, name := range []string{
		"build", "", "Listening for Jobs", " completed with result: Succeeded", "2026-01-02 03:04:05Z: Listening for Jobs", "rate limit",
		"a\nb", "a\nAn error occurred: Runner version v9 is deprecated and cannot receive messages.",
		"a\n2026-01-02 03:04:05Z: Listening for Jobs", "a\n2026-01-02 03:04:05Z: Job a completed with result: Succeeded",
		"a\r\nRunner update in progress, do not shutdown runner.", "\n2026-01-02 03:04:05Z: Running job: x\n",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		lives := true
		l := &listener{
			r: &Runner{o: Options{Clock: clocktesting.NewFakeClock(time.Unix(0, 0))}}, changed: make(chan struct{}, 1),
			status: agent.Status{State: agent.Listening, Online: true},
		}
		self, err := process.Lookup(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		l.workers = func(process.Ref) ([]process.Ref, error) {
			if lives {
				return []process.Ref{self}, nil
			}
			return nil, nil
		}
		say := func(text string) {
			for line := range strings.SplitSeq(text, "\n") {
				l.observe(strings.TrimRight(line, "\r"))
			}
		}
		say(at + "Running job: " + name)
		if st := l.Status(); st.State != agent.Busy || st.Jobs == 0 {
			t.Fatalf("after the start of job %q: %+v, want busy", name, st)
		}
		say(at + "Job " + name + " completed with result: Succeeded")
		if l.followJob(); l.status.State != agent.Busy {
			t.Fatalf("while the worker of job %q lives: %+v, want busy", name, l.status)
		}
		lives = false
		l.job.worker = process.Ref{PID: 1 << 30, Start: 1} // it has ended
		if l.followJob(); l.status.State != agent.Listening {
			t.Fatalf("after the end of job %q: %+v, want listening", name, l.status)
		}
		if c := l.status.Cause; c == store.CauseDeprecated || c == store.CauseRefused || l.updated {
			t.Fatalf("job %q made its listener end: cause %q, updated %t", name, c, l.updated)
		}
	})
}

// What looks like a job and has no worker is none, after a while.
func TestFollow_JobWithoutWorker_IsNone(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Unix(0, 0))
	l := &listener{
		r: &Runner{o: Options{Clock: clk}}, changed: make(chan struct{}, 1), status: agent.Status{State: agent.Listening, Online: true},
		workers: func(process.Ref) ([]process.Ref, error) { return nil, nil },
	}
	l.observe("2026-01-02 03:04:05Z: Running job: x")
	if l.followJob() || l.status.State != agent.Busy {
		t.Errorf("at first %+v, want busy: a worker takes time to start", l.status)
	}
	clk.SetTime(time.Unix(0, 0).Add(workerLimit))
	if !l.followJob() || l.status.State != agent.Listening {
		t.Errorf("after %s %+v, want listening", workerLimit, l.status)
	}
	l.workers = func(process.Ref) ([]process.Ref, error) { return nil, errors.ErrUnsupported }
	l.observe("2026-01-02 03:04:05Z: Running job: y")
	clk.SetTime(time.Unix(0, 0).Add(time.Hour))
	if l.followJob() || l.status.State != agent.Busy {
		t.Errorf("where workers cannot be seen %+v, want busy until a line says otherwise", l.status)
	}
}

// Lines come out whole, however the writes and the reads fall.
func TestTail_AnyPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out, err := openTail(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.close()
	long := strings.Repeat("long ", 2000)
	var text strings.Builder
	var want, got []string
	for i := range 200 {
		line := strings.Repeat("x", random.IntN(300)) + string(rune('a'+i%26))
		if i%50 == 7 {
			line = long
		}
		text.WriteString(line + "\r\n")
		want = append(want, line[:min(len(line), maxLine)])
	}
	take := func(line string) { got = append(got, line) }
	for rest := text.String() + "no end"; rest != ""; {
		n := min(len(rest), 1+random.IntN(700))
		if _, err := f.WriteString(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
		if err := out.next(take); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d lines, want the %d written, cut at %d bytes", len(got), len(want), maxLine)
	}
	if err := out.finish(take); err != nil || got[len(got)-1] != "no end" {
		t.Errorf("finish = %v, last line %q; want the one without an end", err, got[len(got)-1])
	}
	if last := out.last(); len(last) > tailBytes || !strings.HasSuffix(last, "no end") {
		t.Errorf("last = %d bytes, %q", len(last), last)
	}
}

// G15: what a look costs; a listener that waits for jobs is looked at five times a second.
func BenchmarkLook(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log")
	if err := os.WriteFile(path, []byte("2026-01-02 03:04:05Z: Listening for Jobs\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	out, err := openTail(path)
	if err != nil {
		b.Fatal(err)
	}
	defer out.close()
	ref, err := process.Lookup(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	l := &listener{ref: ref, out: out, changed: make(chan struct{}, 1)}
	b.ReportAllocs()
	for b.Loop() {
		if !l.look() {
			b.Fatal("we have ended")
		}
	}
}
