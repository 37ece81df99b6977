package awstest_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/remuda-run/remuda/internal/awstest"
)

func TestMain(m *testing.M) { awstest.Main(m) }

func TestDynamoDBLocal_Answers(t *testing.T) {
	endpoint := awstest.DynamoDBLocal(t)
	client := dynamodb.NewFromConfig(awstest.Config(t, endpoint))
	if out, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
		t.Errorf("ListTables() = %v, %v, want no error", out, err)
	}
	if again := awstest.DynamoDBLocal(t); again != endpoint {
		t.Errorf("DynamoDBLocal() = %s, then %s, want one process", endpoint, again)
	}
}

func TestElasticMQ_SendsAndReceives(t *testing.T) {
	client := sqs.NewFromConfig(awstest.Config(t, awstest.ElasticMQ(t)))
	queue, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(awstest.Name(t))})
	if err != nil {
		t.Fatalf("CreateQueue() error = %v", err)
	}
	sent, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: queue.QueueUrl, MessageBody: aws.String("hello")})
	if err != nil {
		t.Fatalf("SendMessage() error = %v", err)
	}
	got, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue.QueueUrl, WaitTimeSeconds: 10})
	if err != nil || len(got.Messages) != 1 || *got.Messages[0].MessageId != *sent.MessageId {
		t.Errorf("ReceiveMessage() = %v, %v, want the message %s", got, err, *sent.MessageId)
	}
}

// By hand, for the SDK's EC2 client takes a minute to compile.
func TestMoto_Answers(t *testing.T) {
	endpoint := awstest.Moto(t)
	tests := []struct{ service, version, action, want string }{
		{"ec2", "2016-11-15", "DescribeAvailabilityZones", "<zoneName>us-east-1a</zoneName>"},
		{"sts", "2011-06-15", "GetCallerIdentity", "<UserId>"},
		{"iam", "2010-05-08", "ListRoles", "<ListRolesResult>"},
	}
	for _, tt := range tests {
		t.Run(tt.service, func(t *testing.T) {
			form := url.Values{"Action": {tt.action}, "Version": {tt.version}}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/"+tt.service+"/aws4_request, SignedHeaders=host, Signature=0")
			resp, err := awstest.Config(t, endpoint).HTTPClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), tt.want) {
				t.Errorf("%s = %s, %v\n%s\nwant %s", tt.action, resp.Status, err, body, tt.want)
			}
		})
	}
}

func TestName_IsUniqueAndValid(t *testing.T) {
	t.Run("with spaces/and a very long name that goes on and on", func(t *testing.T) {
		first, second := awstest.Name(t), awstest.Name(t)
		if first == second || len(first) > 40 || strings.ContainsFunc(first, func(r rune) bool {
			return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) {
			t.Errorf("Name() = %q, then %q, want two names of at most 40 letters, digits and -", first, second)
		}
	})
}
