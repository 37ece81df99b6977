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
	"sync/atomic"
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
// allows. The simulator of IAM has said before of each attribute whether it may be written, and the policy knows no more
// than that: asked while a call waits, it would be too slow for the client on a busy machine.
type guard struct {
	*world
	reads   bool
	writes  map[string]bool // by attribute
	next    http.Handler
	refused atomic.Int64
}

// under puts the clients of w under a policy.
func (w *world) under(policy string) *guard {
	w.Helper()
	g := &guard{world: w, writes: map[string]bool{}}
	g.learn(policy)
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

// learn asks the simulator of IAM for every attribute of what clients write.
func (g *guard) learn(policy string) {
	g.Helper()
	run := store.RunRequest{Repository: "o/r", WorkflowRun: 1, WorkflowAttempt: 1, NoWait: true, OriginalCount: 1, ReleaseReason: store.RunOver}
	attributes := map[string]any{"PK": 0, "SK": 0, "version": 0, "expiresAt": 0}
	for _, record := range []any{run, store.RunClient{}, store.RunStatus{}} {
		text, err := json.Marshal(record)
		g.Check(err)
		g.Check(json.Unmarshal(text, &attributes))
	}
	names := slices.Sorted(maps.Keys(attributes))
	ask := func(action string, attributes ...string) map[string]any {
		context := map[string][]string{"dynamodb:LeadingKeys": {"RUN#4711"}, "aws:userid": {"AROAEXAMPLEOTHER00001:run"}}
		if len(attributes) > 0 {
			context["dynamodb:Attributes"] = attributes
		}
		return map[string]any{
			"principal": "arn:aws:sts::" + account + ":assumed-role/remuda-workflow/run", "account": account, "action": "dynamodb:" + action,
			"resource": "arn:aws:dynamodb:" + awstest.Region + ":" + account + ":table/" + g.name, "context": context, "policy": "p",
		}
	}
	requests := []any{ask("GetItem")}
	for _, name := range names {
		requests = append(requests, ask("PutItem", name))
	}
	input, err := json.Marshal(map[string]any{"policies": map[string]any{"p": json.RawMessage(policy)}, "requests": requests})
	g.Check(err)
	cmd := exec.CommandContext(g.Context(), "node", filepath.Join("..", "..", "deploy", "iam", "testdata", "simulate.mjs"), awstest.IAMSimulate(g))
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	g.Check(err)
	var answers []struct{ Result, Error string }
	g.Check(json.Unmarshal(out, &answers))
	for i, a := range answers {
		if a.Error != "" {
			g.Fatalf("simulator: %s", a.Error)
		}
		if i == 0 {
			g.reads = a.Result == "Allowed"
		} else {
			g.writes[names[i-1]] = a.Result == "Allowed"
		}
	}
	if !g.reads || !g.writes["count"] || g.writes["phase"] {
		g.Fatalf("the policy lets a workflow read: %t, write %v", g.reads, g.writes)
	}
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !g.allows(strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810."), body) {
		g.refused.Add(1)
		rw.Header().Set("Content-Type", "application/x-amz-json-1.0")
		rw.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(rw, `{"__type":"com.amazonaws.dynamodb#AccessDeniedException","Message":"User is not authorized"}`)
		return
	}
	g.next.ServeHTTP(rw, r)
}

// allows judges one call.
func (g *guard) allows(action string, body []byte) bool {
	if action == "GetItem" {
		return g.reads
	}
	var in struct {
		Item                     map[string]json.RawMessage
		ExpressionAttributeNames map[string]string
	}
	if action != "PutItem" || json.Unmarshal(body, &in) != nil {
		return false
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(in.Item)), maps.Values(in.ExpressionAttributeNames))
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !g.writes[name] })
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
	if n := g.refused.Load(); n < 5 {
		w.Errorf("%d writes were refused, want one of each request at least", n)
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
			if n := g.refused.Load(); n > 0 {
				w.Errorf("%d calls were refused", n)
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
