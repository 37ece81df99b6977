//go:build unix

package simrunner_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/githubsim"
)

// must ends a test with an error that nothing explains.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, what string, got, want int, s *started) {
	t.Helper()
	if got != want {
		t.Errorf("%s: exit code = %d, want %d; output:\n%s%s", what, got, want, s.out, s.err)
	}
}

func TestJIT_S10_S14_OneJob_ThenEnds(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	dir := t.TempDir()
	s := w.start(t, dir, os.Environ(), "run", "--jitconfig", w.jit(t, "i-0a-1", "4711"))
	s.out.await(t, "Listening for Jobs")
	runners, err := w.Runners(t.Context())
	if err != nil || len(runners) != 1 || !runners[0].Online || !cmp.Equal(runners[0].Labels, []string{"4711"}) {
		t.Errorf("Runners() once it listens = %+v, %v, want one, online, with exactly its label", runners, err)
	}
	seen := filepath.Join(dir, "seen")
	w.submit(t, githubsim.Job{
		ID: "j", RunID: "4711", Repository: "acme/shop", Label: "4711", Name: "build (1)",
		Script: `pwd >"` + seen + `"; env | grep -E '^(GITHUB_|RUNNER_NAME|ACTIONS_RUNNER_INPUT)' | sort >>"` + seen + `"`,
	})
	check(t, "after its one job", s.ended(t), 0, s)

	rec := w.completed(t, "j")
	if rec.Conclusion != githubsim.Success || rec.Runner != "i-0a-1" || rec.InstanceID != "i-0a" {
		t.Errorf("job = %+v, want success on i-0a-1", rec)
	}
	pattern := `(?s)^
√ Connected to GitHub

Current runner version: '2\.\d+\.\d+'
\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ: Listening for Jobs
\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ: Running job: build \(1\)
\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ: Job build \(1\) completed with result: Succeeded
√ Removed \.credentials
√ Removed \.runner
$`
	if got := s.out.String(); !regexp.MustCompile(pattern).MatchString(got) {
		t.Errorf("output = %s, want %s", got, pattern)
	}
	raw, err := os.ReadFile(seen)
	must(t, err)
	workspace := filepath.Join(dir, "_work", "shop", "shop")
	want := strings.Join([]string{
		workspace, "GITHUB_ACTIONS=true", "GITHUB_JOB=j", "GITHUB_REPOSITORY=acme/shop",
		"GITHUB_REPOSITORY_OWNER=acme", "GITHUB_RUN_ATTEMPT=1", "GITHUB_RUN_ID=4711", "GITHUB_WORKSPACE=" + workspace,
		"RUNNER_NAME=i-0a-1", "",
	}, "\n")
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Errorf("what the job saw (-want +got):\n%s", diff)
	}
}

func TestToken_S14_ManyJobs_UntilStopped_ThenRemoved(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	dir := t.TempDir()
	token := w.token(t)
	configure := []string{
		"configure", "--unattended", "--url", w.URL(), "--token", token, "--name", "i-0b-7",
		"--labels", "run-9", "--no-default-labels", "--disableupdate",
	}
	s := w.start(t, dir, os.Environ(), configure...)
	check(t, "configure", s.ended(t), 0, s)
	s.out.has(t, "√ Runner successfully added")
	s = w.start(t, dir, os.Environ(), configure...)
	check(t, "configure again", s.ended(t), 1, s)
	s.err.has(t, "already configured")
	want := []githubsim.Registration{{ID: 1, Name: "i-0b-7", Group: "Default", Labels: []string{"run-9"}, Jobs: []string{}}}
	if diff := cmp.Diff(want, registrations(w)); diff != "" {
		t.Errorf("registrations (-want +got):\n%s", diff)
	}

	s = w.start(t, dir, os.Environ(), "run", "--startuptype", "service")
	for _, j := range []githubsim.Job{
		{ID: "1", Label: "run-9", Name: "one", Script: "exit 0"},
		{ID: "2", Label: "run-9", Name: "two", Script: "exit 3"},
	} {
		w.submit(t, j)
		w.completed(t, j.ID)
	}
	w.concluded(t, "2", githubsim.Failure)
	begun := filepath.Join(dir, "begun")
	w.submit(t, githubsim.Job{ID: "3", Label: "run-9", Name: "three", Script: "echo >" + begun + "; sleep 1000"})
	awaitFile(t, begun, "") // not before: a job not begun goes back to the queue
	check(t, "stopped", s.exit(t), 0, s)
	w.concluded(t, "3", githubsim.Failure) // it was not cancelled
	for _, part := range []string{"Job one completed with result: Succeeded", "Job two completed with result: Failed", "Job three completed with result: Canceled", "Exiting..."} {
		s.out.has(t, part)
	}

	s = w.start(t, dir, os.Environ(), "remove", "--token", token)
	check(t, "remove", s.ended(t), 0, s)
	if got := w.Registrations()[0].Removed; got != githubsim.RemovedItself {
		t.Errorf("registration was removed by %q, want %q", got, githubsim.RemovedItself)
	}
	if _, err := os.Stat(filepath.Join(dir, ".credentials")); !os.IsNotExist(err) {
		t.Errorf("stat .credentials error = %v, want none left", err)
	}
	s = w.start(t, dir, os.Environ(), "run")
	check(t, "run without a configuration", s.ended(t), 1, s)
}

// registrations returns those of w without times.
func registrations(w *world) []githubsim.Registration {
	all := w.Registrations()
	for i := range all {
		all[i].CreatedAt, all[i].RemovedAt = time.Time{}, time.Time{}
	}
	return all
}

func TestInputs_FromTheEnvironment(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	dir := t.TempDir()
	env := append(os.Environ(), "ACTIONS_RUNNER_INPUT_JITCONFIG="+w.jit(t, "i-1-1", "a"))
	s := w.start(t, dir, env, "run")
	w.submit(t, githubsim.Job{ID: "j", Label: "a", Script: `test -z "$ACTIONS_RUNNER_INPUT_JITCONFIG"`})
	check(t, "run", s.ended(t), 0, s)
	w.concluded(t, "j", githubsim.Success) // the job must not see the secret
}

func TestDotEnv_IsLoaded(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, ".env"), []byte("FROM_FILE=a=b\n\nnonsense\n=x\n"), 0o600))
	s := w.start(t, dir, append(os.Environ(), "FROM_FILE=no"), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	w.submit(t, githubsim.Job{ID: "j", Label: "a", Script: `test "$FROM_FILE" = a=b`})
	check(t, "run", s.ended(t), 0, s)
	w.concluded(t, "j", githubsim.Success)
}

func TestDeleted_S86_WhileItListens(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	dir := t.TempDir()
	s := w.start(t, dir, nil, "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	s.out.await(t, "Listening for Jobs")
	must(t, w.DeleteRunner(t.Context(), 1))
	w.submit(t, githubsim.Job{ID: "j", Label: "a"})
	check(t, "deleted", s.ended(t), 0, s)
	s.err.has(t, "The runner no longer exists on the server. Cleaning up local configuration.")
	if got := w.state("j"); got != githubsim.Queued {
		t.Errorf("job of the run after the deletion is %s, want queued", got)
	}
	if _, err := os.Stat(filepath.Join(dir, ".runner")); !os.IsNotExist(err) {
		t.Errorf("stat .runner error = %v, want none left", err)
	}
}

func TestDeleted_BeforeItStarts(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	config := w.jit(t, "i-1-1", "a")
	must(t, w.DeleteRunner(t.Context(), 1))
	s := w.start(t, t.TempDir(), nil, "run", "--jitconfig", config)
	check(t, "run", s.ended(t), 1, s)
	s.err.has(t, "The runner registration has been deleted from the server")
}

func TestJITConfig_Malformed(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	for name, config := range map[string]string{
		"NotBase64": "%%%",
		"NotJSON":   "aGFsbG8=",
		"Traversal": "eyIuLi9ldmlsIjoiYWJjZA==", // {"../evil":"abcd"}
	} {
		t.Run(name, func(t *testing.T) {
			s := w.start(t, t.TempDir(), nil, "run", "--jitconfig", config)
			check(t, "run", s.ended(t), 1, s)
			if strings.Contains(s.err.String(), config) {
				t.Errorf("stderr tells the configuration: %s", s.err)
			}
		})
	}
}

func TestSessionConflict_EndsWith5(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	config := w.jit(t, "i-1-1", "a")
	first := w.start(t, t.TempDir(), nil, "run", "--jitconfig", config)
	first.out.await(t, "Listening for Jobs")
	second := w.start(t, t.TempDir(), nil, "run", "--jitconfig", config)
	check(t, "second session", second.ended(t), 5, second)
	if n := strings.Count(second.err.String(), "A session for this runner already exists."); n != 8 {
		t.Errorf("tried %d times, want 8: every 30 s for 4 min", n)
	}
	check(t, "first session", first.exit(t), 0, first)
}

func TestSessionGone_IsCreatedAnew(t *testing.T) {
	clk := clocktesting.NewFakeClock(time.Now()) // no session times out while it stands still
	w := newWorld(t, githubsim.Options{Clock: clk})
	s := w.start(t, t.TempDir(), os.Environ(), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	s.out.await(t, "Listening for Jobs")
	w.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{githubsim.CallPoll}})
	eventually(t, "the session times out", func() error {
		clk.Step(time.Second)
		if !strings.Contains(s.err.String(), "Runner connect error") || w.Registrations()[0].Online {
			return errors.New("it is online")
		}
		return nil
	})
	w.SetOutage(githubsim.Outage{})
	w.submit(t, githubsim.Job{ID: "j", Label: "a"})
	check(t, "run", s.ended(t), 0, s)
	w.concluded(t, "j", githubsim.Success)
	if n := strings.Count(s.out.String(), "Listening for Jobs"); n != 1 {
		t.Errorf("said %d times that it listens, want once", n)
	}
}

// An outage is told once, however many tries it takes; its end only where a session was waited for.
func TestOutage_ReportedOnce(t *testing.T) {
	for call, told := range map[githubsim.Call]int{githubsim.CallConnect: 1, githubsim.CallPoll: 0} {
		t.Run(string(call), func(t *testing.T) {
			w := newWorld(t, githubsim.Options{PollWait: 50 * time.Millisecond})
			w.SetOutage(githubsim.Outage{Mode: githubsim.Fails, Calls: []githubsim.Call{call}})
			s := w.start(t, t.TempDir(), os.Environ(), "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
			s.err.await(t, "Runner connect error")
			failed := w.Calls()[call]
			w.await(t, "another round of tries", func() bool { return w.Calls()[call] > failed+20 || told > 0 })
			w.SetOutage(githubsim.Outage{})
			w.submit(t, githubsim.Job{ID: "j", Label: "a"})
			check(t, "run", s.ended(t), 0, s)
			if n := strings.Count(s.err.String(), "Runner connect error"); n != 1 {
				t.Errorf("reported %d times, want once:\n%s", n, s.err)
			}
			if n := strings.Count(s.out.String(), "Runner reconnected."); n != told {
				t.Errorf("said %d times that it is back, want %d:\n%s", n, told, s.out)
			}
		})
	}
}

// What fails while one message is waited for adds up, and the tenth time ends the program.
func TestOutage_TenTimesWithinOneWait_EndsWith2(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	s := w.start(t, t.TempDir(), nil, "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
	s.out.await(t, "Listening for Jobs")
	w.SetTrouble(githubsim.Broker, githubsim.Answer500, 0)
	check(t, "run", s.ended(t), 2, s)
	if got := w.Calls()[githubsim.CallPoll]; got < 50 {
		t.Errorf("polled %d times, want 10 times 5 tries at least", got)
	}
}

func TestDeprecated_ExitCode(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want int
	}{
		{nil, 1},
		{[]string{"ACTIONS_RUNNER_RETURN_VERSION_DEPRECATED_EXIT_CODE=1"}, 7},
	} {
		w := newWorld(t, githubsim.Options{})
		w.SetDeprecated(true)
		s := w.start(t, t.TempDir(), tt.env, "run", "--jitconfig", w.jit(t, "i-1-1", "a"))
		check(t, "deprecated", s.ended(t), tt.want, s)
		s.err.has(t, "is deprecated and cannot receive messages")
	}
}

func TestRetryableError_EndsWith2(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, ".runner"), []byte("{"), 0o600))
	s := w.start(t, dir, nil, "run")
	check(t, "broken configuration", s.ended(t), 2, s)
}

func TestOtherCommands(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	for _, tt := range []struct {
		name     string
		args     []string
		code     int
		out, err string
	}{
		{"Version", []string{"--version"}, 0, "2.336.0", ""},
		{"Help", []string{"--help"}, 0, "Commands:", ""},
		{"Nothing", nil, 0, "Commands:", ""},
		{"Warmup", []string{"warmup"}, 0, "", ""},
		{"UnknownCommand", []string{"fly"}, 0, "Commands:", "does not recognize the command-line input arguments: 'fly'"},
		{"UnknownFlag", []string{"remove", "--local", "--hurry", "--far", "away"}, 0, "Skipping Removing .runner",
			"Unrecognized command-line input arguments for command remove: 'far, hurry'"},
		{"RemoveNothing", []string{"remove", "--token", "x"}, 0, "config files are missing", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := w.start(t, t.TempDir(), nil, tt.args...)
			check(t, tt.name, s.ended(t), tt.code, s)
			if !strings.Contains(s.out.String(), tt.out) || !strings.Contains(s.err.String(), tt.err) {
				t.Errorf("said %q and %q, want %q and %q", s.out, s.err, tt.out, tt.err)
			}
		})
	}
}

func TestOnce_KeepsTheRegistration(t *testing.T) {
	w := newWorld(t, githubsim.Options{})
	dir := t.TempDir()
	s := w.start(t, dir, nil, "configure", "--unattended", "--url", w.URL(), "--token", w.token(t), "--name", "n", "--labels", "a", "--no-default-labels")
	check(t, "configure", s.ended(t), 0, s)
	w.submit(t, githubsim.Job{ID: "j", Label: "a"})
	s = w.start(t, dir, nil, "run", "--once")
	check(t, "run", s.ended(t), 0, s)
	runners, err := w.Runners(context.WithoutCancel(t.Context()))
	if err != nil || len(runners) != 1 || runners[0].Online {
		t.Errorf("Runners() = %+v, %v, want one, offline", runners, err)
	}
}
