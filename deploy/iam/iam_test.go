package iam_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/deploy/iam"
)

var placeholder = regexp.MustCompile(`\$\{[A-Za-z]+\}`)

func render(t *testing.T, kind iam.Kind, v iam.Values) string {
	t.Helper()
	text, err := iam.Render(kind, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestKinds_AreTheFiles(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var files, kinds []string
	for _, e := range entries {
		if name, found := strings.CutSuffix(e.Name(), ".json"); found {
			files = append(files, name)
		}
	}
	for _, kind := range iam.Kinds() {
		kinds = append(kinds, string(kind))
	}
	slices.Sort(files)
	slices.Sort(kinds)
	if !slices.Equal(files, kinds) {
		t.Errorf("documents are %q, Kinds() = %q", files, kinds)
	}
}

func TestRender_Defaults(t *testing.T) {
	v := iam.Values{Region: "eu-west-1", Account: "111122223333", Name: "herd"}
	tests := []struct {
		kind iam.Kind
		want string
	}{
		{iam.Agent, `"arn:aws:dynamodb:eu-west-1:111122223333:table/herd"`},
		{iam.Agent, `"arn:aws:sqs:eu-west-1:111122223333:herd-events"`},
		{iam.Agent, `"INSTANCE#${aws:userid}"`}, // IAM's own variable stays
		{iam.AgentTrust, `"ec2.amazonaws.com"`},
		{iam.Controller, `"arn:aws:sqs:eu-west-1:111122223333:herd-*"`},
		{iam.Controller, `"arn:aws:iam::111122223333:role/herd-agent"`},
		{iam.Controller, `"arn:aws:iam::111122223333:instance-profile/herd-agent"`},
		{iam.Controller, `"arn:aws:ec2:eu-west-1:*:subnet/*"`},
		{iam.Controller, `"aws:RequestTag/remuda-name": "herd"`},
	}
	for _, tt := range tests {
		if got := render(t, tt.kind, v); !strings.Contains(got, tt.want) {
			t.Errorf("Render(%s) lacks %s:\n%s", tt.kind, tt.want, got)
		}
	}
}

func TestRender_OtherValues(t *testing.T) {
	v := iam.Values{
		Partition: "aws-cn", Region: "cn-north-1", Account: "111122223333", Name: "herd",
		Table: "records.v2", Events: "bell", Queues: "warm", AgentRole: "ci/horse", AgentProfile: "saddle",
		Subnets: []string{"subnet-0a1b2c3d", "subnet-0123456789abcdef0"}, SecurityGroups: []string{"sg-0a1b2c3d"},
	}
	got := render(t, iam.Controller, v)
	for _, want := range []string{
		`"arn:aws-cn:dynamodb:cn-north-1:111122223333:table/records.v2"`,
		`"arn:aws-cn:sqs:cn-north-1:111122223333:bell"`,
		`"arn:aws-cn:sqs:cn-north-1:111122223333:warm-*"`,
		`"arn:aws-cn:iam::111122223333:role/ci/horse"`,
		`"arn:aws-cn:iam::111122223333:instance-profile/saddle"`,
		`"arn:aws-cn:ec2:cn-north-1:*:subnet/subnet-0a1b2c3d", "arn:aws-cn:ec2:cn-north-1:*:subnet/subnet-0123456789abcdef0"`,
		`"iam:PassedToService": "ec2.amazonaws.com.cn"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("Render(controller) lacks %s:\n%s", want, got)
		}
	}
	for _, other := range []string{"subnet/*", "security-group/*"} {
		if strings.Contains(got, other) {
			t.Errorf("Render(controller) has %s beside ids:\n%s", other, got)
		}
	}
}

// Values become part of permissions: a wildcard or a quote in one would widen them.
func TestRender_RefusesBadValues(t *testing.T) {
	good := iam.Values{Region: "eu-west-1", Account: "111122223333", Name: "herd", Owner: "octo", Repo: "app", RunID: "1"}
	tests := []struct {
		name, field string
		change      func(*iam.Values)
	}{
		{"Partition", "Partition", func(v *iam.Values) { v.Partition = "aws:*" }},
		{"Region", "Region", func(v *iam.Values) { v.Region = "*" }},
		{"NoRegion", "Region", func(v *iam.Values) { v.Region = "" }},
		{"ShortAccount", "Account", func(v *iam.Values) { v.Account = "11112222333" }},
		{"NoAccount", "Account", func(v *iam.Values) { v.Account = "" }},
		{"Wildcard", "Name", func(v *iam.Values) { v.Name = "herd*" }},
		{"Variable", "Name", func(v *iam.Values) { v.Name = "${aws:userid}" }},
		{"Quote", "Name", func(v *iam.Values) { v.Name = `a", "b` }},
		{"NewLine", "Name", func(v *iam.Values) { v.Name = "herd\n" }},
		{"LongName", "Name", func(v *iam.Values) { v.Name = strings.Repeat("a", 55) }},
		{"NoName", "Name", func(v *iam.Values) { v.Name = "" }},
		{"Table", "Table", func(v *iam.Values) { v.Table = "a/b" }},
		{"Events", "Events", func(v *iam.Values) { v.Events = "a.b" }},
		{"EventsOfTable", "Events", func(v *iam.Values) { v.Table = "records.v2" }},
		{"Queues", "Queues", func(v *iam.Values) { v.Queues = "*" }},
		{"AgentRole", "AgentRole", func(v *iam.Values) { v.AgentRole = "*" }},
		{"AgentProfile", "AgentProfile", func(v *iam.Values) { v.AgentProfile = "arn:aws:iam::1:instance-profile/a" }},
		{"Subnet", "Subnets", func(v *iam.Values) { v.Subnets = []string{"subnet-*"} }},
		{"EmptySubnet", "Subnets", func(v *iam.Values) { v.Subnets = []string{""} }},
		{"SecurityGroup", "SecurityGroups", func(v *iam.Values) { v.SecurityGroups = []string{"subnet-0a1b2c3d"} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := good
			tt.change(&v)
			got, err := iam.Render(iam.Controller, v)
			if err == nil || !strings.Contains(err.Error(), "\n"+tt.field+" ") {
				t.Errorf("Render() = %d bytes, %v, want an error that names %s", len(got), err, tt.field)
			}
		})
	}
	for _, name := range []string{"", "octo/app", "*", "app:ref", "octo@1", "o?"} {
		for field, set := range map[string]func(*iam.Values){"Owner": func(v *iam.Values) { v.Owner = name }, "Repo": func(v *iam.Values) { v.Repo = name }} {
			v := good
			set(&v)
			if _, err := iam.Render(iam.WorkflowTrust, v); err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("Render(workflow-trust) with %s %q error = %v, want one that names %s", field, name, err, field)
			}
		}
	}
	for _, run := range []string{"", "*", "4711-b"} {
		v := good
		v.RunID = run
		if _, err := iam.Render(iam.WorkflowSession, v); err == nil || !strings.Contains(err.Error(), "RunID") {
			t.Errorf("Render(workflow-session) of run %q error = %v, want one that names RunID", run, err)
		}
	}
	if _, err := iam.Render("admin", good); err == nil || !strings.Contains(err.Error(), "controller") {
		t.Errorf("Render(admin) error = %v, want one that lists the documents", err)
	}
}

// All that is wrong is said at once, and each thing once.
func TestRender_NamesEveryBadValue(t *testing.T) {
	_, err := iam.Render(iam.Controller, iam.Values{Account: "1", Name: "herd"})
	if err == nil || strings.Count(err.Error(), "Region") != 1 || strings.Count(err.Error(), "Account") != 1 {
		t.Errorf("Render() error = %v, want one that names Region and Account once", err)
	}
}

func TestRender_LeavesNoPlaceholder(t *testing.T) {
	for _, kind := range iam.Kinds() {
		if found := placeholder.FindString(render(t, kind, installation)); found != "" {
			t.Errorf("Render(%s) leaves %s", kind, found)
		}
	}
}

// The longest values that are accepted, with as many subnets and security groups as a large
// installation has, stay below IAM's limits; what does not is an error.
func TestRender_StaysWithinLimits(t *testing.T) {
	long := iam.Values{
		Partition: "aws-us-gov", Region: "us-gov-east-1", Account: "111122223333", Name: strings.Repeat("n", 54),
		Bucket: strings.Repeat("b", 63), Table: strings.Repeat("t", 255), Events: strings.Repeat("e", 80), Queues: strings.Repeat("q", 54),
		AgentRole: strings.Repeat("r", 64), AgentProfile: strings.Repeat("p", 128),
		Owner: strings.Repeat("o", 39), Repo: strings.Repeat("r", 100), RunID: strings.Repeat("1", 20),
	}
	for range 6 {
		long.Subnets = append(long.Subnets, "subnet-0123456789abcdef0")
	}
	for range 5 { // EC2's default limit of an interface
		long.SecurityGroups = append(long.SecurityGroups, "sg-0123456789abcdef0")
	}
	space := regexp.MustCompile(`\s`)
	for _, kind := range iam.Kinds() {
		n := len(space.ReplaceAllString(render(t, kind, long), ""))
		if n > kind.Limit() {
			t.Errorf("Render(%s) is %d characters without white space, IAM accepts %d", kind, n, kind.Limit())
		}
		t.Logf("%s: %d of %d", kind, n, kind.Limit())
	}
	for range 100 {
		long.Subnets = append(long.Subnets, "subnet-0123456789abcdef0")
	}
	if _, err := iam.Render(iam.Controller, long); err == nil || !strings.Contains(err.Error(), "IAM accepts 6144") {
		t.Errorf("Render(controller) with 106 subnets error = %v, want one that names the limit", err)
	}
}

func TestTemplate_IsTheFile(t *testing.T) {
	for _, kind := range iam.Kinds() {
		got, err := iam.Template(kind)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(string(kind) + ".json")
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("Template(%s) is not %s.json, %v", kind, kind, err)
		}
	}
}
