package iam_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/deploy/iam"
	"github.com/remuda-run/remuda/store"
)

// The scenarios write the attributes that a request has: all of them, and without a run those that it always had.
func TestScenarios_WriteWhatARequestHas(t *testing.T) {
	run := store.RunRequest{Repository: "octo/app", WorkflowRun: 1, WorkflowAttempt: 1, NoWait: true, OriginalCount: 1, ReleaseReason: store.RunOver}
	for want, r := range map[string]store.RunRequest{requestAttributes: run, plainAttributes: {}} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var attributes map[string]any
		if err := json.Unmarshal(text, &attributes); err != nil {
			t.Fatal(err)
		}
		got := append(slices.Collect(maps.Keys(attributes)), "PK", "SK", "version", "expiresAt")
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(strings.Fields(want)))) {
			t.Errorf("a request is stored with %v, the scenarios write %s", got, want)
		}
	}
}

// Under the policy of e997646, which roles keep when the action moves on, a request is refused with any one attribute of
// its run, and written without them; it is read, and its client is seen, as before.
func TestPolicy_OfE997646(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "workflow-e997646.json"))
	if err != nil {
		t.Fatal(err)
	}
	v := installation
	policy := strings.NewReplacer("${Partition}", "aws", "${Region}", v.Region, "${Account}", v.Account, "${Table}", v.Name, "${Events}", v.Events).Replace(string(text))
	if strings.Contains(policy, "${") {
		t.Fatalf("a placeholder was left: %s", policy)
	}
	var requests []request
	var wants []bool
	add := func(want bool, r request) {
		requests, wants = append(requests, r.complete(iam.Workflow, "earlier")), append(wants, want)
	}
	add(true, item("PutItem", "RUN#4711", plainAttributes))
	add(true, item("PutItem", "RUN#4711", clientAttributes))
	add(true, item("GetItem", "RUN#4711", ""))
	add(false, item("PutItem", "RUN#4711", requestAttributes))
	for _, name := range strings.Fields(runAttributes) {
		add(false, item("PutItem", "RUN#4711", plainAttributes+" "+name))
	}
	for i, got := range simulate(t, map[string]json.RawMessage{"earlier": json.RawMessage(policy)}, requests) {
		if got.Error != "" || got.allowed() != wants[i] {
			t.Errorf("%s with %v: %s %s, want allowed = %t", requests[i].Action, requests[i].Context, got.Result, got.Error, wants[i])
		}
	}
}

// doWithout are the calls that roles of the version before refuse to agents, workflows and operators of this one, and how they do
// without.
var doWithout = map[string]string{
	"agent s3:GetObject":         "a controller orders from the bucket only where ec2.bucket is set, which asks for the new policy",
	"agent s3:PutObject":         "the agent says that its output is not kept, and goes on",
	"operator ssm:GetParameters": "--config with a file serves as before",
	"operator s3:GetObject":      "remuda logs says so, and shows the console",
	"operator s3:ListObjectsV2":  "the same",
}

// Roles are not always changed with what uses them: under the policies of the version before, clients and agents of this one may
// do all that they do, but for what they can do without.
func TestPolicies_OfTheVersionBefore(t *testing.T) {
	v := installation
	fill := strings.NewReplacer("${Partition}", "aws", "${Region}", v.Region, "${Account}", v.Account, "${Table}", v.Name, "${Events}", v.Events, "${Name}", v.Name)
	policies := map[string]json.RawMessage{}
	for _, kind := range []iam.Kind{iam.Agent, iam.Workflow, iam.Operator} {
		text, err := os.ReadFile(filepath.Join("testdata", string(kind)+"-048055be.json"))
		if err != nil {
			t.Fatal(err)
		}
		policies[string(kind)] = json.RawMessage(fill.Replace(string(text)))
		if strings.Contains(strings.ReplaceAll(string(policies[string(kind)]), "${aws:", ""), "${") {
			t.Fatalf("%s: a placeholder was left: %s", kind, policies[string(kind)])
		}
	}
	var requests []request
	var names []string
	for _, s := range allowed() {
		if policies[string(s.kind)] == nil {
			continue
		}
		for _, r := range s.requests {
			requests, names = append(requests, r.complete(s.kind, string(s.kind))), append(names, string(s.kind)+" "+s.call)
		}
	}
	for i, got := range simulate(t, policies, requests) {
		if why := doWithout[names[i]]; got.Error != "" || got.allowed() == (why != "") {
			t.Errorf("%s: %s on %s: %s %s; done without: %q", names[i], requests[i].Action, requests[i].Resource, got.Result, got.Error, why)
		}
	}
	if len(requests) < 20 {
		t.Errorf("%d requests were judged, want those of three roles", len(requests))
	}
}
