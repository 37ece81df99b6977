package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/story"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/githubsim"
)

const (
	patience      = 3 * time.Minute // for one thing, on a busy computer
	runnerVersion = "2.300.0"
	room          = 5 // for instances in the fleet; the story needs no more at once
)

// day is a demonstration that a Prometheus looks at.
type day struct {
	program.T
	stage    *stage          // nil once it has ended
	outdated *program.Daemon // a controller whose runners' version ends; it looks for that when it starts
	seen     *prometheus
	github   program.GitHub
	story    *story.Story
}

// beginDay starts the demonstration, a controller of an old version of the runner, another that AWS denies everything, and
// Prometheus, which looks at all three.
func beginDay(t testing.TB) *day {
	t.Helper()
	d := &day{T: program.T{TB: t}}
	var err error
	d.stage, err = begin(t.Context(), t.TempDir(),
		// No idle machine ends before the story asks for it, and none is slow because the computer is busy.
		"REMUDA_LIMITS_IDLE=30m", "REMUDA_LIMITS_CREATED=10m", "REMUDA_LIMITS_CREATE_GATE=5m", "REMUDA_LIMITS_CLAIMED=5m", "REMUDA_LIMITS_CLAIM_GATE=4m",
		fmt.Sprint("REMUDA_PROCESS_CAPACITY=", room),
		"REMUDA_CLASSES={small: {cpu: 2, mem: 4096}, single: {cpu: 4, mem: 8192, cap: 1}}",
		"REMUDA_PROCESS_TYPES=[{name: c6i.large, cpu: 2, mem: 4096}, {name: r6i.large, cpu: 2, mem: 16384}, {name: c6i.xlarge, cpu: 4, mem: 8192}]",
		"REMUDA_INTERVALS_HOUSEKEEPING=500ms")
	d.Check(err)
	t.Cleanup(d.end)
	root, err := d.stage.github()
	d.Check(err)
	d.github = program.GitHub{Root: root, Token: "simulated"}
	d.control("/deprecations/"+runnerVersion, map[string]any{"runtime": time.Now().Add(7 * 24 * time.Hour)})
	d.control("/ratelimit/core", budget)
	address, err := d.stage.setting("listen")
	d.Check(err)
	d.outdated = controller(t, "outdated", root, "REMUDA_AGENT_RUNNER_VERSION="+runnerVersion)
	d.seen = scrape(t, address, metricsAt(d.outdated), metricsAt(denied(t, root)))
	d.seen.until("sum(up) == 3")
	d.story = story.New(story.Options{
		Site: d.stage, Witness: d.stage.witness, GitHub: root, Out: t.Output(), Patience: patience, Forgotten: 15 * time.Second, Drain: true,
	})
	return d
}

// budget is that of a token (GitHub REST, "Rate limits").
var budget = map[string]any{"limit": 5000, "windowSeconds": 3600}

// end ends the demonstration if it has not ended.
func (d *day) end() {
	d.Helper()
	if s := d.stage; s != nil {
		d.stage = nil
		if err := s.end(); err != nil {
			d.Error(err)
		}
		if d.Failed() {
			text, err := os.ReadFile(s.log.Name())
			d.Log(program.Tail("remuda dev", text), err)
		}
	}
}

// control tells the simulated GitHub something.
func (d *day) control(path string, value any) {
	d.Helper()
	d.Check(d.github.Call(d.Context(), patience, http.MethodPut, path, value, nil))
}

// fail has GitHub refuse the token and then throttle, reaches a cap and the end of the fleet, and asks for what nobody can have.
func (d *day) fail() {
	d.Helper()
	d.control("/outage", githubsim.Outage{Mode: githubsim.Revoked})
	d.seen.until(`ALERTS{alertname="RemudaGitHubRefuses", alertstate="firing"}`)
	d.control("/outage", githubsim.Outage{})
	d.control("/ratelimit/core", map[string]any{"limit": 0, "windowSeconds": 2}) // how long nobody asks again
	d.seen.until(`remuda_github_state{state="throttled"} == 1`)
	d.control("/ratelimit/core", budget)
	d.seen.until(`remuda_github_state{state="up"} == 1`)

	d.Check(d.ask("run-g", "single", 1))
	d.waits("run-h", "single", 1, `remuda_requests_waiting{reason="cap"} > 0`)
	d.waits("run-i", "small", room, `sum(increase(remuda_launch_refusals_total[`+d.seen.since()+`])) > 0`)
	if err := d.ask("run-j", "single", 2); err == nil {
		d.Error("run-j got more than the cap of its class allows")
	}
	d.seen.until(`sum(remuda_requests_failed_total) > 0`)
}

// ask asks for instances of the type that the story has most of, and waits until they are ready.
func (d *day) ask(run, class string, count int) error {
	_, err := d.stage.Remuda(d.Context(), "request", "--id", run, "--resource-class", class, "--count", fmt.Sprint(count), "--allowed-instance-types", "c*")
	return err
}

// waits asks for what cannot be had, and takes it back once an expression is true of something.
func (d *day) waits(run, class string, count int, expr string) {
	d.Helper()
	answer := make(chan error, 1)
	go func() { answer <- d.ask(run, class, count) }()
	d.seen.until(expr)
	_, err := d.stage.Remuda(d.Context(), "release", "--id", run)
	d.Check(err)
	if err := <-answer; err == nil {
		d.Errorf("%s was served with more than there is", run)
	}
}

// denied starts a controller of which AWS denies every call.
func denied(t testing.TB, github string) *program.Daemon {
	t.Helper()
	aws := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"no"}`)
	}))
	t.Cleanup(aws.Close)
	at := "://denied?region=" + awstest.Region
	return controller(t, "denied", github, append(awstest.Env(map[string]string{"dynamodb": aws.URL, "sqs": aws.URL}),
		"REMUDA_STORE=dynamodb"+at, "REMUDA_POOL=sqs"+at)...)
}

// controller starts one of an installation of its own.
func controller(t testing.TB, name, github string, env ...string) *program.Daemon {
	t.Helper()
	dir := t.TempDir()
	return program.Start(t, program.Command{
		Name: name, Args: []string{"controller"}, Dir: dir, Patience: patience,
		Env: append([]string{
			"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "REMUDA_NAME=" + name, "REMUDA_GITHUB_URL=" + github + "/octo/repo", "REMUDA_GITHUB_TOKEN=simulated",
			"REMUDA_STORE=sqlite://" + filepath.Join(dir, "remuda.db"), "REMUDA_FLEET=process://" + filepath.Join(dir, "instances"), "REMUDA_HTTP_LISTEN=127.0.0.1:0",
		}, env...),
	})
}

// metricsAt returns where a controller serves them.
func metricsAt(d *program.Daemon) string { return d.Says(`"msg":"serving HTTP","address":"([^"]+)"`) }
