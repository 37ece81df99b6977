package action

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/action/step"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/githubsim"
	"github.com/remuda-run/remuda/internal/process"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

const (
	// witnessGrace is how long an instance may outlive its threshold: the agent's grace, a poll, and the time
	// that a kill takes on a busy machine.
	witnessGrace = 30 * time.Second
	// patience is how long one thing may take on a busy machine.
	patience = 3 * time.Minute
)

// world is an installation, what it works with, and workflows that use it.
type world struct {
	program.T
	program.Fleet
	name       string // of the installation
	dir        string
	aws        []string // environment that leads to AWS
	env        []string // of the operator
	action     *step.Action
	github     program.GitHub
	controller *program.Daemon
	store      *store.Store
	witness    *witness.Witness
	runs       map[string]bool // at GitHub
}

// install makes an installation without a controller. settings are added to testdata/remuda.yaml as
// environment variables are.
func install(t *testing.T, settings ...string) *world {
	t.Helper()
	return installOn(t, nil, settings...)
}

// installOn makes an installation whose machines are those of an EC2; nil: processes.
func installOn(t *testing.T, cloud *ec2test.Server, settings ...string) *world {
	t.Helper()
	step.RequireNode(t)
	endpoints := map[string]string{"dynamodb": awstest.DynamoDBLocal(t), "sqs": awstest.Moto(t)}
	if cloud != nil {
		endpoints["ec2"], endpoints["iam"], endpoints["sts"] = cloud.URL, cloud.URL, endpoints["sqs"]
	}
	w := &world{T: program.T{TB: t}, name: "e2e-" + strings.ToLower(rand.Text()[:10]), dir: t.TempDir(), aws: awstest.Env(endpoints)}
	w.Fleet = program.Fleet(filepath.Join(w.dir, "fleet"))
	t.Cleanup(w.killMachines)
	var err error
	w.action, err = step.Load("../..")
	w.Check(err)
	w.github = w.start("github", nil, "dev", "github").GitHub()
	w.configure(cloud)
	w.env = slices.Concat(w.aws, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "REMUDA_CONFIG=" + filepath.Join(w.dir, "remuda.yaml"), "REMUDA_SIMULATED_TOKEN=" + w.github.Token,
	}, settings)
	_, err = w.remuda("init")
	w.Check(err)
	w.watch(endpoints["dynamodb"])
	return w
}

// configure writes the configuration file.
func (w *world) configure(cloud *ec2test.Server) {
	w.Helper()
	limits, err := os.ReadFile(filepath.Join("testdata", "remuda.yaml"))
	w.Check(err)
	settings := map[string]any{
		"name": w.name, "store": "dynamodb://" + w.name, "pool": "sqs://" + w.name, "fleet": "process://" + string(w.Fleet),
	}
	if cloud != nil {
		cloud.SetProfile(w.name, ec2test.RoleID)
		settings["fleet"] = "ec2://" + w.name
		settings["ec2"] = map[string]any{
			"subnets": cloud.Subnets()[:2], "securityGroups": []string{ec2test.Group}, "ami": ec2test.AMI, "instanceProfile": w.name,
		}
	}
	own, err := yaml.Marshal(settings)
	w.Check(err)
	w.Check(os.WriteFile(filepath.Join(w.dir, "remuda.yaml"), slices.Concat(limits, own, []byte(w.github.Settings)), 0o600))
}

// start runs remuda in the background.
func (w *world) start(name string, env []string, args ...string) *program.Daemon {
	w.Helper()
	return program.Start(w, program.Command{Name: name, Args: args, Dir: w.dir, Env: env, Patience: patience})
}

// control starts a controller.
func (w *world) control() *world {
	w.Helper()
	w.controller = w.start("controller", w.env, "controller")
	return w
}

// watch opens the store beside the controller.
func (w *world) watch(endpoint string) {
	w.Helper()
	table, err := dynamostore.Open(w.Context(), &url.URL{Scheme: "dynamodb", Host: w.name}, awstest.Config(w, endpoint), clock.RealClock{}, slog.New(slog.DiscardHandler))
	w.Check(err)
	w.store, w.witness = store.New(table), witness.Start(w, table, witnessGrace, 100*time.Millisecond)
}

// remuda runs one command line of the operator's.
func (w *world) remuda(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.Context()), patience)
	defer cancel()
	return program.Run(ctx, w.dir, w.env, args...)
}

// inputs are those of a step.
type inputs map[string]string

// goesOn makes a workflow run at GitHub that goes on for as long as the test does: what is over there is given back.
func (w *world) goesOn(run string) {
	w.Helper()
	if w.runs[run] {
		return
	}
	id, err := strconv.ParseInt(run, 10, 64)
	w.Check(err)
	w.sim("POST", "runs", githubsim.RunSpec{ID: id, Jobs: []githubsim.JobSpec{{Key: "runners", Hosted: true, Held: true}}}, new(githubsim.RunRecord))
	if w.runs == nil {
		w.runs = map[string]bool{}
	}
	w.runs[run] = true
}

// job is a job of a workflow run that uses the action.
func (w *world) job(run string, attempt int) *step.Job {
	w.Helper()
	w.goesOn(run)
	dir, err := os.MkdirTemp(w.dir, "job-")
	w.Check(err)
	env := map[string]string{"HOME": w.dir}
	for _, e := range w.aws {
		name, value, _ := strings.Cut(e, "=")
		env[name] = value
	}
	return &step.Job{Dir: dir, Env: env, Context: map[string]string{
		"run_id": run, "run_attempt": strconv.Itoa(attempt), "run_number": "7", "repository": "octo/remuda", "repository_owner": "octo",
		"workflow": "build", "job": "runners", "event_name": "push", "actor": "octocat", "ref": "refs/heads/main", "action": "__run",
		"sha": strings.Repeat("0", 40), "server_url": w.github.Root, "api_url": w.github.Root,
	}}
}

// with adds what every step says.
func (w *world) with(more inputs) inputs {
	all := inputs{"name": w.name, "resource-class": "small", "timeout": "170s"}
	maps.Copy(all, more)
	return all
}

// run runs a job of one step, with its post. What the runner complains of is an error.
func (w *world) run(run string, attempt int, more inputs) step.Result {
	w.Helper()
	j := w.job(run, attempt)
	r, err := j.Run(w.action, w.with(more))
	w.Check(err)
	w.post(j)
	if len(r.Problems) > 0 {
		w.Errorf("run %s: problems %q", run, r.Problems)
	}
	return r
}

// post ends a job. A post step that has nothing to do says nothing.
func (w *world) post(j *step.Job) {
	w.Helper()
	posts, err := j.Post()
	w.Check(err)
	if len(posts) != 1 || posts[0].Conclusion != step.Success || len(posts[0].Log)+len(posts[0].Problems) > 0 {
		w.Errorf("post steps = %+v, want a silent one", posts)
	}
}

// succeeds wants a step without a complaint, and returns it.
func (w *world) succeeds(r step.Result) step.Result {
	w.Helper()
	if r.Conclusion != step.Success || len(r.Complaints()) > 0 {
		w.Fatalf("step: %s, exit code %d, %q; log:\n%s", r.Conclusion, r.ExitCode, r.Annotations, strings.Join(r.Log, "\n"))
	}
	return r
}

// until waits for a condition that other processes bring about.
func (w *world) until(what string, cond func() bool) {
	w.Helper()
	if err := program.Until(patience, what, cond); err != nil {
		for _, in := range w.witness.Instances() {
			w.Logf("%s %s run %q reason %q", in.ID, in.State, in.RunID, in.Reason)
		}
		w.Fatal(err)
	}
}

func (w *world) awaitPooled(n int) {
	w.Helper()
	w.until(fmt.Sprintf("%d pooled", n), func() bool { return w.witness.Count(witness.Pooled) == n })
}

// records reads what the store has of a request, as soon as the table answers.
func (w *world) records(id string) store.RunRecords {
	w.Helper()
	for deadline := time.Now().Add(patience); ; {
		r, err := w.store.Run(w.Context(), store.Consistent, store.RequestID(id))
		if errors.Is(err, store.ErrUnavailable) && time.Now().Before(deadline) {
			continue
		}
		w.Check(err)
		return r
	}
}

// sim speaks to the simulated GitHub. in and out may be nil.
func (w *world) sim(method, path string, in, out any) {
	w.Helper()
	w.Check(w.github.Call(w.Context(), patience, method, "/"+path, in, out))
}

// killMachines ends what a failed test leaves of the fleet.
func (w *world) killMachines() {
	left, err := w.Left()
	w.Check(err)
	for id, refs := range left {
		w.Errorf("%d processes of %s are left", len(refs), id)
		w.Check(process.KillAll(refs...))
	}
}
