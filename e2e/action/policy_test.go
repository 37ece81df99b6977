package action

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/remuda-run/remuda/deploy/iam"
	"github.com/remuda-run/remuda/e2e/action/step"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// account is that of the installation, for names of resources.
const account = "111122223333"

// guard stands before DynamoDB Local, which checks no permission, and lets pass what the policy of the workflows' role
// allows, as the simulator of IAM says.
type guard struct {
	*world
	policy    json.RawMessage
	simulator string
	next      http.Handler

	mu      sync.Mutex
	said    map[string]bool // by what was asked: whether it is allowed
	refused int
}

// under puts the clients of w under a policy.
func (w *world) under(policy string) *guard {
	w.Helper()
	g := &guard{world: w, policy: json.RawMessage(policy), simulator: awstest.IAMSimulate(w), said: map[string]bool{}}
	const variable = "AWS_ENDPOINT_URL_DYNAMODB="
	for i, e := range w.aws {
		if text, ok := strings.CutPrefix(e, variable); ok {
			target, err := url.Parse(text)
			w.Check(err)
			transport := &http.Transport{}
			g.next = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport}
			server := httptest.NewServer(g)
			w.Cleanup(func() { server.Close(); transport.CloseIdleConnections() })
			w.aws = slices.Concat(w.aws[:i], w.aws[i+1:], []string{variable + server.URL})
			return g
		}
	}
	w.Fatal("the environment names no DynamoDB")
	return nil
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !g.allows(strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810."), body) {
		rw.Header().Set("Content-Type", "application/x-amz-json-1.0")
		rw.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(rw, `{"__type":"com.amazonaws.dynamodb#AccessDeniedException","Message":"User is not authorized"}`)
		return
	}
	g.next.ServeHTTP(rw, r)
}

// allows asks the simulator, once for each kind of call.
func (g *guard) allows(action string, body []byte) bool {
	type text struct{ S string }
	var in struct {
		Item                     map[string]json.RawMessage
		Key                      map[string]json.RawMessage
		ExpressionAttributeNames map[string]string
	}
	var key text
	if json.Unmarshal(body, &in) != nil {
		return false
	}
	written := in.Item
	if written == nil {
		written = in.Key
	}
	if json.Unmarshal(written["PK"], &key) != nil {
		return false
	}
	context := map[string][]string{"dynamodb:LeadingKeys": {key.S}, "aws:userid": {"AROAEXAMPLEOTHER00001:run"}}
	if in.Item != nil {
		names := slices.AppendSeq(slices.Collect(maps.Keys(in.Item)), maps.Values(in.ExpressionAttributeNames))
		slices.Sort(names)
		context["dynamodb:Attributes"] = slices.Compact(names)
	}
	asked, err := json.Marshal(map[string]any{
		"policies": map[string]any{"p": g.policy},
		"requests": []any{map[string]any{
			"principal": "arn:aws:sts::" + account + ":assumed-role/remuda-workflow/run", "account": account, "action": "dynamodb:" + action,
			"resource": "arn:aws:dynamodb:us-east-1:" + account + ":table/" + g.name, "context": context, "policy": "p",
		}},
	})
	if err != nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	allowed, known := g.said[string(asked)]
	if !known {
		allowed = g.simulate(asked)
		g.said[string(asked)] = allowed
	}
	if !allowed {
		g.refused++
	}
	return allowed
}

func (g *guard) simulate(asked []byte) bool {
	cmd := exec.CommandContext(g.Context(), "node", filepath.Join("..", "..", "deploy", "iam", "testdata", "simulate.mjs"), g.simulator)
	cmd.Stdin = bytes.NewReader(asked)
	out, err := cmd.Output()
	var answers []struct{ Result, Error string }
	if err == nil {
		err = json.Unmarshal(out, &answers)
	}
	if err != nil || len(answers) != 1 || answers[0].Error != "" {
		g.Errorf("simulator: %v, %s", err, out)
		return false
	}
	return answers[0].Result == "Allowed"
}

// earlierPolicy is that of e997646.
func (w *world) earlierPolicy() string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "iam", "testdata", "workflow-e997646.json"))
	w.Check(err)
	return strings.NewReplacer("${Partition}", "aws", "${Region}", awstest.Region, "${Account}", account, "${Table}", w.name, "${Events}", w.name+"-events").
		Replace(string(text))
}

func (w *world) currentPolicy() string {
	w.Helper()
	text, err := iam.Render(iam.Workflow, iam.Values{Region: awstest.Region, Account: account, Name: w.name})
	w.Check(err)
	return string(text)
}

// earlierAction is the action as commit e997646 has it.
func (w *world) earlierAction() *step.Action {
	w.Helper()
	dir := filepath.Join(w.dir, "earlier")
	w.Check(os.MkdirAll(filepath.Join(dir, "action", "dist"), 0o700))
	for _, name := range []string{"action.yml", "action/dist/index.js", "action/dist/main.js", "action/dist/post.js", "action/dist/package.json"} {
		out, err := exec.CommandContext(w.Context(), "git", "show", "e997646:"+name).Output()
		if err != nil {
			if os.Getenv(awstest.EnvRequire) == "1" {
				w.Fatalf("git show e997646:%s: %v", name, err)
			}
			w.Skipf("this checkout has no commit e997646, whose action is run here: git show: %v", err)
		}
		w.Check(os.WriteFile(filepath.Join(dir, name), out, 0o600))
	}
	a, err := step.Load(dir)
	w.Check(err)
	return a
}

// warns wants a successful step whose only complaint names the policy.
func (w *world) warns(r step.Result) {
	w.Helper()
	complaints := r.Complaints()
	if r.Conclusion != step.Success || len(complaints) != 1 || complaints[0].Name != "warning" || !strings.Contains(complaints[0].Data, "deploy/iam/workflow.json") {
		w.Errorf("step: %s, complaints %+v, want success and one warning that names the policy; log:\n%s", r.Conclusion, complaints, strings.Join(r.Log, "\n"))
	}
}

// The action and the command line under the policy that roles had before requests named their run: provision, not waiting,
// re-run and release are served as they were, and a warning names the policy.
func TestPolicy_OfE997646(t *testing.T) {
	t.Parallel()
	w := install(t).control()
	clientEnv := slices.Clone(w.env)
	g := w.under(w.earlierPolicy())
	w.warns(w.run("4711", 1, inputs{"instance-count": "2"}))
	w.warns(w.run("4711", 2, inputs{"instance-count": "1"})) // re-run all jobs
	if r := w.records("4711").Request; r.Attempt != 2 || r.Repository != "" || r.WorkflowRun != 0 {
		w.Errorf("request = %+v, want attempt 2 without its run", r)
	}
	w.released(w.run("4711", 2, inputs{"mode": "release"}), "4711")

	unwaited := w.run("4712", 1, inputs{"wait": "false"})
	w.warns(unwaited)
	if st := w.records("4712").Status; st == nil || st.Phase != statemachine.Ready || unwaited.Outputs["ready-count"] != "1" {
		w.Errorf("status = %+v, outputs %v, want it waited for", st, unwaited.Outputs)
	}
	w.released(w.run("4712", 1, inputs{"mode": "release"}), "4712")

	clientEnv = slices.DeleteFunc(clientEnv, func(e string) bool { return strings.HasPrefix(e, "AWS_ENDPOINT_URL_DYNAMODB=") })
	clientEnv = append(clientEnv, w.aws[len(w.aws)-1])
	command := func(args ...string) []byte {
		w.Helper()
		out, err := program.Run(w.Context(), w.dir, clientEnv, args...)
		w.Check(err)
		return out
	}
	ready, err := program.JSON[struct{ ReadyCount int }](command("request", "--id", "4713", "--repository", "octo/remuda", "--resource-class", "small", "--no-wait", "-o", "json"), nil)
	w.Check(err)
	if r := w.records("4713").Request; ready.ReadyCount != 1 || r.Repository != "" || r.NoWait {
		w.Errorf("remuda request: %d ready, stored %+v, want 1, waited for, and no run", ready.ReadyCount, r)
	}
	command("release", "--id", "4713")

	// The controller asked for a run that goes on: its release step frees that.
	again := store.RunRequest{
		ID: "4714", Attempt: 1, Count: 1, UsageClasses: []string{store.Spot}, AllowedInstanceTypes: []string{"*"}, ResourceClass: "small",
		MaxRuntime: 600, Timeout: 170, Repository: "octo/remuda", WorkflowRun: 4714, WorkflowAttempt: 1, OriginalCount: 1,
	}
	_, err = w.store.Submit(w.Context(), again)
	w.Check(err)
	w.released(w.run("4714", 1, inputs{"mode": "release"}), "4714")
	if g.refused < 5 {
		w.Errorf("%d writes were refused, want one of each request at least", g.refused)
	}
	w.close()
}

// Under the policy of today no write is refused: not of this action, and not of that of e997646, which a workflow may have
// pinned and which knows nothing of runs. That one goes on under its own policy, too.
func TestPolicy_NothingIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		action func(*world) *step.Action
		policy func(*world) string
	}{
		{"Action", func(w *world) *step.Action { return w.action }, (*world).currentPolicy},
		{"ActionOfE997646", (*world).earlierAction, (*world).currentPolicy},
		{"ActionAndPolicyOfE997646", (*world).earlierAction, (*world).earlierPolicy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := install(t).control()
			w.action = tt.action(w)
			g := w.under(tt.policy(w))
			w.succeeds(w.run("4711", 1, inputs{"instance-count": "2"}))
			w.succeeds(w.run("4711", 2, inputs{"instance-count": "2"}))
			w.released(w.run("4711", 2, inputs{"mode": "release"}), "4711")
			r := w.records("4711").Request
			run, named := r.Workflow()
			if named != (tt.name == "Action") || named && run != (store.Workflow{Repository: "octo/remuda", Run: 4711, Attempt: 2}) {
				w.Errorf("request = %+v, names its run: %t", r, named)
			}
			if g.refused > 0 {
				w.Errorf("%d calls were refused: %v", g.refused, g.said)
			}
			w.close()
		})
	}
}

// A step that does not wait ends with the label alone, before any machine is there; the job that names it is served, and
// so is the next: nobody is missed.
func TestNoWait(t *testing.T) {
	t.Parallel()
	w := install(t)
	r := w.succeeds(w.run("4711", 1, inputs{"wait": "false", "instance-count": "2"}))
	want := map[string]string{"label": "4711", "request-id": "4711", "seconds": r.Outputs["seconds"]}
	if !maps.Equal(r.Outputs, want) || r.Summary != "" {
		w.Errorf("outputs %v, summary %q, want %v and none", r.Outputs, r.Summary, want)
	}
	if rec := w.records("4711"); rec.Request == nil || !rec.Request.NoWait || rec.Client != nil || rec.Status != nil {
		w.Errorf("records = %+v, want a request that nobody waits for", rec)
	}
	w.control()
	w.until("the request is ready", func() bool {
		st := w.records("4711").Status
		return st != nil && st.Phase == statemachine.Ready
	})
	var held []string
	for _, seat := range w.records("4711").Status.Instances {
		held = append(held, string(seat.InstanceID))
	}
	w.jobs("4711", "4", held)
	w.released(w.run("4711", 1, inputs{"mode": "release"}), "4711")
	w.close()
}
