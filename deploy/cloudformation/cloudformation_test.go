// Here the stack's policies are held to the documents of deploy/iam, and its resources to what moto makes of them.
package cloudformation_test

//go:generate go test . -run TestGenerated -update

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/deploy/iam"
	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
	"github.com/remuda-run/remuda/internal/config"
)

const file = "remuda.yaml"

var update = flag.Bool("update", false, "write the policies into "+file)

// section is a policy of the template, between its marks.
var section = regexp.MustCompile(`(?s)( *)# Begin of ([a-z-]+)\.json\n.*?( *)# End\n`)

// hosts is the script of the controller's host, between its marks.
var hosts = regexp.MustCompile(`(?s)( *)# Begin of the host's script\n.*?( *)# End\n`)

// variables are what CloudFormation fills in for the placeholders of deploy/iam.
var variables = map[string]string{
	"Partition": "${AWS::Partition}", "Domain": "${AWS::URLSuffix}", "Region": "${AWS::Region}", "Account": "${AWS::AccountId}",
	"Name": "${Name}", "Table": "${Name}", "Events": "${Name}-events", "Queues": "${Name}", "Secret": "${Name}/github",
	"Bucket":    "${Name}-${AWS::AccountId}-${AWS::Region}",
	"AgentRole": "${Name}-agent", "AgentProfile": "${Name}-agent",
	"Subnets":        "arn:${AWS::Partition}:ec2:${AWS::Region}:*:subnet/*",
	"SecurityGroups": "arn:${AWS::Partition}:ec2:${AWS::Region}:*:security-group/*",
	"Owner":          "${Owner}", "Repo": "${Repo}", "Subject": "${Subject}",
}

var (
	indent      = regexp.MustCompile(`(?m)^ +`)
	literal     = regexp.MustCompile(`"[^"]*\$\{[^"]*"`)
	ours        = regexp.MustCompile(`\$\{[A-Za-z]+\}`)
	placeholder = regexp.MustCompile(`\$\{([A-Za-z:]+)\}`)
)

// render returns a document as CloudFormation takes it: JSON whose texts with variables are given to Fn::Sub.
func render(t *testing.T, name string) string {
	t.Helper()
	text, err := iam.Template(iam.Kind(name))
	if err != nil {
		t.Fatal(err)
	}
	return literal.ReplaceAllStringFunc(string(text), func(quoted string) string {
		if !ours.MatchString(quoted) { // has IAM's own variables alone, and stays as it is
			return quoted
		}
		return "!Sub " + placeholder.ReplaceAllStringFunc(quoted, func(found string) string {
			key := strings.Trim(found, "${}")
			if strings.Contains(key, ":") { // IAM's own
				return "${!" + key + "}"
			}
			if variables[key] == "" {
				t.Fatalf("%s.json: no variable of the stack is known for %s", name, found)
			}
			return variables[key]
		})
	})
}

// The policies of the template are those of deploy/iam, the script is that of package userdata.
func TestGenerated_PoliciesAndScript(t *testing.T) {
	text := read(t)
	want := section.ReplaceAllStringFunc(string(text), func(found string) string {
		m := section.FindStringSubmatch(found)
		half := indent.ReplaceAllStringFunc(strings.TrimSpace(render(t, m[2])), func(deep string) string { return deep[len(deep)/2:] }) // maxBody
		lines := filled(strings.Split(half, "\n"), 120-len(m[1]))
		return m[1] + "# Begin of " + m[2] + ".json\n" + m[1] + strings.Join(lines, "\n"+m[1]) + "\n" + m[1] + "# End\n"
	})
	want = hosts.ReplaceAllStringFunc(want, func(found string) string {
		m := hosts.FindStringSubmatch(found)
		lines := strings.Split(strings.TrimSpace(userdata.Host()), "\n")
		for i, line := range lines {
			if line != "" {
				lines[i] = m[1] + line
			}
		}
		return m[1] + "# Begin of the host's script\n" + strings.Join(lines, "\n") + "\n" + m[1] + "# End\n"
	})
	// What tests boot begins as the template's script does.
	for line := range strings.Lines(userdata.HostHead("${Name}", "${AWS::Region}", "${Bucket}")) {
		if !strings.Contains(want, "                "+line) {
			t.Errorf("%s: the host's script does not begin with %q", file, line)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("policies in %s differ from deploy/iam: run make gen", file)
	}
}

// element is a line that is one text of a list.
var element = regexp.MustCompile(`^ *((!Sub )?"[^"]*",?)$`)

// filled puts texts of a list that follow each other on one line, as far as it has room: each line of its own costs its
// indentation, and a template has few bytes (maxBody).
func filled(lines []string, width int) []string {
	var out []string
	for i, line := range lines {
		text := element.FindStringSubmatch(line)
		if text != nil && i > 0 && element.MatchString(lines[i-1]) && len(out[len(out)-1])+1+len(text[1]) <= width {
			out[len(out)-1] += " " + text[1]
			continue
		}
		out = append(out, line)
	}
	return out
}

func read(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// sample is an installation, by the variables of CloudFormation.
var sample = strings.NewReplacer("${AWS::Partition}", "aws", "${AWS::URLSuffix}", "amazonaws.com", "${AWS::Region}", "eu-west-1",
	"${AWS::AccountId}", "111122223333", "${Name}", "remuda", "${Owner}", "octo", "${Repo}", "app", "${Subject}", "*", "${!", "${")

// value returns what a node is once CloudFormation has filled in its variables.
func value(t *testing.T, n *yaml.Node) any {
	t.Helper()
	if n.Kind == yaml.MappingNode {
		out := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			out[n.Content[i].Value] = value(t, n.Content[i+1])
		}
		return out
	}
	if n.Kind == yaml.SequenceNode {
		out := []any{}
		for _, one := range n.Content {
			out = append(out, value(t, one))
		}
		return out
	}
	if n.Tag == "!Sub" {
		return sample.Replace(n.Value)
	}
	if ours.MatchString(n.Value) {
		t.Errorf("line %d: %q has a variable that nothing fills in", n.Line, n.Value)
	}
	return n.Value
}

// at follows a path of keys and of the first elements of lists, or of the second where a key says so.
func at(t *testing.T, n *yaml.Node, path ...string) *yaml.Node {
	t.Helper()
	for _, key := range path {
		if key == "second" {
			n = n.Content[1]
			continue
		}
		for n.Kind == yaml.DocumentNode || n.Kind == yaml.SequenceNode {
			n = n.Content[0]
		}
		var next *yaml.Node
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				next = n.Content[i+1]
			}
		}
		if next == nil {
			t.Fatalf("%s: nothing at %q of %q", file, key, path)
		}
		n = next
	}
	return n
}

// What CloudFormation gives to IAM is what Render gives.
func TestPolicies_AreAsRendered(t *testing.T) {
	text := read(t)
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	const trust, inline, second, managed = "AssumeRolePolicyDocument", "Policies", "second", "PolicyDocument"
	for _, c := range []struct {
		resource string
		kind     iam.Kind
		path     []string
	}{
		{"AgentRole", iam.AgentTrust, []string{trust}},
		{"AgentRole", iam.Agent, []string{inline, managed}},
		{"ControllerRole", iam.ControllerTrust, []string{trust}},
		{"ControllerRole", iam.Controller, []string{inline, managed}},
		{"ControllerRole", iam.Host, []string{inline, second, managed}},
		{"WorkflowRole", iam.WorkflowTrust, []string{trust}},
		{"WorkflowRole", iam.Workflow, []string{inline, managed}},
		{"InitPolicy", iam.Init, []string{managed}},
		{"DoctorPolicy", iam.Doctor, []string{managed}},
		{"UninstallPolicy", iam.Uninstall, []string{managed}},
		{"OperatorPolicy", iam.Operator, []string{managed}},
	} {
		t.Run(c.resource+" "+string(c.kind), func(t *testing.T) {
			rendered, err := iam.Render(c.kind, iam.Values{Region: "eu-west-1", Account: "111122223333", Name: "remuda", Owner: "octo", Repo: "app"})
			if err != nil {
				t.Fatal(err)
			}
			var want any
			if err := json.Unmarshal(rendered, &want); err != nil {
				t.Fatal(err)
			}
			got := value(t, at(t, &root, append([]string{"Resources", c.resource, "Properties"}, c.path...)...))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %v\nwant %v", got, want)
			}
		})
	}
}

// Each parameter takes what it should, and refuses what is wrong in a way that CloudFormation can explain.
func TestParameters_RefuseWhatIsWrong(t *testing.T) {
	text := read(t)
	var template struct {
		Parameters map[string]struct {
			Type, Default, AllowedPattern, ConstraintDescription string
			AllowedValues                                        []string
		} `yaml:"Parameters"`
	}
	// The fields of a parameter have CloudFormation's own spelling.
	if err := yaml.Unmarshal(fields.ReplaceAllFunc(text, bytes.ToLower), &template); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ right, wrong []string }{
		"Name":        {[]string{"remuda", "ci-2", "my-aws"}, []string{"", "ci", "Remuda", "-ci", "a_b", strings.Repeat("a", 27), "aws-ci", "ssm-ci"}},
		"Owner":       {[]string{"octo", "octo-org", "mona_acme"}, []string{"", "octo/app", "octo@1", "*"}},
		"Repo":        {[]string{"app.go", "_app-1"}, []string{"", "octo/app", "app@1", "*"}},
		"Subject":     {[]string{"*", "pull_request", "ref:refs/heads/release-*"}, []string{"", "main", "ref:refs/heads/*/x", "environment:*"}},
		"ProviderArn": {[]string{"", "arn:aws-cn:iam::111122223333:oidc-provider/token.actions.githubusercontent.com"}, []string{"token.actions.githubusercontent.com", "arn:aws:iam::111122223333:oidc-provider/example.com"}},
		"Vpc":         {nil, nil}, // by its type: CloudFormation checks that it exists
		"Subnets":     {nil, nil},
		"Hosts":       {[]string{"0", "1", "2"}, []string{"", "3", "-1"}},
		"Classes": {[]string{"{a: {cpu: 1, mem: 1024}}", "{ a-1: { cpu: 1, mem: 1024, exclude: ['c5a.*', \"*.metal\"] } , 2b: {cpu: 2, mem: 4096} }", "{a: {cpu: 4, mem: 1024, gpu: {count: 1}, cap: 2}, b: {cpu: 2, mem: 4096, gpu: {count: 2}}}"},
			[]string{"", "{}", "{ }", "{{}", "{{}}", "{a: {}}", "a: {cpu: 1}", "{a: {cpu: 1,\nmem: 1}}", "{a: {cpu: 1}", "{a: {cpu: 1}}}", "{a: {cpu: 1, gpu: {count: 1}}", "{a: {cpu: 1}},", "{a: {cpu: 1} b: {cpu: 2}}", "{a: {cpu: 1 # one}}"}},
		"MaxInstances": {nil, nil}, // by MinValue and MaxValue
		"Settings": {[]string{"", "limits: {idle: 20m}", "limits: { idle: 20m }, runs: {poll: 1m},http: {hosts: [ci.example.org]}", "lease: {ttl: 20s}, intervals: {scan: 1h}, requests: {maxCount: 50},", "budget: {monthly: 500, degrade: [{at: 0.8, do: floors}, {at: 1, do: caps, to: 3}]}, costs: {prices: /etc/prices.yaml}"},
			[]string{"{limits: {idle: 20m}}", "limits:", "limits: {idle: 20m}\nruns: {poll: 1m}", "limits: {}", "limits: {idle: 20m", "limits: {idle: 20m}}", "limits: {idle: 20m} runs: {poll: 1m}", ", limits: {idle: 20m}", "limits: {idle: 20m # long}",
				"log: {level: debug}", "limits: {idle: 20m}, log: {level: debug}", "agent: {runnerUser: root}", "name: {a: b}", "process: {a: b}"}},
		"AlarmTopic": {[]string{"", "arn:aws:sns:eu-west-1:111122223333:pager"}, []string{"pager", "arn:aws:sqs:eu-west-1:111122223333:pager"}},
		"LogDays":    {[]string{"30"}, []string{"0", "2"}},
	}
	for name, p := range template.Parameters {
		c, ok := cases[name]
		plain := !strings.Contains(p.Type, "AWS::")
		if !ok || plain != (p.ConstraintDescription != "") {
			t.Errorf("parameter %s: known to this test %t, type %q, ConstraintDescription %q", name, ok, p.Type, p.ConstraintDescription)
		}
		// CloudFormation User Guide, "Parameters": AllowedPattern is for String and CommaDelimitedList.
		if p.AllowedPattern != "" && p.Type != "String" && p.Type != "CommaDelimitedList" {
			t.Errorf("parameter %s of type %s has an AllowedPattern", name, p.Type)
		}
		takes := func(v string) bool {
			if p.AllowedValues != nil {
				return slices.Contains(p.AllowedValues, v)
			}
			pattern := p.AllowedPattern
			if m := ahead.FindStringSubmatch(pattern); m != nil { // of Java's regular expressions, not of Go's
				if regexp.MustCompile("^(?:" + m[1] + ")").MatchString(v) {
					return false
				}
				pattern = pattern[len(m[0]):]
			}
			return pattern != "" && regexp.MustCompile("^(?:"+pattern+")$").MatchString(v)
		}
		for _, v := range c.right {
			if !takes(v) {
				t.Errorf("parameter %s refuses %q", name, v)
			}
			if err := configured(t, name, v); err != nil {
				t.Errorf("parameter %s takes %q, the controller does not: %v", name, v, err)
			}
		}
		for _, v := range c.wrong {
			if takes(v) {
				t.Errorf("parameter %s takes %q", name, v)
			}
		}
	}
	if len(template.Parameters) != len(cases) {
		t.Errorf("%d parameters, want %d", len(template.Parameters), len(cases))
	}
}

// ahead is a look ahead, at the beginning of a pattern, for what must not be there.
var ahead = regexp.MustCompile(`^\(\?!([a-z|]+)\)`)

// configured reads the configuration of a stack with one parameter as given, as a controller does.
func configured(t *testing.T, parameter, v string) error {
	t.Helper()
	tt := parsed(t)
	maps.Copy(tt.values, map[string]string{
		"Owner": "octo", "Repo": "app", "Vpc": "vpc-0123456789abcdef0", "Subnets": "subnet-0123456789abcdef0",
		"Log": "/remuda/controller", "Bucket": "remuda-" + account + "-" + region, "MachineGroup": "sg-0123456789abcdef0", "AgentProfile": "remuda-agent",
	})
	tt.values[parameter] = v
	text := tt.declared("Config")["Value"].(string)
	l, err := config.Read(config.Source{File: "config", ReadFile: func(string) ([]byte, error) { return []byte(text), nil }})
	if err != nil {
		return err
	}
	return l.Validate()
}

// Sections that Settings takes are those that the stack does not write, but for that of another fleet; so each is named once.
func TestParameters_SettingsAreTheOtherSections(t *testing.T) {
	tt := parsed(t)
	pattern := at(t, &tt.root, "Parameters", "Settings", "AllowedPattern").Value
	var written, free []string
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): `).FindAllStringSubmatch(at(t, &tt.root, "Resources", "Config", "Properties", "Value").Content[0].Value, -1) {
		written = append(written, m[1])
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[config.Config]()) {
		if key := f.Tag.Get("yaml"); !slices.Contains(written, key) && key != "process" {
			free = append(free, key)
		}
	}
	slices.Sort(free)
	if want := "((" + strings.Join(free, "|") + "): "; !strings.HasPrefix(pattern, want) {
		t.Errorf("Settings takes %q, want %q: the stack writes %q", pattern, want, written)
	}
}

var fields = regexp.MustCompile(`(?m)^    (Type|Default|AllowedPattern|AllowedValues|ConstraintDescription):`)
