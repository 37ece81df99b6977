package iam_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/deploy/iam"
	"github.com/remuda-run/remuda/internal/awstest"
)

// principals is who asks: a session of the role that the policy belongs to.
var principals = map[iam.Kind]string{
	iam.Agent:           "arn:aws:sts::111122223333:assumed-role/remuda-agent/" + ownID,
	iam.Controller:      "arn:aws:sts::111122223333:assumed-role/remuda-controller/c-1",
	iam.Doctor:          "arn:aws:sts::111122223333:assumed-role/admin/carol",
	iam.Host:            "arn:aws:sts::111122223333:assumed-role/remuda-controller/i-0dddddddddddddddd",
	iam.Init:            "arn:aws:sts::111122223333:assumed-role/admin/carol",
	iam.Operator:        "arn:aws:sts::111122223333:assumed-role/operator/olga",
	iam.Uninstall:       "arn:aws:sts::111122223333:assumed-role/admin/carol",
	iam.Workflow:        "arn:aws:sts::111122223333:assumed-role/remuda-workflow/run-4711",
	iam.WorkflowSession: "arn:aws:sts::111122223333:assumed-role/remuda-workflow/run-4711",
}

// complete fills in what all requests of a scenario share. policy is the id of the document that is
// evaluated for its kind.
func (r request) complete(kind iam.Kind, policy string) request {
	r.Account = installation.Account
	switch kind {
	case iam.AgentTrust, iam.ControllerTrust, iam.WorkflowTrust:
		r.Trust = policy
		return r
	case iam.WorkflowSession:
		r.Policy, r.Session = string(iam.Workflow), policy
	default:
		r.Policy = policy
	}
	r.Principal = principals[kind]
	context := map[string][]string{"aws:userid": {"AROAEXAMPLEOTHER00001:session"}}
	if kind == iam.Agent {
		context["aws:userid"] = []string{agentRoleID + ":" + ownID}
	}
	for key, values := range r.Context {
		context[key] = values
	}
	r.Context = context
	return r
}

// answer is the simulator's.
type answer struct {
	Result  string   `json:"result"`
	Ignored []string `json:"ignored"` // keys that the service would not send with that action and resource
	Error   string   `json:"error"`
}

func (a answer) allowed() bool { return a.Result == "Allowed" }

// simulate evaluates requests against policies by id. Answers come in the order of the requests.
func simulate(t *testing.T, policies map[string]json.RawMessage, requests []request) []answer {
	t.Helper()
	dir := awstest.IAMSimulate(t)
	input, err := json.Marshal(map[string]any{"policies": policies, "requests": requests})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "simulate.mjs"), dir)
	cmd.Stdin = bytes.NewReader(input)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node simulate.mjs: %v\n%s", err, errs.String())
	}
	var answers []answer
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("node simulate.mjs: %v in %q", err, out)
	}
	if len(answers) != len(requests) {
		t.Fatalf("node simulate.mjs: %d answers, want %d", len(answers), len(requests))
	}
	return answers
}

// knownProvider stands for GitHub in the names of condition keys. The simulator's data have sub and aud
// for this provider alone; what they compare is the same.
const knownProvider = "accounts.google.com:"

// rendered returns every document, filled in for the installation. Parameters of AWS itself have no
// account in their names, which the simulator does not know.
func rendered(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	out := map[string]json.RawMessage{}
	for _, kind := range iam.Kinds() {
		text, err := iam.Render(kind, installation)
		if err != nil {
			t.Fatal(err)
		}
		out[string(kind)] = []byte(strings.NewReplacer(
			`"token.actions.githubusercontent.com:`, `"`+knownProvider,
			"::parameter/", ":"+installation.Account+":parameter/").Replace(string(text)))
	}
	return out
}

// judge evaluates scenarios and reports those whose requests are not all allowed, or not all refused.
func judge(t *testing.T, scenarios []scenario, want bool) {
	t.Helper()
	var requests []request
	for _, s := range scenarios {
		for _, r := range s.requests {
			requests = append(requests, r.complete(s.kind, string(s.kind)))
		}
	}
	answers := simulate(t, rendered(t), requests)
	for _, s := range scenarios {
		for range s.requests {
			r, got := requests[0], answers[0]
			requests, answers = requests[1:], answers[1:]
			what := string(s.kind) + ": " + s.call + " " + s.what + ": " + r.Action + " on " + r.Resource
			switch {
			case got.Error != "":
				t.Errorf("%s: not evaluated: %s", what, got.Error)
			case want && len(got.Ignored) > 0: // a permission that rests on a key which never comes is none
				t.Errorf("%s: AWS sends no %v with this", what, got.Ignored)
			case got.allowed() != want:
				t.Errorf("%s: %s with %v", what, got.Result, r.Context)
			}
		}
	}
	t.Logf("%d scenarios", len(scenarios))
}

func TestPolicies_AllowWhatTheCodeCalls(t *testing.T) { judge(t, allowed(), true) }

// The credentials of a second instance read and write its own partition and nothing of the first one's:
// one role serves both, so that only the session tells them apart.
func TestPolicies_SecondInstanceIsNoOther_H43(t *testing.T) {
	second := func(r request) request {
		r.Context["aws:userid"] = []string{strings.TrimPrefix(otherKey, "INSTANCE#")}
		return r
	}
	of := func(partition string) []scenario {
		return []scenario{
			when(iam.Agent, "", "the second reads "+partition, second(item("GetItem", partition, ""))),
			when(iam.Agent, "", "the second reports in "+partition, second(item("UpdateItem", partition, beatAttributes))),
		}
	}
	judge(t, of(otherKey), true)
	judge(t, of(ownKey), false)
}

func TestPolicies_RefuseEverythingElse_H43(t *testing.T) { judge(t, refused(), false) }
