package iam_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/deploy/iam"
)

// mutant is a document with one thing removed, or one resource named less exactly.
type mutant struct {
	kind    iam.Kind
	change  string
	text    json.RawMessage
	tighter bool     // it allows less; otherwise more
	actions []string // of the statement: others are not affected
}

type object = map[string]any

// texts reads what may be one string or a list of them.
func texts(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			out = append(out, e.(string))
		}
	}
	return out
}

// decode returns a copy of a document's statements.
func decode(t *testing.T, text []byte) (document object, statements []any) {
	t.Helper()
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document, document["Statement"].([]any)
}

// mutants removes, one at a time, every action, every resource, every condition, and every value of a
// condition that lists several, and puts a wildcard for the name of every resource that has one.
func mutants(t *testing.T, kind iam.Kind, text []byte) []mutant {
	t.Helper()
	var out []mutant
	var actions [][]string // of each statement
	// change applies f to statement i of a copy.
	change := func(i int, tighter bool, what string, f func(document, statement object)) {
		document, statements := decode(t, text)
		f(document, statements[i].(object))
		mutated, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		sid, _ := statements[i].(object)["Sid"].(string)
		out = append(out, mutant{kind: kind, change: sid + ": " + what, text: mutated, tighter: tighter, actions: actions[i]})
	}
	_, statements := decode(t, text)
	for _, s := range statements {
		actions = append(actions, texts(s.(object)["Action"]))
	}
	for i, s := range statements {
		for _, member := range []string{"Action", "Resource"} {
			for _, value := range texts(s.(object)[member]) {
				change(i, true, "without "+member+" "+value, func(_, statement object) { // IAM accepts no empty list
					statement[member] = append(without(texts(statement[member]), value), replacement[member])
				})
			}
		}
		for _, resource := range texts(s.(object)["Resource"]) {
			if name := strings.LastIndexAny(resource, ":/") + 1; resource[name:] != "*" {
				change(i, false, "any name for "+resource, func(_, statement object) {
					statement["Resource"] = append(without(texts(statement["Resource"]), resource), resource[:name]+"*")
				})
			}
		}
		conditions, _ := s.(object)["Condition"].(object)
		for operator, keys := range conditions {
			for key, values := range keys.(object) {
				change(i, false, "without "+operator+" "+key, func(_, statement object) {
					delete(statement["Condition"].(object)[operator].(object), key)
				})
				if list := texts(values); len(list) > 1 {
					for _, value := range list {
						change(i, true, fmt.Sprintf("without %s %s %s", operator, key, value), func(_, statement object) {
							statement["Condition"].(object)[operator].(object)[key] = without(list, value)
						})
					}
				}
			}
		}
	}
	return out
}

// replacement stands where something was removed; nothing asks for it.
var replacement = map[string]string{"Action": "s3:ListAllMyBuckets", "Resource": "arn:aws:s3:::none"}

func without(list []string, value string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == value })
}

// Every permission is needed by an allowed scenario, and every condition and name stops a refused one. So
// the documents hold nothing that is too much, and the scenarios miss nothing that is in the documents.
func TestPolicies_HoldNothingUnused_H43(t *testing.T) {
	policies := rendered(t)
	var all []mutant
	for _, kind := range iam.Kinds() {
		all = append(all, mutants(t, kind, policies[string(kind)])...)
	}
	var requests []request
	var owners []int     // of requests: the mutant, or -1 for the document as it is
	var kinds []iam.Kind // of requests
	add := func(owner int, policy string, kind iam.Kind, scenarios []scenario) {
		for _, s := range scenarios {
			for _, r := range s.requests {
				if s.kind != kind || owner >= 0 && !slices.Contains(all[owner].actions, r.Action) {
					continue
				}
				r = r.complete(kind, policy)
				if kind == iam.WorkflowSession { // alone; together with the role's, the latter would hide it
					r.Policy, r.Session = policy, ""
				}
				requests, owners, kinds = append(requests, r), append(owners, owner), append(kinds, kind)
			}
		}
	}
	grants, denials := allowed(), refused()
	for _, kind := range iam.Kinds() {
		add(-1, string(kind), kind, denials)
	}
	for i, m := range all {
		id := fmt.Sprintf("mutant-%d", i)
		policies[id] = m.text
		if m.tighter {
			add(i, id, m.kind, grants)
		} else {
			add(i, id, m.kind, denials)
		}
	}
	answers := simulate(t, policies, requests)
	before := map[string]bool{} // requests that the session policy alone allows
	found := make([]bool, len(all))
	for i, got := range answers {
		r := requests[i]
		if got.Error != "" {
			t.Fatalf("%s on %s: not evaluated: %s", r.Action, r.Resource, got.Error)
		}
		what := fmt.Sprint(kinds[i], r.Action, r.Resource, r.Context)
		switch owner := owners[i]; {
		case owner < 0:
			before[what] = got.allowed()
		case all[owner].tighter:
			found[owner] = found[owner] || !got.allowed()
		default:
			found[owner] = found[owner] || got.allowed() && !before[what]
		}
	}
	for i, m := range all {
		if !found[i] {
			t.Errorf("%s: no scenario notices a change: %s", m.kind, m.change)
		}
	}
	t.Logf("%d mutants, %d requests", len(all), len(requests))
}
