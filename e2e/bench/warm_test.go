package bench_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/action/step"
	"github.com/remuda-run/remuda/e2e/bench"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

// warmCounts are the sizes of requests, how often each is asked for by every client, and beside how many idle machines of other
// types: records, which have no machine and no heartbeat.
var warmCounts = []struct{ n, rounds, others int }{{1, 16, 0}, {10, 5, 0}, {100, 4, 0}, {1, 12, 100}, {1, 12, 10_000}}

var warmOnly = flag.Int("warm.n", 0, "only the requests of BenchmarkWarm for so many machines; 0: all")

// resting is how long nothing must have happened before the next request: a hundred machines that come back keep what stands in for
// AWS busy for a while. It is longer than what is deleted in batches waits.
const resting = 3 * time.Second

// registration is how long GitHub takes until a listener that was started listens (docs/goals.md).
const registration = 2700 * time.Millisecond

// BenchmarkWarm measures a warm start of the built program, from the start of a client's process to its end: DynamoDB Local, SQS by
// moto and a simulated GitHub behind a wire with their latencies, machines that are processes. Clients, `remuda request` and the
// action, and the floor take turns. Of the clients it tells, in ms: "start" until the first write, "ready" from there to the write of
// Ready, "over" what of that is beyond the registration and the one call of GitHub's that makes it, "seen" from there to the client's
// end. Where idle machines listen ahead there is no registration, and the floor makes the calls up to the write of Ready. G1
func BenchmarkWarm(b *testing.B) {
	build(b)
	for _, c := range warmCounts {
		for _, ahead := range []bool{false, true} {
			if *warmOnly == 0 || *warmOnly == c.n {
				b.Run(fmt.Sprintf("ahead=%t/N=%d/others=%d", ahead, c.n, c.others), func(b *testing.B) { warm(b, c.n, c.rounds, c.others, ahead) })
			}
		}
	}
}

func warm(b *testing.B, n, rounds, others int, ahead bool) {
	w := newWarmWorld(b, n, others, ahead)
	next := 0
	w.request("1", "cli", n)
	w.giveBack("1")
	type figures struct{ start, ready, over, seen bench.Times }
	of := map[string]*figures{"cli": {}, "action": {}}
	var floors bench.Times
	for b.Loop() {
		for range rounds {
			for _, client := range []string{"cli", "action"} {
				next++
				id := strconv.Itoa(1000 + next)
				w.live(id)
				began := time.Now()
				w.request(id, client, n)
				ended := time.Now()
				asked, ready := w.wire.of(id)
				f := of[client]
				f.start = append(f.start, asked.Sub(began))
				f.ready = append(f.ready, ready.Sub(asked))
				f.over = append(f.over, ready.Sub(asked)-registration-githubCall)
				f.seen = append(f.seen, ended.Sub(ready))
				w.giveBack(id)
			}
			floors = append(floors, timed(b, func() error { return w.startFloor(fmt.Sprint("floor-", next)) }))
			check(b, w.floor.Return(b.Context(), fmt.Sprint("floor-", next)))
			check(b, program.Until(time.Minute, "the floor's messages are read", func() bool { return w.wire.calm(resting) }))
		}
	}
	none(b)
	for client, f := range of {
		report(b, client+"-start", f.start)
		report(b, client+"-ready", f.ready)
		if !ahead {
			report(b, client+"-over", f.over)
		}
		report(b, client+"-seen", f.seen)
	}
	report(b, "floor", floors)
}

// warmWorld is an installation of the built program.
type warmWorld struct {
	b          *testing.B
	ahead      bool // idle machines listen ahead
	name, dir  string
	aws        string // address of the wire
	wire       *wire
	github     program.GitHub
	env        []string
	action     *step.Action
	floor      *bench.Floor
	labels     http.Client // of the floor, to GitHub
	store      *store.Store
	controller *program.Daemon
}

func newWarmWorld(b *testing.B, n, others int, ahead bool) *warmWorld {
	b.Helper()
	leftOut(b)
	step.RequireNode(b)
	w := &warmWorld{b: b, ahead: ahead, name: "warm-" + strings.ToLower(rand.Text()[:10]), dir: b.TempDir(), wire: newWire()}
	dynamo, sqs := awstest.DynamoDBLocal(b), awstest.Moto(b)
	var err error
	w.action, err = step.Load("../..")
	check(b, err)
	w.github = program.Start(b, program.Command{Name: "github", Dir: w.dir, Args: []string{"dev", "github", "--latency", registration.String()}, Patience: time.Minute}).GitHub()
	w.aws = w.wire.serve(b, dynamo, sqs, w.github.Root)
	w.env = append(awstest.Env(w.endpoints()), "PATH="+os.Getenv("PATH"), "HOME="+w.dir, "REMUDA_CONFIG="+filepath.Join(w.dir, "remuda.yaml"), "REMUDA_SIMULATED_TOKEN="+w.github.Token)
	api := regexp.MustCompile(`apiUrl: [^,]*//[^/,]*`).ReplaceAllLiteralString(w.github.Settings, "apiUrl: "+w.aws)
	if ahead {
		api = strings.Replace(api, "github: {", "github: {ahead: true, aheadMax: 200, ", 1)
	}
	settings := fmt.Sprintf("name: %s\nstore: dynamodb://%[1]s\npool: sqs://%[1]s\nfleet: process://%s\ncaps: {maxInstances: 200}\n"+
		"limits: {idle: 1h, created: 1h, claimed: 10m, claimGate: 5m, createGate: 30m, running: 1h}\nclasses: {small: {cpu: 2, mem: 4096}}\n"+
		"process: {capacity: 200, types: [{name: m5.large, cpu: 2, mem: 8192}]}\n%s", w.name, filepath.Join(w.dir, "fleet"), api)
	check(b, os.WriteFile(filepath.Join(w.dir, "remuda.yaml"), []byte(settings), 0o600))
	w.remuda("init")
	table, err := dynamostore.Open(b.Context(), &url.URL{Scheme: "dynamodb", Host: w.name}, awstest.Config(b, dynamo), clock.RealClock{}, slog.New(slog.DiscardHandler))
	check(b, err)
	w.store = store.New(table)
	check(b, bench.Seed(b.Context(), table, others, idleLife))
	w.controller = program.Start(b, program.Command{Name: "controller", Dir: w.dir, Env: w.env, Args: []string{"controller"}, Patience: time.Minute})
	w.floor, w.labels = w.newFloor(n), http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	b.Cleanup(w.off)
	return w
}

func (w *warmWorld) endpoints() map[string]string {
	return map[string]string{"dynamodb": w.aws, "sqs": w.aws}
}

// off ends the controller, and then the machines, which outlive it.
func (w *warmWorld) off() {
	w.controller.End(syscall.SIGTERM)
	left, err := program.Fleet(filepath.Join(w.dir, "fleet")).Left()
	check(w.b, err)
	for _, refs := range left {
		check(w.b, process.KillAll(refs...))
	}
}

// build makes the program under test, and keeps it until the benchmark ends.
func build(b *testing.B) {
	b.Helper()
	program.Binary = filepath.Join(b.TempDir(), "remuda")
	build := exec.Command("go", "build", "-trimpath", "-tags=grpcnotrace", "-o", program.Binary, "github.com/remuda-run/remuda/cmd/remuda")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build remuda: %v\n%s", err, out)
	}
}

// newFloor returns a floor on the same table and queue, over the same wire.
func (w *warmWorld) newFloor(n int) *bench.Floor {
	table := func(ctx context.Context, _ bench.Who) (store.Table, error) {
		return dynamostore.Open(ctx, &url.URL{Scheme: "dynamodb", Host: w.name}, awstest.Config(w.b, w.aws), clock.RealClock{}, slog.New(slog.DiscardHandler))
	}
	floor, err := open(w.b, bench.Options{Backends: &bench.Backends{Table: table}}).Floor(w.b.Context(), n)
	check(w.b, err)
	w.b.Cleanup(func() { check(w.b, floor.Close()) })
	return floor
}

func (w *warmWorld) remuda(args ...string) {
	w.b.Helper()
	if _, err := program.Run(w.b.Context(), w.dir, w.env, args...); err != nil {
		w.b.Fatal(err)
	}
}

// request asks for n machines and returns once the client has ended with success. id is a number.
func (w *warmWorld) request(id, client string, n int) {
	w.b.Helper()
	if client == "cli" {
		w.remuda("request", "--id", id, "--count", strconv.Itoa(n), "--resource-class", bench.Class, "--allowed-instance-types", "m5.large", "--timeout", "5m")
		return
	}
	job := &step.Job{Dir: w.b.TempDir(), Env: map[string]string{"HOME": w.dir}, Context: map[string]string{
		"run_id": id, "run_attempt": "1", "repository": "octo/remuda", "repository_owner": "octo", "action": "__run", "ref": "refs/heads/main",
	}}
	for _, setting := range awstest.Env(w.endpoints()) {
		name, value, _ := strings.Cut(setting, "=")
		job.Env[name] = value
	}
	result, err := job.Run(w.action, map[string]string{
		"name": w.name, "resource-class": bench.Class, "instance-count": strconv.Itoa(n), "allowed-instance-types": "m5.large", "timeout": "300s",
	})
	check(w.b, err)
	if result.Conclusion != step.Success {
		w.b.Fatalf("the action: %s, %q\n%s", result.Conclusion, result.Annotations, strings.Join(result.Log, "\n"))
	}
}

// live makes a workflow run that goes on, so that nothing is given back before its time.
func (w *warmWorld) live(id string) {
	w.b.Helper()
	run, err := strconv.ParseInt(id, 10, 64)
	check(w.b, err)
	spec := githubsim.RunSpec{ID: run, Jobs: []githubsim.JobSpec{{Key: "runners", Hosted: true, Held: true}}}
	check(w.b, w.github.Call(w.b.Context(), time.Minute, "POST", "/runs", spec, new(githubsim.RunRecord)))
}

// giveBack releases a request and returns once its machines are pooled again.
func (w *warmWorld) giveBack(id string) {
	w.b.Helper()
	status, err := w.store.Status(w.b.Context(), store.Consistent, store.RequestID(id))
	check(w.b, err)
	w.remuda("release", "--id", id, "--timeout", "5m")
	check(w.b, program.Until(5*time.Minute, "all machines are pooled", func() bool {
		for _, seat := range status.Instances {
			in, err := w.store.Instance(w.b.Context(), store.Consistent, store.Principal(seat.InstanceID))
			check(w.b, err)
			if in.PooledAt.IsZero() || !w.waits(in) {
				return false
			}
		}
		return w.wire.calm(resting)
	}))
}

// waits reports whether an idle machine waits for its next run, as its agent has said: it looks often, or its listener is online.
func (w *warmWorld) waits(in store.Instance) bool {
	w.b.Helper()
	var bad error
	said, err := w.store.Vitals(w.b.Context(), func(_ store.Key, err error) { bad = err }, in.Principal)
	check(w.b, errors.Join(err, bad))
	beat := said[in.Principal].Heartbeat.Beat
	if w.ahead {
		return in.Ahead() && beat.ListensFor(&in)
	}
	return beat.Assignment == in.Assignment && beat.Idle
}

// startFloor makes the calls that this kind of warm start cannot do without.
func (w *warmWorld) startFloor(id string) error {
	if !w.ahead {
		return w.floor.Start(w.b.Context(), id)
	}
	return w.floor.StartAhead(w.b.Context(), id, func(ctx context.Context) error { // what it asks is none of the wire's business
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.aws, nil)
		if err != nil {
			return err
		}
		answer, err := w.labels.Do(r)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return errors.Join(err, answer.Body.Close())
	})
}
