package faults_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/faults"
)

var instanceID = regexp.MustCompile(`<instanceId>(i-[0-9a-f]+)</instanceId>`)

// ids returns the instances of an answer.
func ids(answer string) []string {
	var out []string
	for _, m := range instanceID.FindAllStringSubmatch(answer, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out
}

func launch(t *testing.T, tr *faults.Transport, endpoint, count string) []string {
	t.Helper()
	args := map[string]string{"ImageId": "ami-12c6146b", "MinCount": count, "MaxCount": count}
	answer := do(t, tr, endpoint, "ec2.RunInstances", args)
	got := ids(answer)
	if len(got) == 0 {
		t.Fatalf("RunInstances = %s, want instances", answer)
	}
	return got
}

func TestEC2_NewInstancesAreMissingForAWhile(t *testing.T) {
	endpoint := awstest.Moto(t)
	tr := through(t, faults.Faults{HiddenCalls: 2, Rules: []faults.Rule{{Op: "ec2.DescribeInstances", Kind: faults.Invisible, Rate: 1, Limit: 4}}})
	tr.Enable(false)
	old := launch(t, tr, endpoint, "2")
	tr.Enable(true)
	fresh := launch(t, tr, endpoint, "2")
	for call := range 3 {
		answer := do(t, tr, endpoint, "ec2.DescribeInstances", nil)
		got := ids(answer)
		for _, id := range old {
			if !slices.Contains(got, id) {
				t.Errorf("call %d: %s, an old instance, is missing", call, id)
			}
		}
		for _, id := range fresh {
			if shown := slices.Contains(got, id); shown != (call == 2) {
				t.Errorf("call %d: %s, a new instance, is shown: %t, want %t", call, id, shown, call == 2)
			}
		}
	}
	tr.MustFire(t)
	if n := tr.Fired()[faults.Hit{Op: "ec2.DescribeInstances", Kind: faults.Invisible}]; n != 4 {
		t.Errorf("Fired() = %d, want 2 instances in 2 answers", n)
	}
}

func TestEC2_NamedNewInstanceIsNotFound(t *testing.T) {
	endpoint := awstest.Moto(t)
	tr := through(t, faults.Faults{HiddenCalls: 1, Rules: []faults.Rule{{Op: "ec2.DescribeInstances", Kind: faults.Invisible, Rate: 1}}})
	id := launch(t, tr, endpoint, "1")[0]
	args := map[string]string{"InstanceId.1": id}
	tr.Enable(false)
	if got := ids(do(t, tr, endpoint, "ec2.DescribeInstances", args)); !slices.Equal(got, []string{id}) {
		t.Errorf("DescribeInstances(%s) without faults = %v, want it", id, got)
	}
	tr.Enable(true)
	if got := do(t, tr, endpoint, "ec2.DescribeInstances", args); !strings.HasPrefix(got, "400 ") || !strings.Contains(got, "<Code>InvalidInstanceID.NotFound</Code>") {
		t.Errorf("DescribeInstances(%s) = %s, want InvalidInstanceID.NotFound", id, got)
	}
	if got := ids(do(t, tr, endpoint, "ec2.DescribeInstances", args)); !slices.Equal(got, []string{id}) {
		t.Errorf("second DescribeInstances(%s) = %v, want it", id, got)
	}
}

func TestEC2_InstancesOfAFleetToo(t *testing.T) {
	up := newUpstream(t, `<CreateFleetResponse><fleetInstanceSet><item><instanceIds><item>i-0a</item></instanceIds></item></fleetInstanceSet></CreateFleetResponse>`)
	tr := through(t, faults.Faults{Rules: []faults.Rule{{Op: "ec2.DescribeInstances", Kind: faults.Invisible, Rate: 1}}})
	do(t, tr, up.URL, "ec2.CreateFleet", nil)
	up.mu.Lock()
	up.reply = `<DescribeInstancesResponse><reservationSet>` +
		`<item><reservationId>r-1</reservationId><instancesSet><item><instanceId>i-0a</instanceId></item><item><instanceId>i-0b</instanceId></item></instancesSet></item>` +
		`<item><instancesSet><item><x><instanceId>i-0a</instanceId></x><instanceId>i-0c</instanceId></item></instancesSet></item>` +
		`</reservationSet></DescribeInstancesResponse>`
	up.mu.Unlock()
	want := strings.Replace("200 "+up.reply, "<item><instanceId>i-0a</instanceId></item>", "", 1)
	if got := do(t, tr, up.URL, "ec2.DescribeInstances", nil); got != want {
		t.Errorf("DescribeInstances = %s, want %s", got, want)
	}
}

func TestEC2_ErrorsInItsProtocol(t *testing.T) {
	up := newUpstream(t, "")
	for kind, want := range map[faults.Kind]string{faults.Throttle: "503 RequestLimitExceeded", faults.ErrorBefore: "500 InternalError", faults.Deny: "403 UnauthorizedOperation"} {
		tr := through(t, faults.Faults{Rules: []faults.Rule{{Op: "ec2.*", Kind: kind, Rate: 1}}})
		status, code, _ := strings.Cut(want, " ")
		got := do(t, tr, up.URL, "ec2.RunInstances", nil)
		if !strings.HasPrefix(got, status) || !strings.Contains(got, "<Response><Errors><Error><Code>"+code+"</Code><Message>") {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
