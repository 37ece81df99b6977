package step

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/remuda-run/remuda/internal/process"
)

const withInputs = `
inputs:
  instance-count: {default: 1}
  Two Words: {default: "${{ github.run_id }}-x"}
  given: {default: x}
  emptied: {default: y}
  none: {description: no default}
runs: {using: node24, main: main.sh}
`

func TestRun_InputsAndContext(t *testing.T) {
	a := action(t, withInputs, map[string]string{"main.sh": `tr '\0' '\n' </proc/$$/environ | grep -E '^(INPUT_|STATE_|GITHUB_RUN|GITHUB_ACTIONS|CI=)' | sort; test -s "$GITHUB_OUTPUT" || echo empty`})
	got, err := job(t).Run(a, map[string]string{"Given": " 5 ", "emptied": "", "strange": "z"})
	check(t, err)
	want := Result{
		Conclusion: Success,
		Log: []string{
			"CI=true", "GITHUB_ACTIONS=true", "GITHUB_RUN_ATTEMPT=2", "GITHUB_RUN_ID=4711",
			"INPUT_EMPTIED=", "INPUT_GIVEN= 5 ", "INPUT_INSTANCE-COUNT=1", "INPUT_NONE=", "INPUT_STRANGE=z", "INPUT_TWO_WORDS=4711-x",
			"empty",
		},
		Problems: []string{`unexpected inputs ["strange"]`},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Result{}, "Took")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestRun_FilesAndCommands(t *testing.T) {
	got := run(t, `
echo a=1 >>"$GITHUB_OUTPUT"; printf 'b<<E\none\ntwo\nE\n' >>"$GITHUB_OUTPUT"; echo c=3 >>"$GITHUB_OUTPUT"
echo VAR=x >>"$GITHUB_ENV"; echo /opt/bin >>"$GITHUB_PATH"
echo "# title s3cret" >>"$GITHUB_STEP_SUMMARY"
echo "::add-mask::s3cret"; echo "it is s3cret"; echo "::error title=T::no s3cret"
echo "::group::g"; echo "::endgroup::"; echo "::stop-commands::tok"; echo "::error::no error"; echo "::tok::"; printf '::debug::d'
`)
	want := Result{
		Conclusion: Success,
		Log: []string{
			"it is ***", "##[error]no ***", "##[group]g", "##[endgroup]", "::stop-commands::tok", "::error::no error", "::tok::", "##[debug]d",
		},
		Annotations: []Command{{"error", map[string]string{"title": "T"}, "no ***"}},
		Outputs:     map[string]string{"a": "1", "b": "one\ntwo", "c": "3"},
		Env:         map[string]string{"VAR": "x"}, Paths: []string{"/opt/bin"}, Summary: "# title ***\n",
		Problems: []string{"output c is not declared"},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Result{}, "Took")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// Commands are obeyed on either stream. Which stream is read first is chance.
func TestRun_CommandsOnBothStreams(t *testing.T) {
	got := run(t, `echo "::notice::n" >&2; echo "::warning::w"`)
	want := []Command{{"notice", map[string]string{}, "n"}, {"warning", map[string]string{}, "w"}}
	if diff := cmp.Diff(want, got.Annotations, cmpopts.SortSlices(func(a, b Command) bool { return a.Name < b.Name })); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestRun_Failures(t *testing.T) {
	for name, tc := range map[string]struct {
		script  string
		code    int
		problem string
	}{
		"exit code":     {"exit 3", 3, ""},
		"file":          {`echo nonsense >>"$GITHUB_OUTPUT"`, 0, "file command OUTPUT"},
		"set-env":       {"echo ::set-env name=a::b", 0, "set-env is disabled"},
		"stop-commands": {"echo ::stop-commands::error", 0, "not allowed"},
		"signal":        {"kill -KILL $$", -1, ""},
		"summary":       {`head -c 1048577 /dev/zero >>"$GITHUB_STEP_SUMMARY"`, 0, "1048577 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, tc.script)
			problems := strings.Join(got.Problems, "\n")
			if got.Conclusion != Failure || got.ExitCode != tc.code || !strings.Contains(problems, tc.problem) || (tc.problem == "") != (problems == "") {
				t.Errorf("%s, exit code %d, problems %q, want failure, %d, %q", got.Conclusion, got.ExitCode, problems, tc.code, tc.problem)
			}
		})
	}
}

// What a step exports reaches the next step of the job, and only it.
func TestRun_NextStep(t *testing.T) {
	j := job(t)
	for _, step := range []struct{ script, want string }{
		{`echo VAR=x >>"$GITHUB_ENV"; echo /opt/b >>"$GITHUB_PATH"; echo "${VAR-unset}"`, "unset"},
		{`echo "$VAR ${PATH%%:*}"`, "x /opt/b"},
	} {
		got, err := j.Run(action(t, plain, map[string]string{"main.sh": step.script}), nil)
		if diff := cmp.Diff([]string{step.want}, got.Log); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// A busy machine has all the time it needs to obey; only what is ignored is given up soon.
func TestCancel(t *testing.T) {
	for name, tc := range map[string]struct {
		script  string
		grace   Grace
		signals []syscall.Signal
		code    int
	}{
		"obeys":    {`trap 'echo "a=interrupted" >>"$GITHUB_OUTPUT"; exit 0' INT; echo ready; while :; do sleep 0.01; done`, Grace{time.Minute, time.Minute}, []syscall.Signal{syscall.SIGINT}, 0},
		"slow":     {`trap '' INT; trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done`, Grace{200 * time.Millisecond, time.Minute}, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, 9},
		"stubborn": {`trap '' INT TERM; sleep 1000 >/dev/null 2>&1 & echo ready; while :; do sleep 0.01; done`, Grace{200 * time.Millisecond, 100 * time.Millisecond}, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := job(t)
			j.Grace = tc.grace
			s, err := j.Start(action(t, plain, map[string]string{"main.sh": tc.script}), nil)
			check(t, err)
			shows(t, s, "ready")
			j.Cancel(s)
			got := s.Wait()
			if got.Conclusion != Cancelled || got.ExitCode != tc.code || j.Status() != Cancelled {
				t.Errorf("step %s with exit code %d, job %s, want cancelled with %d", got.Conclusion, got.ExitCode, j.Status(), tc.code)
			}
			if diff := cmp.Diff(tc.signals, got.Signals); diff != "" {
				t.Errorf("signals (-want +got):\n%s", diff)
			}
			if name == "obeys" && got.Outputs["a"] != "interrupted" {
				t.Errorf("outputs = %v, want those written after the signal", got.Outputs)
			}
			if left, err := process.Find(trackingEnv, s.mark); err != nil || len(left) > 0 {
				t.Errorf("left are %v, %v", left, err)
			}
		})
	}
}

const withPost = `
runs: {using: node24, main: main.sh, post: post.sh, post-if: "cancelled() || failure()"}
`

func TestPost(t *testing.T) {
	for main, want := range map[string]Conclusion{"exit 0": Skipped, "exit 1": Success, "echo ready; exec sleep 1000": Success} {
		t.Run(main, func(t *testing.T) {
			j := job(t)
			a := action(t, withPost, map[string]string{
				"main.sh": `printf 'id<<E\n%s\nE\n' "$INPUT_ID" >>"$GITHUB_STATE"; ` + main,
				"post.sh": `echo "$INPUT_ID state $STATE_id"; test -s "$GITHUB_STATE" || echo empty`,
			})
			s, err := j.Start(a, map[string]string{"id": "one"})
			check(t, err)
			if strings.Contains(main, "ready") {
				shows(t, s, "ready")
				j.Cancel(s)
			}
			s.Wait()
			posts, err := j.Post()
			if err != nil || len(posts) != 1 || posts[0].Conclusion != want {
				t.Fatalf("post = %+v, %v, want %s", posts, err, want)
			}
			if diff := cmp.Diff([]string{"one state one", "empty"}, posts[0].Log); want != Skipped && diff != "" {
				t.Errorf("log of post (-want +got):\n%s", diff)
			}
			if again, err := j.Post(); len(again) > 0 || err != nil {
				t.Errorf("post again = %v, %v", again, err)
			}
		})
	}
}

// The last step's post comes first, each with its own state.
func TestPost_Order(t *testing.T) {
	j := job(t)
	a := action(t, strings.ReplaceAll(withPost, "cancelled() || failure()", "always()"), map[string]string{
		"main.sh": `echo id="$INPUT_ID" >>"$GITHUB_STATE"`, "post.sh": `echo "$STATE_id"`,
	})
	for _, id := range []string{"1", "2"} {
		if _, err := j.Run(a, map[string]string{"id": id}); err != nil {
			t.Fatal(err)
		}
	}
	posts, err := j.Post()
	check(t, err)
	var order []string
	for _, p := range posts {
		order = append(order, p.Log...)
	}
	if diff := cmp.Diff([]string{"2", "1"}, order); diff != "" {
		t.Errorf("order of post steps (-want +got):\n%s", diff)
	}
}

func TestLoad_Refuses(t *testing.T) {
	for _, text := range []string{"", "runs: {using: composite}", "runs: {using: node24, main: absent.js}", "runs: {using: node24, main: a.js, pre: a.js}", "runs: [", "runs: {using: node24}"} {
		dir := t.TempDir()
		check(t, os.WriteFile(filepath.Join(dir, "action.yml"), []byte(text), 0o600))
		check(t, os.WriteFile(filepath.Join(dir, "a.js"), nil, 0o600))
		if _, err := Load(dir); err == nil {
			t.Errorf("Load() takes %q", text)
		}
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("Load() takes an empty folder")
	}
}

// Without a program of its own, a job's scripts are JavaScript.
func TestRun_Node(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("left out: node is not installed")
	}
	j := job(t)
	j.Node = ""
	a := action(t, "inputs: {a-b: {}}\nruns: {using: node24, main: main.js}\n", map[string]string{"main.js": `console.log(process.env['INPUT_A-B'])`})
	got, err := j.Run(a, map[string]string{"a-b": "ü %"})
	if diff := cmp.Diff([]string{"ü %"}, got.Log); err != nil || diff != "" {
		t.Errorf("%v, log (-want +got):\n%s", err, diff)
	}
}
