package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/finding"
)

// awsEnv gives the SDK credentials and an endpoint, and nothing of this machine's.
func awsEnv(t *testing.T, endpoint string) {
	t.Helper()
	none := filepath.Join(t.TempDir(), "none")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none, "AWS_ENDPOINT_URL": endpoint,
	} {
		t.Setenv(name, value)
	}
}

// identityService is STS and IAM, as far as doctor asks them. decide returns the decision on each action, or the code of IAM's
// error.
func identityService(t *testing.T, arn string, late time.Duration, decide func(url.Values) string) (*httptest.Server, *[]url.Values) {
	t.Helper()
	var mu sync.Mutex
	var asked []url.Values
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		mu.Lock()
		asked = append(asked, r.Form)
		mu.Unlock()
		w.Header().Set("Content-Type", "text/xml")
		w.Header().Set("Date", time.Now().Add(late).UTC().Format(http.TimeFormat))
		if r.Form.Get("Action") == "GetCallerIdentity" {
			fmt.Fprintf(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>%s</Arn><Account>111122223333</Account><UserId>A</UserId></GetCallerIdentityResult></GetCallerIdentityResponse>`, arn)
			return
		}
		if name := r.Form.Get("InstanceProfileName"); name != "" {
			fmt.Fprintf(w, `<GetInstanceProfileResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><GetInstanceProfileResult><InstanceProfile><Roles><member><Arn>arn:aws:iam::111122223333:role/fleet/%s-role</Arn></member></Roles></InstanceProfile></GetInstanceProfileResult></GetInstanceProfileResponse>`, name)
			return
		}
		if r.Form.Get("Action") == "DescribeSubnets" { // shared by another account
			fmt.Fprint(w, `<DescribeSubnetsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><subnetSet><item><subnetId>subnet-00000009</subnetId><ownerId>444455556666</ownerId></item></subnetSet></DescribeSubnetsResponse>`)
			return
		}
		decision := decide(r.Form)
		if status := map[string]int{"AccessDenied": http.StatusForbidden, "NoSuchEntity": http.StatusNotFound, "InvalidInput": http.StatusBadRequest}[decision]; status != 0 {
			w.WriteHeader(status)
			fmt.Fprintf(w, `<ErrorResponse><Error><Code>%s</Code><Message>no</Message></Error></ErrorResponse>`, decision)
			return
		}
		fmt.Fprint(w, `<SimulatePrincipalPolicyResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><SimulatePrincipalPolicyResult><EvaluationResults>`)
		for i := 1; r.Form.Has(fmt.Sprintf("ActionNames.member.%d", i)); i++ {
			fmt.Fprintf(w, `<member><EvalActionName>%s</EvalActionName><EvalResourceName>r</EvalResourceName><EvalDecision>%s</EvalDecision></member>`,
				r.Form.Get(fmt.Sprintf("ActionNames.member.%d", i)), decision)
		}
		fmt.Fprint(w, `</EvaluationResults><IsTruncated>false</IsTruncated></SimulatePrincipalPolicyResult></SimulatePrincipalPolicyResponse>`)
	}))
	t.Cleanup(srv.Close)
	return srv, &asked
}

const onAWS = "dynamodb://table?region=eu-west-1"

func doctored(t *testing.T, args ...string) (code int, view doctorView, text string) {
	t.Helper()
	c := newCLI(nil)
	c.files["/remuda.yaml"] = "classes:\n  small: {cpu: 2, mem: 4096}\n  gpu: {cpu: 4, mem: 4096, instanceProfile: gpu, subnets: [subnet-00000009]}\n"
	code = c.run(t.Context(), append([]string{"doctor", "-o", "json"}, args...)...)
	if err := json.Unmarshal(c.out.Bytes(), &view); err != nil {
		t.Fatalf("remuda doctor = %d: %v in %q, %s", code, err, c.out.String(), c.err.String())
	}
	return code, view, c.err.String()
}

func (v doctorView) of(check string) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(v.Checks), func(f finding.Finding) bool { return f.Check != check })
}

// Whether the role may do what its policy allows is asked of IAM, statement by statement; a refusal is named.
func TestDoctor_Permissions(t *testing.T) {
	const session = "arn:aws:sts::111122223333:assumed-role/remuda-controller/host"
	for name, tt := range map[string]struct {
		decide  func(url.Values) string
		verdict finding.Verdict
		says    string
	}{
		"All": {func(url.Values) string { return "allowed" }, finding.OK, "arn:aws:iam::111122223333:role/remuda-controller may do all that deploy/iam/controller.json allows"},
		"One": {func(q url.Values) string {
			if q.Get("ActionNames.member.1") == "ec2:TerminateInstances" {
				return "implicitDeny"
			}
			return "allowed"
		}, finding.Failed, "role/remuda-controller may not: ec2:TerminateInstances on r"},
		"Agents": {func(q url.Values) string {
			if q.Get("PolicySourceArn") == "arn:aws:iam::111122223333:role/fleet/gpu-role" && q.Get("ActionNames.member.1") == "dynamodb:GetItem" {
				return "implicitDeny"
			}
			return "allowed"
		}, finding.Failed, "role/fleet/gpu-role may not: dynamodb:GetItem on r"},
		"NotAllowed": {func(url.Values) string { return "AccessDenied" }, finding.Skipped, "may not call iam:SimulatePrincipalPolicy"},
	} {
		t.Run(name, func(t *testing.T) {
			srv, asked := identityService(t, session, 0, tt.decide)
			awsEnv(t, srv.URL)
			_, view, errs := doctored(t, "--config", "/remuda.yaml", "--store", onAWS, "--pool", "sqs://table?region=eu-west-1", "--fleet", "ec2://remuda?region=eu-west-1",
				"--set", "ec2.instanceProfile=remuda-agent", "--set", "agent.runnerUser=ci")
			if got := view.of("permissions"); len(got) != 3 || !slices.ContainsFunc(got, func(f finding.Finding) bool {
				return f.Verdict == tt.verdict && strings.Contains(f.Detail, tt.says)
			}) {
				t.Errorf("permissions = %v, want %s: %s; %s", got, tt.verdict, tt.says, errs)
			}
			of := map[string]string{}
			for _, q := range *asked {
				switch q.Get("Action") {
				case "GetCallerIdentity":
					of["sts"] += "."
				case "SimulatePrincipalPolicy":
					of[q.Get("PolicySourceArn")] += " " + q.Encode()
				}
			}
			if of["sts"] != "." {
				t.Errorf("STS is asked %d times, want once", len(of["sts"]))
			}
			if tt.verdict == finding.Skipped {
				return
			}
			for role, says := range map[string][]string{
				"arn:aws:iam::111122223333:role/remuda-controller": { // what is launched, of every class
					"role%2Ffleet%2Fremuda-agent-role", "role%2Ffleet%2Fgpu-role", "instance-profile%2Fgpu", "arn%3Aaws%3Aec2%3Aeu-west-1%3A444455556666%3Asubnet%2Fsubnet-00000009",
				},
				"arn:aws:iam::111122223333:role/fleet/gpu-role":          {"INSTANCE%23AROAREMUDADOCTOR%3Ai-0123456789abcdef0"},
				"arn:aws:iam::111122223333:role/fleet/remuda-agent-role": {"dynamodb%3AUpdateItem"},
			} {
				for _, text := range says {
					if !strings.Contains(of[role], text) {
						t.Errorf("%s is not asked about %s", role, text)
					}
				}
			}
		})
	}
}

// Who asks is rarely whom the policy is for: the controller's role is, if it is called as the stack calls it. Whom IAM cannot
// simulate is no fault of the installation.
func TestDoctor_PermissionsOfWhom(t *testing.T) {
	const (
		account = "arn:aws:iam::111122223333:"
		stack   = account + "role/remuda-controller"
		sso     = "arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Admin_abc/someone"
	)
	missing := func(exists ...string) func(url.Values) string {
		return func(q url.Values) string {
			if who := q.Get("PolicySourceArn"); strings.Contains(who, ":role/fleet/") || slices.Contains(exists, who) {
				return "allowed"
			}
			return "NoSuchEntity"
		}
	}
	denied := func(absent ...string) func(url.Values) string {
		return func(q url.Values) string {
			if slices.Contains(absent, q.Get("PolicySourceArn")) {
				return "NoSuchEntity"
			}
			return "AccessDenied"
		}
	}
	for name, tt := range map[string]struct {
		caller  string
		args    []string
		decide  func(url.Values) string
		verdict finding.Verdict
		says    string
	}{
		"StacksRole_SSO":  {sso, nil, missing(stack), finding.OK, stack + " may do all that deploy/iam/controller.json allows"},
		"StacksRole_User": {account + "user/alice", nil, missing(stack, account+"user/alice"), finding.OK, stack + " may do all"},
		"StacksRole_Root": {account + "root", nil, missing(stack), finding.OK, stack + " may do all"},
		"Caller": {
			"arn:aws:sts::111122223333:assumed-role/own/host", nil, missing(account + "role/own"), finding.OK,
			account + "role/own may do all that deploy/iam/controller.json allows (asked since IAM can simulate no " + stack + ")",
		},
		"Caller_User":     {account + "user/alice", nil, missing(account + "user/alice"), finding.OK, account + "user/alice may do all"},
		"Denied":          {account + "user/alice", nil, denied(), finding.Skipped, "may not call iam:SimulatePrincipalPolicy on " + stack},
		"Denied_NoRole":   {account + "user/alice", nil, denied(stack), finding.Skipped, "on " + account + "user/alice (asked since IAM can simulate no " + stack},
		"Nobody":          {account + "root", nil, missing(), finding.Skipped, "IAM can simulate no " + stack},
		"Nobody_SSO":      {sso, nil, missing(), finding.Skipped, "IAM can simulate no " + stack + " and no " + account + "role/AWSReservedSSO_Admin_abc"},
		"Nobody_Root":     {account + "root", []string{"--policy", "init"}, missing(), finding.Skipped, "nobody is known who should have deploy/iam/init.json"},
		"NamedWrong":      {sso, []string{"--role", account + "role/wrong"}, missing(stack), finding.Failed, "IAM can simulate no " + account + "role/wrong"},
		"NotOfThatPolicy": {account + "user/alice", []string{"--policy", "init"}, missing(stack, account+"user/alice"), finding.OK, account + "user/alice may do all that deploy/iam/init.json"},
		"Invalid": {"arn:aws:sts::111122223333:federated-user/bob", nil, func(q url.Values) string {
			if strings.Contains(q.Get("PolicySourceArn"), "federated-user") {
				return "InvalidInput"
			}
			return missing()(q)
		}, finding.Skipped, "IAM can simulate no "},
	} {
		t.Run(name, func(t *testing.T) {
			srv, _ := identityService(t, tt.caller, 0, tt.decide)
			awsEnv(t, srv.URL)
			_, view, errs := doctored(t, append([]string{"--config", "/remuda.yaml", "--store", onAWS, "--pool", "sqs://table?region=eu-west-1", "--fleet", "ec2://remuda?region=eu-west-1",
				"--set", "ec2.instanceProfile=remuda-agent", "--set", "agent.runnerUser=ci"}, tt.args...)...)
			got := view.of("permissions")
			if len(got) != 3 || got[0].Verdict != tt.verdict || !strings.Contains(got[0].Detail, tt.says) {
				t.Errorf("permissions = %v, want %s: %s; %s", got, tt.verdict, tt.says, errs)
			}
			if tt.verdict == finding.Skipped && !strings.Contains(got[0].Remedy, "--role") {
				t.Errorf("remedy = %q", got[0].Remedy)
			}
		})
	}
}

// The conditions of a policy are fulfilled in what is asked, so that what it allows counts as allowed.
func TestDoctor_QuestionsCarryTheConditions(t *testing.T) {
	c := config.Default()
	c.Store, c.Pool, c.Fleet = onAWS, "sqs://table", "ec2://remuda"
	values, err := policyValues(c, awsarn.ARN{Partition: "aws", AccountID: "111122223333"}, "eu-west-1")
	if err != nil {
		t.Fatal(err)
	}
	asks, err := questions("controller", values)
	if err != nil {
		t.Fatal(err)
	}
	context := map[string]string{}
	for _, ask := range asks {
		if slices.Contains(ask.ActionNames, "ec2:TerminateInstances") {
			for _, entry := range ask.ContextEntries {
				context[*entry.ContextKeyName] = entry.ContextKeyValues[0]
			}
		}
	}
	if len(asks) < 10 || context["aws:ResourceTag/remuda-name"] != "remuda" {
		t.Errorf("%d questions, context of TerminateInstances %v, want the tag", len(asks), context)
	}
}

// A clock that AWS would refuse is found, and the remedy said.
func TestDoctor_Clock(t *testing.T) {
	for late, want := range map[time.Duration]finding.Verdict{0: finding.OK, 10 * time.Minute: finding.Failed, -10 * time.Minute: finding.Failed} {
		srv, _ := identityService(t, "arn:aws:iam::111122223333:user/ann", late, func(url.Values) string { return "AccessDenied" })
		awsEnv(t, srv.URL)
		code, view, errs := doctored(t, "--store", onAWS, "--pool", "sqs://table?region=eu-west-1")
		if got := view.of("clock"); len(got) != 1 || got[0].Verdict != want {
			t.Errorf("%s late: %v, want %s", late, got, want)
		}
		if code != exitViolated || !strings.Contains(errs, "failed") {
			t.Errorf("exit code %d, %s, want %d: no table, no GitHub", code, errs, exitViolated)
		}
	}
}

// What GitHub says of the credential is told: scopes of a classic token, nothing of a fine-grained one.
func TestDoctor_GitHub(t *testing.T) {
	for name, tt := range map[string]struct {
		token, scopes string
		want          []string
	}{
		"Classic":     {"ghp_x", "repo", []string{"ok Administration: write", "ok Actions: read", "ok Actions: write", "warning Checks: write"}},
		"NoScope":     {"ghp_x", "gist, read:org", []string{"failed Administration: write", "warning Actions: read", "warning Actions: write", "warning Checks: write"}},
		"FineGrained": {"github_pat_x", "", []string{"skipped Administration: write", "skipped Actions: read", "skipped Actions: write", "skipped Checks: write"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					t.Errorf("%s %s: doctor changes nothing", r.Method, r.URL)
				}
				if tt.scopes != "" {
					w.Header().Set("X-OAuth-Scopes", tt.scopes)
				}
				if strings.Contains(r.URL.Path, "deprecations") {
					fmt.Fprint(w, `{"runtime_deprecates_at":"2001-02-03T00:00:00Z"}`)
					return
				}
				fmt.Fprint(w, `{"runners":[]}`)
			}))
			defer srv.Close()
			t.Setenv("TOKEN", tt.token)
			c := newCLI(nil)
			c.env = []string{"TOKEN=" + tt.token}
			code := c.run(t.Context(), "doctor", "-o", "json", "--set", "github.url="+srv.URL+"/o/r", "--set", "github.apiUrl="+srv.URL,
				"--set", "github.tokenEnv=TOKEN", "--set", "agent.runnerVersion=2.300.0")
			var view doctorView
			if err := json.Unmarshal(c.out.Bytes(), &view); err != nil || code != exitViolated {
				t.Fatalf("code %d, %v in %s", code, err, c.out.String())
			}
			var got []string
			for _, f := range view.of("github permission") {
				text, _, _ := strings.Cut(f.Detail, ",")
				got = append(got, string(f.Verdict)+" "+text)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("permissions %q, want %q", got, tt.want)
			}
			if v := view.of("runner version"); len(v) != 1 || v[0].Verdict != finding.Failed || !strings.Contains(v[0].Detail, "not served it since 2001-02-03") {
				t.Errorf("runner version = %v", v)
			}
			if strings.Contains(c.out.String()+c.err.String(), tt.token) {
				t.Error("it shows the token")
			}
		})
	}
}

// What machines fetch is fetched, and its checksum compared.
func TestDoctor_Programs(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/remuda" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, "program")
	}))
	defer srv.Close()
	const sum = "a98fed9d18f0dfd0b86f20d1a2c75ef1f8e1e7a9d0c6a8e2a9e0b9d0f0a6a2b1" // not its own
	for _, tt := range []struct{ url, says string }{
		{srv.URL + "/remuda?X-Amz-Signature=secret", "ec2.binarySha256 for x86_64 is " + sum},
		{srv.URL + "/none", "404 Not Found"},
	} {
		got := artifact{"program", "ec2.binarySha256", config.ArchX86, tt.url, sum}.finding(t.Context(), aws.Config{})
		if got.Verdict != finding.Failed || !strings.Contains(got.Detail, tt.says) || strings.Contains(got.Detail, "Signature") {
			t.Errorf("%s: %v, want %q", tt.url, got, tt.says)
		}
	}
	real, _, err := fetchSum(t.Context(), aws.Config{}, srv.URL+"/remuda")
	if err != nil {
		t.Fatal(err)
	}
	if got := (artifact{"program", "", config.ArchX86, srv.URL + "/remuda", strings.ToUpper(real)}).finding(t.Context(), aws.Config{}); got.Verdict != finding.OK {
		t.Errorf("with its own checksum: %v", got)
	}
}

// What is published is looked at for the architectures that classes have, as far as this shell may read it.
func TestDoctor_Bucket(t *testing.T) {
	s, cfg := testBucket(t)
	cfg.Classes = map[string]config.Class{"small": {CPU: 1, Mem: 512}}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("program")))
	program := bucket.Artifact{Key: "program/" + sum + "/remuda", SHA256: sum, Version: "1.2.3"}
	text, err := json.Marshal(bucket.Release{Schema: 1, Program: map[string]bucket.Artifact{config.ArchX86: program, config.ArchARM: artifactOf("program", "0", "remuda")}})
	if err != nil {
		t.Fatal(err)
	}
	s.Set("remuda-1", bucket.ReleaseKey, text)
	s.Set("remuda-1", program.Key, []byte("program"))
	doctor := &doctorOptions{app: newCLI(nil).app}
	says := func(want ...string) {
		t.Helper()
		var got []string
		for _, f := range doctor.published(t.Context(), cfg) {
			got = append(got, string(f.Verdict)+" "+f.Check+": "+f.Detail)
		}
		if !slices.EqualFunc(got, want, strings.Contains) {
			t.Errorf("published = %q, want %q", got, want)
		}
	}
	const has = "ok bucket: s3://remuda-1/release.json has program 1.2.3 for x86_64, program 1.2.3 for arm64"
	const runner = "skipped runner: for x86_64 it is part of the image"
	says(has, "ok program: s3://remuda-1/"+program.Key+", for x86_64: 0.0 MB, SHA-256 as configured", runner)
	s.Set("remuda-1", program.Key, []byte("other"))
	says(has, "failed program: s3://remuda-1/"+program.Key+" has SHA-256 ", runner)
	s.Allow(func(_, _, resource string) bool { return strings.HasSuffix(resource, bucket.ReleaseKey) })
	says(has, "skipped program: s3://remuda-1/"+program.Key+", for x86_64, is not there, or for machines", runner)
	s.Allow(func(_, _, _ string) bool { return false })
	says("failed bucket: s3:GetObject on bucket remuda-1/release.json")
}

func TestDoctor_BadFlags(t *testing.T) {
	for _, tt := range []struct{ flag, value, want string }{
		{"--policy", "agent", "controller, init, operator"}, {"--role", "remuda-controller", "must be the ARN of a role"}, {"--output", "yaml", "table"},
		{"--wait", "2", "must be a duration from 1s to 1h, such as"},
	} {
		c := newCLI(nil)
		if code := c.run(t.Context(), "doctor", tt.flag, tt.value); code != exitUsage || !strings.Contains(c.err.String(), tt.want) {
			t.Errorf("%s %s: code %d, %s, want %d and %q", tt.flag, tt.value, code, c.err.String(), exitUsage, tt.want)
		}
	}
}
