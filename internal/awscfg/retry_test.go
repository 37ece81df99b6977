package awscfg

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/remuda-run/remuda/internal/awstest/faults"
)

// The client repeats a call of any service if its reply was cut or partly overwritten. The status was 200, so the SDK alone does not
// repeat the call.
func TestLoad_DamagedRepliesAreReadAgain_Review_F3(t *testing.T) {
	const object = "the text of an object"
	canned := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reply := object
		switch target := r.Header.Get("X-Amz-Target"); {
		case strings.HasSuffix(target, "GetParameter"):
			reply = `{"Parameter":{"Name":"/remuda/config","Value":"{name: remuda}"}}`
		case strings.HasSuffix(target, "GetSecretValue"):
			reply = `{"Name":"remuda/github","SecretString":"hush"}`
		case strings.HasSuffix(target, "DescribeLogStreams"):
			reply = `{"logStreams":[{"logStreamName":"a"}]}`
		case strings.HasSuffix(target, "GetQueueUrl"):
			reply = `{"QueueUrl":"http://localhost/1/remuda"}`
		case strings.Contains(string(body), "Action=GetCallerIdentity"):
			reply = `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::1:user/a</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`
		case strings.Contains(string(body), "Action=GetRole"):
			reply = `<GetRoleResponse><GetRoleResult><Role><RoleName>a</RoleName></Role></GetRoleResult></GetRoleResponse>`
		case strings.Contains(string(body), "Action=DescribeInstances"):
			reply = `<DescribeInstancesResponse><reservationSet><item><reservationId>r</reservationId></item></reservationSet></DescribeInstancesResponse>`
		case r.URL.Query().Get("list-type") != "":
			reply = `<ListBucketResult><Name>b</Name><Contents><Key>release.json</Key></Contents></ListBucketResult>`
		}
		_, _ = io.WriteString(w, reply)
	})
	ask := map[string]func(context.Context, aws.Config) error{
		"ssm.GetParameter": func(ctx context.Context, cfg aws.Config) error {
			out, err := ssm.NewFromConfig(cfg).GetParameter(ctx, &ssm.GetParameterInput{Name: aws.String("/remuda/config")})
			return want(err, func() bool { return aws.ToString(out.Parameter.Value) == "{name: remuda}" })
		},
		"secretsmanager.GetSecretValue": func(ctx context.Context, cfg aws.Config) error {
			out, err := secretsmanager.NewFromConfig(cfg).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String("s")})
			return want(err, func() bool { return aws.ToString(out.SecretString) == "hush" })
		},
		"logs.DescribeLogStreams": func(ctx context.Context, cfg aws.Config) error {
			out, err := cloudwatchlogs.NewFromConfig(cfg).DescribeLogStreams(ctx, &cloudwatchlogs.DescribeLogStreamsInput{LogGroupName: aws.String("g")})
			return want(err, func() bool { return len(out.LogStreams) == 1 })
		},
		"sqs.GetQueueUrl": func(ctx context.Context, cfg aws.Config) error {
			out, err := sqs.NewFromConfig(cfg).GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("remuda")})
			return want(err, func() bool { return strings.HasSuffix(aws.ToString(out.QueueUrl), "remuda") })
		},
		"sts.GetCallerIdentity": func(ctx context.Context, cfg aws.Config) error {
			out, err := sts.NewFromConfig(cfg).GetCallerIdentity(ctx, nil)
			return want(err, func() bool { return strings.HasSuffix(aws.ToString(out.Arn), "user/a") })
		},
		"iam.GetRole": func(ctx context.Context, cfg aws.Config) error {
			out, err := iam.NewFromConfig(cfg).GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("a")})
			return want(err, func() bool { return aws.ToString(out.Role.RoleName) == "a" })
		},
		"ec2.DescribeInstances": func(ctx context.Context, cfg aws.Config) error {
			out, err := ec2.NewFromConfig(cfg).DescribeInstances(ctx, nil)
			return want(err, func() bool { return len(out.Reservations) == 1 })
		},
		"s3.ListObjectsV2": func(ctx context.Context, cfg aws.Config) error {
			out, err := pathStyle(cfg).ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String("b")})
			return want(err, func() bool { return len(out.Contents) == 1 })
		},
		"s3.GetObject": func(ctx context.Context, cfg aws.Config) error {
			out, err := pathStyle(cfg).GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("release.json")})
			if err != nil {
				return err
			}
			defer out.Body.Close()
			text, err := io.ReadAll(out.Body)
			return want(err, func() bool { return string(text) == object })
		},
	}
	for _, kind := range []faults.Kind{faults.CutBody, faults.CorruptBody, faults.LostReply} {
		for op, call := range ask {
			if kind == faults.CorruptBody && op == "s3.GetObject" {
				continue // the bytes of an object have no form; its reader checks them (internal/bucket)
			}
			t.Run(string(kind)+" "+op, func(t *testing.T) {
				upstream := httptest.NewServer(canned)
				t.Cleanup(upstream.Close)
				endpoint, tr := faults.Proxy(t, upstream.URL, faults.Faults{Rules: []faults.Rule{{Op: op, Kind: kind, Rate: 1, Limit: 1}}})
				bare(t, keys(map[string]string{"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": endpoint}))
				cfg, err := Load(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				if err := call(t.Context(), cfg); err != nil {
					t.Errorf("%s error = %v, want the second reply", op, err)
				}
				tr.MustFire(t)
			})
		}
	}
}

func pathStyle(cfg aws.Config) *s3.Client {
	return s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
}

// want turns an answer that is not as sent into an error.
func want(err error, holds func() bool) error {
	if err == nil && !holds() {
		return io.ErrNoProgress
	}
	return err
}

// An error of the service is not a damaged reply, whether or not it has a body. It is not repeated for that reason.
func TestDamaged_ErrorsOfTheServiceAreNone(t *testing.T) {
	for name, reply := range map[string]string{"JSON": `{"__type":"ParameterNotFound"}`, "HTML": "<html>nothing</html>"} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				calls++
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, reply)
			}))
			t.Cleanup(srv.Close)
			bare(t, keys(map[string]string{"AWS_REGION": "eu-west-1", "AWS_ENDPOINT_URL": srv.URL}))
			cfg, err := Load(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ssm.NewFromConfig(cfg).GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("/x")}); err == nil || calls != 1 {
				t.Errorf("GetParameter() error = %v after %d calls, want the error of the first", err, calls)
			}
		})
	}
}
