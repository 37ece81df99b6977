package action

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/action/step"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Whatever a request waits for, who looks learns it while it waits, from each view the same: the log of the step, another
// client, status and explain; and the run's page keeps it when the step is cancelled.
func TestWaits(t *testing.T) {
	program.Long(t, "makes requests wait in seven installations")
	for name, story := range map[string]func(*testing.T){
		"cap full": waitsForCap, "older request ahead": waitsBehind, "script that hangs": waitsForScript, "EC2 without capacity in two zones": waitsForCapacity,
		"GitHub down": func(t *testing.T) {
			waitsForGitHub(t, githubsim.Fails, reconciler.ReasonGitHubDown, `GitHub does not answer: .*503.*`)
		},
		"GitHub 401": func(t *testing.T) {
			waitsForGitHub(t, githubsim.Revoked, reconciler.ReasonGitHubRefuses, `GitHub refuses: .*[Bb]ad credentials.*`)
		},
		"no controller": waitsForController,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(t)
		})
	}
}

func waitsForCap(t *testing.T) {
	w := install(t, "REMUDA_CAPS_MAX_INSTANCES=1").control()
	w.provisioned(w.run("1", 1, nil), "1", 1, 0)
	w.waits("4711", reconciler.ReasonCap, `caps\.maxInstances is reached: it allows 1; request .*\b1 holds 1`)
	w.released(w.run("1", 1, inputs{"mode": "release"}), "1")
	w.close()
}

func waitsBehind(t *testing.T) {
	w := install(t, "REMUDA_CAPS_MAX_INSTANCES=1").control()
	w.provisioned(w.run("1", 1, nil), "1", 1, 0)
	older := w.job("2", 1)
	s, err := older.Start(w.action, w.with(nil))
	w.Check(err)
	w.logs(s, `^2  Pending  .*  caps\.maxInstances is reached: `)
	w.waits("4711", reconciler.ReasonBehind, `it is in line behind older requests of its class; 1 ahead, the first is request 2`)
	w.cancels(older, s)
	w.released(w.run("1", 1, inputs{"mode": "release"}), "1")
	w.close()
}

func waitsForScript(t *testing.T) {
	dir := t.TempDir()
	script, goOn := filepath.Join(dir, "script"), filepath.Join(dir, "go-on")
	if err := os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nuntil test -e '%s'; do sleep 0.1; done\n", goOn), 0o700); err != nil {
		t.Fatal(err)
	}
	w := install(t, "REMUDA_AGENT_SCRIPT="+script).control()
	w.waits("4711", reconciler.ReasonScript, `the script of instance \S+ runs`)
	w.Check(os.WriteFile(goOn, nil, 0o600))
	w.close()
}

func waitsForCapacity(t *testing.T) {
	const code = "InsufficientInstanceCapacity"
	cloud := ec2test.New(t)
	zones := []string{"us-east-1a", "us-east-1b"}
	for _, zone := range zones {
		cloud.Refuse(ec2test.Pool{Zone: zone}, code)
	}
	// What was refused is left alone for as long as the story takes: asked again, it would wait for that instead.
	w := installOn(t, cloud, "REMUDA_AGENT_RUNNER_USER=ci", "REMUDA_INTERVALS_EXCLUSION=10m").control()
	w.waits("4711", reconciler.ReasonCapacity, fmt.Sprintf("the fleet has no capacity: %[2]s %[1]s, %[3]s %[1]s", code, zones[0], zones[1]))
	w.close()
}

func waitsForGitHub(t *testing.T, mode githubsim.Mode, reason, sentence string) {
	w := install(t).control()
	w.controller.Says("leads|leader")
	w.sim("PUT", "outage", githubsim.Outage{Mode: mode}, nil)
	w.waits("4711", reason, sentence)
	w.sim("PUT", "outage", githubsim.Outage{}, nil)
	w.close()
}

func waitsForController(t *testing.T) {
	w := install(t)
	j, s := w.asks("4711")
	w.logs(s, `^4711  waiting for the controller  `, `^##\[warning\]no controller answered yet, 5 s .*is .remuda controller. running for installation `+w.name)
	w.shows(`(?m)^4711 .* waiting .* no controller ever led *$`, "status")
	w.shows(`(?m)^reason +no controller ever led *$`, "status", "request", "4711")
	w.shows(`(?m)^No controller has taken it up for `+took+`\. No controller answers: no controller ever led\.$`, "explain", "4711")
	w.client("4711", `4711  waiting for the controller  `+short+`\n`)
	r := w.cancels(j, s)
	w.summary(r, `waited last for | no_controller: waiting for the controller for `)
}

// view is what `remuda status request ID -o json` says of a wait.
type view struct {
	Phase       statemachine.Phase `json:"phase"`
	Reason      string             `json:"reason"`
	Message     string             `json:"message"`
	ReasonSince store.Time         `json:"reasonSince"`
	PendingAt   store.Time         `json:"pendingAt"`
}

// Durations as people see them: of clients and status, and of explain.
const (
	short = `(?:\d+s|\d+m\d\ds)`
	took  = `(?:[\d.]+ s|\d+m\d\ds)`
)

// waits wants a request that waits for a reason to say so in every view, with its sentence, a pattern, and for how long.
func (w *world) waits(id, reason, sentence string) {
	w.Helper()
	j, s := w.asks(id)
	w.logs(s, `^`+id+`  Pending  ready 0/1  .*  `+sentence+` for \d+ s  [\d.]+ s$`)

	var is view
	w.until("status says "+reason, func() bool {
		var err error
		is, err = program.JSON[view](w.remuda("status", "request", id, "-o", "json"))
		w.Check(err)
		return is.Reason == reason && regexp.MustCompile(`^`+sentence+`$`).MatchString(is.Message)
	})
	if is.Phase != statemachine.Pending || is.ReasonSince.Sub(is.PendingAt.Time) < 0 || is.ReasonSince.After(time.Now()) {
		w.Errorf("status = %+v, want it Pending, and for as long", is)
	}
	lasted := sentence + ` for ` + short + ` *$`
	w.shows(`(?m)^`+id+` +1 +Pending +0/1 .* `+lasted, "status")
	w.shows(`(?m)^reason +`+lasted, "status", "request", id)
	w.shows(`(?m)^It has waited for `+took+`, the last `+took+` of it because of: `+sentence+` \(`+reason+`\)\.`, "explain", id)
	w.client(id, id+`  Pending  ready 0/1  .*  `+sentence+` for `+short+`  `+short+`\n`)

	r := w.cancels(j, s)
	says(w, r, `^##\[error\]request `+id+` attempt 1: cancelled after [\d.]+ s \(last: Pending  ready 0/1 .*  `+sentence+` for \d+ s\); what was asked for was given back$`)
	w.summary(r, `waited last for | `+reason+`: `, sentence+` for \d+ s, since `+regexp.QuoteMeta(is.ReasonSince.String()))
}

// asks starts a step that asks for one runner, which a second client can ask for too.
func (w *world) asks(run string) (*step.Job, *step.Step) {
	w.Helper()
	j := w.job(run, 1)
	j.Grace = step.Grace{Interrupt: patience}
	s, err := j.Start(w.action, w.with(inputs{"max-runtime-min": "10", "timeout": "10m"}))
	w.Check(err)
	return j, s
}

// client runs a second client of what asks has asked for until its line says what matches.
func (w *world) client(id, pattern string) {
	w.Helper()
	d := w.start("client", w.env, "request", "--id", id, "--resource-class", "small", "--allowed-instance-types", "*",
		"--max-runtime", "10m", "--timeout", "10m", "--repository", "octo/remuda", "--run-attempt", "1")
	d.Says(pattern)
	d.End(syscall.SIGKILL) // any other signal makes it give back
}

// logs waits until a step's log has a line for each pattern.
func (w *world) logs(s *step.Step, patterns ...string) {
	w.Helper()
	for _, p := range patterns {
		match := regexp.MustCompile(p)
		if err := program.Until(patience, "the step says "+p, func() bool { return slices.ContainsFunc(s.Result().Log, match.MatchString) }); err != nil {
			w.Fatalf("%v; log:\n%s", err, strings.Join(s.Result().Log, "\n"))
		}
	}
}

// shows waits until what a command line prints matches; how it ends is for other tests.
func (w *world) shows(pattern string, args ...string) {
	w.Helper()
	match, out := regexp.MustCompile(pattern), []byte(nil)
	if err := program.Until(patience, fmt.Sprintf("remuda %s shows %s", strings.Join(args, " "), pattern), func() bool {
		out, _ = w.remuda(args...)
		return match.Match(out)
	}); err != nil {
		w.Fatalf("%v:\n%s", err, out)
	}
}

// cancels cancels a step that waits.
func (w *world) cancels(j *step.Job, s *step.Step) step.Result {
	w.Helper()
	j.Cancel(s)
	r := s.Wait()
	if r.Conclusion != step.Cancelled {
		w.Errorf("step: %s, want it cancelled; log:\n%s", r.Conclusion, strings.Join(r.Log, "\n"))
	}
	return r
}

// escaped is what a summary escapes for Markdown.
var escaped = regexp.MustCompile(`\\([^\\])`)

// summary wants a row of a step's summary that begins with text, and goes on as the patterns say.
func (w *world) summary(r step.Result, begins string, goesOn ...string) {
	w.Helper()
	text := escaped.ReplaceAllString(r.Summary, "$1")
	if !regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(begins) + strings.Join(goesOn, "")).MatchString(text) {
		w.Errorf("summary:\n%s\nwant a row that begins with %q and goes on %q", text, begins, goesOn)
	}
}
