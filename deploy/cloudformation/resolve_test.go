package cloudformation_test

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// template is the stack's, read for a test.
type template struct {
	t      *testing.T
	root   yaml.Node
	values map[string]string // of parameters and pseudo parameters, and of resources: what Ref gives
}

func parsed(t *testing.T) *template {
	t.Helper()
	tt := &template{t: t, values: map[string]string{
		"AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com", "AWS::Region": region, "AWS::AccountId": account,
	}}
	if err := yaml.Unmarshal(read(t), &tt.root); err != nil {
		t.Fatal(err)
	}
	for name, p := range tt.entries("Parameters") {
		for i := 0; i < len(p.Content); i += 2 {
			if p.Content[i].Value == "Default" {
				tt.values[name] = p.Content[i+1].Value
			}
		}
	}
	return tt
}

// entries are those of a section, by name.
func (tt *template) entries(section string) map[string]*yaml.Node {
	tt.t.Helper()
	n, out := at(tt.t, &tt.root, section), map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		out[n.Content[i].Value] = n.Content[i+1]
	}
	return out
}

// declared returns the properties of a resource with every function of CloudFormation computed; texts and numbers are texts.
func (tt *template) declared(resource string) map[string]any {
	tt.t.Helper()
	return tt.compute(at(tt.t, &tt.root, "Resources", resource, "Properties")).(map[string]any)
}

// absent is the value of AWS::NoValue.
type absent struct{}

func (tt *template) compute(n *yaml.Node) any {
	tt.t.Helper()
	list := func() (out []any) {
		for _, one := range n.Content {
			out = append(out, tt.compute(one))
		}
		return out
	}
	switch n.Tag {
	case "!Ref":
		if n.Value == "AWS::NoValue" {
			return absent{}
		}
		if n.Value == "Subnets" {
			return []any{tt.ref(n.Value)}
		}
		return tt.ref(n.Value)
	case "!GetAtt":
		return tt.attribute(n.Value)
	case "!Sub":
		return tt.sub(n)
	case "!If":
		args := n.Content
		if tt.holds(args[0].Value) {
			return tt.compute(args[1])
		}
		return tt.compute(args[2])
	case "!Join":
		args := list()
		var parts []string
		for _, one := range args[1].([]any) {
			parts = append(parts, fmt.Sprint(one))
		}
		return strings.Join(parts, args[0].(string))
	}
	if n.Kind == yaml.SequenceNode {
		return list()
	}
	if n.Kind != yaml.MappingNode {
		return n.Value
	}
	out := map[string]any{}
	for i := 0; i < len(n.Content); i += 2 {
		if v := tt.compute(n.Content[i+1]); v != any(absent{}) {
			out[n.Content[i].Value] = v
		}
	}
	if text, ok := out["Fn::Base64"]; ok {
		return text
	}
	return out
}

// holds computes the conditions, each of which asks whether a parameter is empty.
func (tt *template) holds(condition string) bool {
	return map[string]bool{"MakeProvider": tt.values["ProviderArn"] == "", "Tell": tt.values["AlarmTopic"] != ""}[condition]
}

func (tt *template) ref(name string) string {
	tt.t.Helper()
	v, ok := tt.values[name]
	if !ok {
		tt.t.Fatalf("nothing is known of %q", name)
	}
	return v
}

// attribute computes those that the template asks for, from what Ref gives.
func (tt *template) attribute(of string) string {
	tt.t.Helper()
	resource, name, _ := strings.Cut(of, ".")
	id := tt.ref(resource)
	switch {
	case name == "GroupId":
		return id
	case of == "Bucket.Arn":
		return "arn:aws:s3:::" + id
	case of == "ControllerProfile.Arn":
		return "arn:aws:iam::" + account + ":instance-profile/" + id
	case of == "WorkflowRole.Arn":
		return "arn:aws:iam::" + account + ":role/" + id
	case name == "LatestVersionNumber":
		return "1"
	}
	tt.t.Fatalf("nothing is known of attribute %s", of)
	return ""
}

func (tt *template) sub(n *yaml.Node) string {
	tt.t.Helper()
	text, more := n.Value, map[string]any{}
	if n.Kind == yaml.SequenceNode {
		text, more = n.Content[0].Value, tt.compute(n.Content[1]).(map[string]any)
	}
	return subst.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(found, "${"), "}")
		switch v, ok := more[name]; {
		case strings.HasPrefix(name, "!"):
			return "${" + name[1:] + "}"
		case ok:
			return fmt.Sprint(v)
		case strings.Contains(name, ".") && !strings.Contains(name, ":"):
			return tt.attribute(name)
		}
		return tt.ref(name)
	})
}
