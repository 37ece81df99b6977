package iam_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/deploy/iam"
)

// calls are all calls of AWS that the code makes, and who makes them. A workflow's session makes those
// of its workflow.
var calls = map[string][]iam.Kind{
	"cloudwatchlogs:CreateLogStream": {iam.Host}, // with log.group
	"cloudwatchlogs:PutLogEvents":    {iam.Host},

	"dynamodb:BatchGetItem":       {iam.Controller, iam.Operator},
	"dynamodb:CreateTable":        {iam.Init},
	"dynamodb:DeleteTable":        {iam.Uninstall},
	"dynamodb:DescribeTable":      {iam.Controller, iam.Init, iam.Uninstall},
	"dynamodb:DescribeTimeToLive": {iam.Controller, iam.Init},
	"dynamodb:GetItem":            {iam.Agent, iam.Controller, iam.Init, iam.Operator, iam.Uninstall, iam.Workflow},
	"dynamodb:PutItem":            {iam.Controller, iam.Operator, iam.Uninstall, iam.Workflow},
	"dynamodb:Scan":               {iam.Controller, iam.Operator, iam.Uninstall},
	"dynamodb:UpdateItem":         {iam.Agent},
	"dynamodb:UpdateTable":        {iam.Init},
	"dynamodb:UpdateTimeToLive":   {iam.Init},

	"ec2:CreateFleet":                    {iam.Controller},
	"ec2:CreateLaunchTemplate":           {iam.Controller, iam.Init},
	"ec2:CreateLaunchTemplateVersion":    {iam.Controller, iam.Init},
	"ec2:DeleteLaunchTemplate":           {iam.Uninstall},
	"ec2:DeleteLaunchTemplateVersions":   {iam.Controller}, // not within minutes of a start, so not by init
	"ec2:DescribeImages":                 {iam.Controller, iam.Init},
	"ec2:DescribeInstanceTypeOfferings":  {iam.Controller},
	"ec2:DescribeInstanceTypes":          {iam.Controller},
	"ec2:DescribeInstances":              {iam.Controller, iam.Uninstall},
	"ec2:DescribeLaunchTemplateVersions": {iam.Controller, iam.Init},
	"ec2:DescribeLaunchTemplates":        {iam.Controller, iam.Init, iam.Uninstall},
	"ec2:DescribeRouteTables":            {iam.Doctor},
	"ec2:DescribeSecurityGroups":         {iam.Controller, iam.Init},
	"ec2:DescribeSpotPriceHistory":       {iam.Controller},
	"ec2:DescribeSubnets":                {iam.Controller, iam.Init},
	"ec2:GetConsoleOutput":               {iam.Operator},
	"ec2:ModifyLaunchTemplate":           {iam.Controller, iam.Init},
	"ec2:TerminateInstances":             {iam.Controller, iam.Uninstall},

	"iam:GetInstanceProfile":      {iam.Controller, iam.Init},
	"iam:SimulatePrincipalPolicy": {iam.Doctor},

	"pricing:GetProducts": {iam.Controller},

	"s3:DeleteObjects":      {iam.Uninstall},
	"s3:GetObject":          {iam.Agent, iam.Controller, iam.Host, iam.Init, iam.Operator}, // by agents and the host also in the first script
	"s3:HeadObject":         {iam.Init},
	"s3:ListObjectVersions": {iam.Uninstall},
	"s3:ListObjectsV2":      {iam.Operator},
	"s3:PutObject":          {iam.Agent, iam.Init},

	"servicequotas:GetServiceQuota": {iam.Doctor},

	"secretsmanager:GetSecretValue": {iam.Controller, iam.Init},
	"secretsmanager:PutSecretValue": {iam.Init},

	"sqs:CreateQueue":        {iam.Controller, iam.Init},
	"sqs:DeleteMessageBatch": {iam.Controller},
	"sqs:DeleteQueue":        {iam.Uninstall},
	"sqs:GetQueueAttributes": {iam.Controller, iam.Init},
	"sqs:GetQueueUrl":        {iam.Agent, iam.Controller, iam.Init, iam.Operator, iam.Uninstall, iam.Workflow},
	"sqs:ListQueues":         {iam.Controller, iam.Init, iam.Uninstall},
	"sqs:ReceiveMessage":     {iam.Controller},
	"sqs:SendMessage":        {iam.Agent, iam.Controller, iam.Operator, iam.Uninstall, iam.Workflow},
	"sqs:SendMessageBatch":   {iam.Agent, iam.Controller, iam.Operator, iam.Uninstall, iam.Workflow},
	"sqs:SetQueueAttributes": {iam.Controller, iam.Init},

	"ssm:GetParameters": {iam.Controller, iam.Host, iam.Init, iam.Operator, iam.Uninstall}, // where ec2.ami is a parameter, or the configuration

	"sts:GetCallerIdentity": {}, // by agents and remuda doctor; needs no permission (STS API, GetCallerIdentity)
}

const root = "../.."

// clients are the SDK's packages of services.
var clients = regexp.MustCompile(`^github\.com/aws/aws-sdk-go-v2/service/([a-z0-9]+)$`)

// called returns the calls in the program's Go files, and a file that has each: what calls a service
// names the type of the call's input, such as dynamodb.GetItemInput.
func called(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "e2e" || d.Name() == "tools" || strings.HasSuffix(d.Name(), "test")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, call := range calledIn(t, file) {
			out[call] = filepath.ToSlash(rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func calledIn(t *testing.T, file *ast.File) []string {
	t.Helper()
	services := map[string]string{} // by the name of the package in the file
	for _, i := range file.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if m := clients.FindStringSubmatch(path); m != nil {
			name := m[1]
			if i.Name != nil {
				name = i.Name.Name
			}
			services[name] = m[1]
		}
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && services[x.Name] != "" {
			if op, found := strings.CutSuffix(selector.Sel.Name, "Input"); found {
				out = append(out, services[x.Name]+":"+op)
			}
		}
		return true
	})
	return out
}

// A call that is new in the code starts with a row above, a scenario in allowed_test.go and, if the
// latter is refused, a permission. One that is gone takes them with it.
func TestCalls_AreThoseOfTheCode(t *testing.T) {
	code := called(t)
	for _, call := range slices.Sorted(maps.Keys(code)) {
		if _, ok := calls[call]; !ok {
			t.Errorf("%s calls %s, which has no row in deploy/iam/calls_test.go", code[call], call)
		}
	}
	for _, call := range slices.Sorted(maps.Keys(calls)) {
		if code[call] == "" {
			t.Errorf("nothing calls %s, which has a row in deploy/iam/calls_test.go", call)
		}
	}
}

// Each row is evaluated.
func TestCalls_HaveScenarios(t *testing.T) {
	have := map[string]map[iam.Kind]bool{}
	for _, s := range allowed() {
		if s.call == "" {
			continue
		}
		if have[s.call] == nil {
			have[s.call] = map[iam.Kind]bool{}
		}
		have[s.call][s.kind] = true
		kind := s.kind
		if kind == iam.WorkflowSession {
			kind = iam.Workflow
		}
		if !slices.Contains(calls[s.call], kind) {
			t.Errorf("%s has an allowed scenario of %s, and no such row", s.kind, s.call)
		}
	}
	for call, kinds := range calls {
		if slices.Contains(kinds, iam.Workflow) {
			kinds = append(slices.Clone(kinds), iam.WorkflowSession)
		}
		for _, kind := range kinds {
			if !have[call][kind] {
				t.Errorf("%s by %s has no scenario in allowed_test.go", call, kind)
			}
		}
	}
}

// The check itself must see calls under another name of the package.
func TestCalledIn_FollowsNames(t *testing.T) {
	const text = `package p
import (
	db "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)
var a, b, c = db.GetItemInput{}, sqs.NewListQueuesPaginator(nil, &sqs.ListQueuesInput{}), types.OtherInput{}
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	got, want := calledIn(t, file), []string{"dynamodb:GetItem", "sqs:ListQueues"}
	if !slices.Equal(got, want) {
		t.Errorf("calledIn() = %q, want %q", got, want)
	}
}
