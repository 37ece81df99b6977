package iam_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/deploy/iam"
	"github.com/remuda-run/remuda/store"
)

// list is a string or a list of strings.
type list []string

// UnmarshalJSON reads either.
func (l *list) UnmarshalJSON(text []byte) error {
	var one string
	if err := json.Unmarshal(text, &one); err == nil {
		*l = list{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(l))
}

// document is the part of IAM's grammar that we use (IAM User Guide, "Grammar of the IAM JSON policy
// language"). All else is an error.
type document struct {
	Version   string
	Statement []statement
}

type statement struct {
	Sid       string
	Effect    string
	Principal map[string]list
	Action    list
	Resource  list
	Condition map[string]map[string]list
}

func parse(t *testing.T, kind iam.Kind) document {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(render(t, kind, installation)))
	d.DisallowUnknownFields()
	var doc document
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return doc
}

var (
	sidForm       = regexp.MustCompile(`^[A-Za-z0-9]+$`)
	actionForm    = regexp.MustCompile(`^[a-z0-9]+:[A-Z][A-Za-z]+$`) // no wildcard
	arnForm       = regexp.MustCompile(`^arn:aws:[a-z0-9]+:([a-z0-9-]+)?:([0-9]{12}|\*)?:[^ ]+$`)
	operatorForm  = regexp.MustCompile(`^(ForAllValues:)?(StringEquals|StringLike)$|^Null$`)
	conditionForm = regexp.MustCompile(`^[a-z0-9.]+:[A-Za-z]+(/[a-z-]+)?$`)
)

func TestDocuments_KeepTheGrammar(t *testing.T) {
	for _, kind := range iam.Kinds() {
		doc := parse(t, kind)
		if doc.Version != "2012-10-17" || len(doc.Statement) == 0 {
			t.Errorf("%s: version %q with %d statements, want 2012-10-17 with some", kind, doc.Version, len(doc.Statement))
		}
		trust := strings.HasSuffix(string(kind), "-trust")
		var sids []string
		for _, s := range doc.Statement {
			if !sidForm.MatchString(s.Sid) || slices.Contains(sids, s.Sid) || s.Effect != "Allow" {
				t.Errorf("%s: statement %q is %q, want one of its own name that allows", kind, s.Sid, s.Effect)
			}
			sids = append(sids, s.Sid)
			if (len(s.Principal) > 0) != trust || (len(s.Resource) > 0) == trust {
				t.Errorf("%s: %s: a trust policy has a principal, another one resources", kind, s.Sid)
			}
			checkStatement(t, string(kind)+": "+s.Sid, s)
		}
	}
}

func checkStatement(t *testing.T, where string, s statement) {
	t.Helper()
	if len(s.Action) == 0 || !slices.IsSorted(s.Action) {
		t.Errorf("%s: actions %q, want some, in order", where, s.Action)
	}
	for _, action := range s.Action {
		if !actionForm.MatchString(action) {
			t.Errorf("%s: action %q, want service:Name", where, action)
		}
		// The price list is everyone's.
		if looks := strings.Contains(action, ":Describe") || strings.Contains(action, ":List") || action == "pricing:GetProducts"; slices.Contains(s.Resource, "*") && !looks {
			t.Errorf("%s: %s on every resource", where, action)
		}
	}
	for _, resource := range s.Resource {
		if resource != "*" && !arnForm.MatchString(resource) {
			t.Errorf("%s: resource %q, want an ARN", where, resource)
		}
	}
	for operator, keys := range s.Condition {
		if !operatorForm.MatchString(operator) {
			t.Errorf("%s: condition operator %q", where, operator)
		}
		for key, values := range keys {
			if !conditionForm.MatchString(key) || len(values) == 0 {
				t.Errorf("%s: condition %s %s %q", where, operator, key, values)
			}
			// ForAllValues is true of a key that is not there.
			if strings.HasPrefix(operator, "ForAllValues:") && !slices.Equal(s.Condition["Null"][key], list{"false"}) {
				t.Errorf("%s: %s %s without a condition that the key is there", where, operator, key)
			}
		}
	}
}

// written returns what PutItem or UpdateItem of kind may name.
func written(t *testing.T, kind iam.Kind) []string {
	t.Helper()
	for _, s := range parse(t, kind).Statement {
		if names := s.Condition["ForAllValues:StringEquals"]["dynamodb:Attributes"]; names != nil {
			return slices.Sorted(slices.Values(names))
		}
	}
	t.Fatalf("%s names no attributes", kind)
	return nil
}

// attributes returns the names under which the fields of records are stored.
func attributes(records ...any) []string {
	var out []string
	for _, r := range records {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(r)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				out = append(out, name)
			}
		}
	}
	return out
}

// An attribute that is new in a record must be allowed before anybody can write it.
func TestDocuments_NameTheRecordsAttributes(t *testing.T) {
	tests := []struct {
		kind iam.Kind
		want []string
	}{
		{iam.Agent, append(attributes(store.Heartbeat{}, store.Signal{}), "PK", "SK", "expiresAt")},
		{iam.Workflow, append(attributes(store.RunRequest{}, store.RunClient{}), "PK", "SK", "expiresAt", "version")},
	}
	for _, tt := range tests {
		slices.Sort(tt.want)
		if got, want := written(t, tt.kind), slices.Compact(tt.want); !slices.Equal(got, want) {
			t.Errorf("%s may write\n%q, its records have\n%q", tt.kind, got, want)
		}
	}
}

// IAM cannot fence sort keys, so an agent may write its attributes into its own Instance, and a workflow
// its own into a RunStatus. What they can write there must mean nothing.
func TestDocuments_NameNothingOfTheControllers_H43(t *testing.T) {
	for _, name := range written(t, iam.Agent) {
		if slices.Contains(attributes(store.Instance{}), name) {
			t.Errorf("an agent may write %s, which means something in an Instance", name)
		}
	}
	for _, name := range []string{"phase", "instances", "deadline", "counts", "changedAt"} {
		if !slices.Contains(attributes(store.RunStatus{}), name) {
			t.Errorf("RunStatus has no %s any more: choose another name here", name)
		}
		if slices.Contains(written(t, iam.Workflow), name) {
			t.Errorf("a workflow may write %s of a RunStatus", name)
		}
	}
}
