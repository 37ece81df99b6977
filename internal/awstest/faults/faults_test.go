package faults_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	logstypes "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/internal/awstest/faults"
	"github.com/remuda-run/remuda/internal/bubbletest"
)

func TestNew_RefusesBadRules(t *testing.T) {
	tests := []struct {
		name string
		f    faults.Faults
		want string
	}{
		{"Kind", faults.Faults{Rules: []faults.Rule{{Op: "*", Kind: "bad day", Rate: 1}}}, `Kind "bad day"`},
		{"NoOp", faults.Faults{Rules: []faults.Rule{{Kind: faults.Throttle, Rate: 1}}}, `Op ""`},
		{"Pattern", faults.Faults{Rules: []faults.Rule{{Op: "[", Kind: faults.Throttle, Rate: 1}}}, `Op "["`},
		{"OtherOp", faults.Faults{Rules: []faults.Rule{{Op: "sqs.SendMessage", Kind: faults.Duplicate, Rate: 1}}}, "want sqs.ReceiveMessage"},
		{"RateZero", faults.Faults{Rules: []faults.Rule{{Op: "*", Kind: faults.Throttle}}}, "Rate 0"},
		{"RateAboveOne", faults.Faults{Rules: []faults.Rule{{Op: "*", Kind: faults.Throttle, Rate: 1.01}}}, "Rate 1.01"},
		{"Limit", faults.Faults{Rules: []faults.Rule{{Op: "*", Kind: faults.Throttle, Rate: 1, Limit: -1}}}, "Limit -1"},
		{"Stall", faults.Faults{Stall: -1}, "Stall -1ns"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := faults.New(http.DefaultTransport, tt.f); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New() error = %v, want %q", err, tt.want)
			}
		})
	}
}

// What reaches the service, what the client gets and what is reported, for each kind.
func TestTransport_EachKind(t *testing.T) {
	tests := []struct {
		kind    faults.Kind
		applied int
		want    string
	}{
		{faults.LostReply, 1, "error: read tcp: read: connection reset by peer"},
		{faults.ErrorAfter, 1, `500 {"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"`},
		{faults.ErrorBefore, 0, `500 {"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError"`},
		{faults.Throttle, 0, `400 {"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"`},
		{faults.Deny, 0, `400 {"__type":"com.amazonaws.dynamodb.v20120810#AccessDeniedException"`},
		{faults.CutBody, 1, "error: unexpected EOF"},
		{faults.CorruptBody, 1, "200 {\x00"},
		{faults.TimeoutAfter, 1, "error: read tcp: i/o timeout"},
		{faults.TimeoutBefore, 0, "error: read tcp: i/o timeout"},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			up := newUpstream(t, "{}")
			tr := through(t, faults.Faults{Rules: []faults.Rule{{Op: "dynamodb.Put*", Kind: tt.kind, Rate: 1, Limit: 1}}})
			if got := do(t, tr, up.URL, "dynamodb.GetItem", nil); got != "200 {}" {
				t.Errorf("GetItem, which no rule is about = %s, want 200 {}", got)
			}
			if got := do(t, tr, up.URL, "dynamodb.PutItem", nil); !strings.HasPrefix(got, tt.want) {
				t.Errorf("PutItem = %s, want %s", got, tt.want)
			}
			if n := up.served(); n != 1+tt.applied {
				t.Errorf("the service got %d calls, want %d", n, 1+tt.applied)
			}
			if got := do(t, tr, up.URL, "dynamodb.PutItem", nil); got != "200 {}" {
				t.Errorf("PutItem beyond the limit = %s, want 200 {}", got)
			}
			if diff := cmp.Diff(map[faults.Hit]int{{Op: "dynamodb.PutItem", Kind: tt.kind}: 1}, tr.Fired()); diff != "" {
				t.Errorf("Fired() (-want +got):\n%s", diff)
			}
			tr.MustFire(t)
		})
	}
}

// A fault after the effect needs an effect.
func TestTransport_PassesOnWhatTheServiceRefused(t *testing.T) {
	up := newUpstream(t, `{"__type":"x#ConditionalCheckFailedException"}`)
	up.code = http.StatusBadRequest
	tr := through(t, faults.Faults{Rules: []faults.Rule{{Op: "*", Kind: faults.LostReply, Rate: 1}}})
	if got := do(t, tr, up.URL, "dynamodb.PutItem", nil); !strings.HasPrefix(got, "400 ") {
		t.Errorf("PutItem = %s, want the service's error", got)
	}
	if got := tr.Fired(); len(got) != 0 {
		t.Errorf("Fired() = %v, want nothing", got)
	}
}

// The errors are those that the SDK knows, in each protocol. (EC2's: see TestEC2.)
func TestTransport_SpeaksTheProtocols(t *testing.T) {
	up := newUpstream(t, "{}")
	client := func(kind faults.Kind) (*dynamodb.Client, *sqs.Client, *sts.Client) {
		cfg := config(t, up.URL, through(t, faults.Faults{Rules: []faults.Rule{{Op: "*", Kind: kind, Rate: 1}}}))
		return dynamodb.NewFromConfig(cfg), sqs.NewFromConfig(cfg), sts.NewFromConfig(cfg)
	}
	for kind, codes := range map[faults.Kind][3]string{
		faults.Throttle:    {"ProvisionedThroughputExceededException", "ThrottlingException", "Throttling"},
		faults.ErrorBefore: {"InternalServerError", "InternalFailure", "InternalFailure"},
		faults.Deny:        {"AccessDeniedException", "AccessDeniedException", "AccessDenied"},
	} {
		ddb, queue, identity := client(kind)
		var errs [3]error
		_, errs[0] = ddb.ListTables(t.Context(), nil)
		_, errs[1] = queue.ListQueues(t.Context(), nil)
		_, errs[2] = identity.GetCallerIdentity(t.Context(), nil)
		for i, err := range errs {
			var api smithy.APIError
			if !errors.As(err, &api) || api.ErrorCode() != codes[i] || api.ErrorMessage() == "" {
				t.Errorf("%s: error = %v, want code %s with a message", kind, err, codes[i])
			}
		}
		if typed := (*ddbtypes.ProvisionedThroughputExceededException)(nil); kind == faults.Throttle && !errors.As(errs[0], &typed) {
			t.Errorf("%s: error = %v, want the SDK's type", kind, errs[0])
		}
	}
}

// So they are in the services that the controller reads configuration, credentials, programs and roles from.
func TestTransport_SpeaksOfTheOtherServices(t *testing.T) {
	up := newUpstream(t, "{}")
	for kind, codes := range map[faults.Kind][5]string{
		faults.Throttle:    {"ThrottlingException", "ThrottlingException", "ThrottlingException", "SlowDown", "Throttling"},
		faults.ErrorBefore: {"InternalServerError", "InternalServiceError", "ServiceUnavailableException", "InternalError", "ServiceFailure"},
		faults.Deny:        {"AccessDeniedException", "AccessDeniedException", "AccessDeniedException", "AccessDenied", "AccessDenied"},
	} {
		tr := through(t, faults.Faults{Rules: []faults.Rule{
			{Op: "ssm.GetParameter", Kind: kind, Rate: 1}, {Op: "secretsmanager.GetSecretValue", Kind: kind, Rate: 1}, {Op: "logs.PutLogEvents", Kind: kind, Rate: 1},
			{Op: "s3.GetObject", Kind: kind, Rate: 1}, {Op: "iam.GetRole", Kind: kind, Rate: 1},
		}})
		cfg, text := config(t, up.URL, tr), aws.String("x")
		var errs [5]error
		_, errs[0] = ssm.NewFromConfig(cfg).GetParameter(t.Context(), &ssm.GetParameterInput{Name: text})
		_, errs[1] = secretsmanager.NewFromConfig(cfg).GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: text})
		_, errs[2] = cloudwatchlogs.NewFromConfig(cfg).PutLogEvents(t.Context(), &cloudwatchlogs.PutLogEventsInput{
			LogGroupName: text, LogStreamName: text, LogEvents: []logstypes.InputLogEvent{{Message: text, Timestamp: aws.Int64(1)}},
		})
		_, errs[3] = s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true }).GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("bucket"), Key: text})
		_, errs[4] = iam.NewFromConfig(cfg).GetRole(t.Context(), &iam.GetRoleInput{RoleName: text})
		for i, err := range errs {
			var api smithy.APIError
			if !errors.As(err, &api) || api.ErrorCode() != codes[i] || api.ErrorMessage() == "" {
				t.Errorf("%s: error = %v, want code %s with a message", kind, err, codes[i])
			}
		}
		tr.MustFire(t)
	}
}

func TestTransport_TimeoutLastsAsLongAsTheClientOrStall(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		tr, err := faults.New(http.DefaultTransport, faults.Faults{
			Stall: time.Minute, Rules: []faults.Rule{{Op: "*", Kind: faults.TimeoutBefore, Rate: 1}},
		})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if resp, err := tr.RoundTrip(request(ctx, "http://nowhere.test", "sqs.SendMessage", nil)); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 5*time.Second {
			t.Errorf("RoundTrip() = %v, %v after %s, want the deadline after 5s", resp, err, time.Since(begin))
		}
		begin = time.Now()
		resp, err := tr.RoundTrip(request(t.Context(), "http://nowhere.test", "sqs.SendMessage", nil))
		if netErr := net.Error(nil); !errors.As(err, &netErr) || !netErr.Timeout() || time.Since(begin) != time.Minute {
			t.Errorf("RoundTrip() = %v, %v after %s, want a timeout after 1m", resp, err, time.Since(begin))
		}
	})
}

// run returns which of 300 calls of PutItem are struck; other calls may come between.
func run(t *testing.T, seed uint64, between bool) []bool {
	t.Helper()
	up := newUpstream(t, "{}")
	tr := through(t, faults.Faults{Seed: seed, Rules: []faults.Rule{{Op: "dynamodb.*", Kind: faults.ErrorBefore, Rate: 0.3}}})
	var out []bool
	for i := range 300 {
		if between && i%3 == 0 {
			do(t, tr, up.URL, "dynamodb.GetItem", nil)
		}
		out = append(out, !strings.HasPrefix(do(t, tr, up.URL, "dynamodb.PutItem", nil), "200"))
	}
	return out
}

func TestTransport_IsDeterministicBySeed(t *testing.T) {
	first := run(t, 7, false)
	if diff := cmp.Diff(first, run(t, 7, true)); diff != "" {
		t.Errorf("same seed, with other calls between: struck calls (-first +second):\n%s", diff)
	}
	if cmp.Equal(first, run(t, 8, false)) {
		t.Error("seeds 7 and 8 strike the same calls")
	}
	struck := 0
	for _, s := range first {
		if s {
			struck++
		}
	}
	if struck < 60 || struck > 120 { // 90 ± 3.8 standard deviations of 7.9
		t.Errorf("%d of 300 calls struck at rate 0.3, want about 90", struck)
	}
}

// failures takes the place of a test.
type failures struct {
	testing.TB
	text string
}

func (f *failures) Helper()                           {}
func (f *failures) Errorf(format string, args ...any) { f.text += format }

func TestMustFire_FailsIfARuleNeverStruck(t *testing.T) {
	up := newUpstream(t, "{}")
	tr := through(t, faults.Faults{Rules: []faults.Rule{{Op: "*", Kind: faults.Throttle, Rate: 1}}})
	tr.Enable(false)
	if got := do(t, tr, up.URL, "sqs.SendMessage", nil); got != "200 {}" {
		t.Errorf("SendMessage without faults = %s, want 200 {}", got)
	}
	var f failures
	if tr.MustFire(&f); f.text == "" {
		t.Error("MustFire() passed a test without a fault")
	}
	tr.Enable(true)
	do(t, tr, up.URL, "sqs.SendMessage", nil)
	tr.MustFire(t)
}
