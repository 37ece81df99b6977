package aws

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"go.yaml.in/yaml/v3"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/e2e/aws/hypervisor"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/witness"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3test"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

// world is an AWS account with an installation of remuda and its machines, and a witness of both.
type world struct {
	program.T
	name       string // of the installation, its table and its queues
	dir        string
	dynamo     string // endpoint without anything in between
	moto       string // the same, of SQS and STS
	cloud      *ec2test.Server
	ec2        string      // its endpoint
	role       *types.Role // of the machines, as STS knows it
	roleID     string      // set in the configuration; "": IAM is asked
	env        []string    // more settings of the operator's
	parts      parts
	github     program.GitHub
	binaryURL  string         // of the program
	s3         *s3test.Server // where that is in a bucket
	devConfig  string         // configuration of `remuda dev`; "": the installation's
	controller *program.Daemon
	action     string // folder of the action that workflows use; "": this version's
	machines   *hypervisor.Hypervisor
	witness    *witness.Witness
}

// endpoints are where a part of an installation finds AWS, by service.
type endpoints map[string]string

// parts are the endpoints of each part.
type parts struct{ controller, client, machine endpoints }

const (
	// witnessGrace is how long an instance may outlive its threshold here: the agent's grace, a poll, and
	// the time that a kill takes on a busy machine.
	witnessGrace = 30 * time.Second
	// patience is how long one thing may take on a busy machine.
	patience = 3 * time.Minute
)

// newWorld makes what an operator has before the first `remuda init`: network, image, role, GitHub, a
// configuration file. wire may put something between the parts and AWS.
func newWorld(t testing.TB, wire func(*world)) *world {
	t.Helper()
	program.Long(t, "runs machines on three AWS services")
	w := &world{T: program.T{TB: t}, name: "e2e-" + strings.ToLower(rand.Text()[:10]), dir: t.TempDir(), dynamo: awstest.DynamoDBLocal(t), moto: awstest.Moto(t)}
	w.cloud = ec2test.New(t)
	w.ec2 = w.cloud.URL
	made, err := iam.NewFromConfig(awstest.Config(t, w.moto)).CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: &w.name, AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[]}`),
	})
	w.Check(err)
	w.role = made.Role
	w.cloud.SetProfile(w.name, *w.role.RoleId)
	all := func() endpoints {
		return endpoints{"dynamodb": w.dynamo, "sqs": w.moto, "ec2": w.ec2, "iam": w.ec2, "sts": w.moto}
	}
	w.parts = parts{all(), all(), all()}
	w.binaryURL = web.URL + "/remuda"
	if wire != nil {
		wire(w)
	}
	t.Cleanup(w.tails)
	w.github = w.start("github", nil, "dev", "github", "--silence", "30s").GitHub() // which gives a dead runner's job up soon
	w.Check(os.WriteFile(w.config(), w.settings(), 0o600))
	return w
}

func (w *world) config() string { return filepath.Join(w.dir, "remuda.yaml") }

// settings is the configuration file: what an operator writes, and short limits.
func (w *world) settings() []byte { return w.settingsFor("testdata", w.binaryURL, binarySum) }

// settingsFor is settings with the limits in a folder, for machines that fetch a program.
func (w *world) settingsFor(folder, program, sum string) []byte {
	w.Helper()
	limits, err := os.ReadFile(filepath.Join(folder, "remuda.yaml"))
	w.Check(err)
	own, err := yaml.Marshal(map[string]any{
		"name": w.name, "store": "dynamodb://" + w.name + "?region=" + awstest.Region,
		"pool": "sqs://" + w.name + "?region=" + awstest.Region, "fleet": "ec2://" + w.name + "?region=" + awstest.Region,
		"ec2": map[string]any{
			"subnets": w.cloud.Subnets(), "securityGroups": []string{ec2test.Group}, "ami": ec2test.AMI,
			"instanceProfile": w.name, "roleId": w.roleID, "binaryUrl": program, "binarySha256": sum,
		},
	})
	w.Check(err)
	return bytes.Join([][]byte{limits, own, []byte(w.github.Settings)}, []byte("\n"))
}

// start runs remuda in the background.
func (w *world) start(name string, env []string, args ...string) *program.Daemon {
	w.Helper()
	return program.Start(w, program.Command{Name: name, Args: args, Dir: w.dir, Env: env, Patience: patience})
}

// environ is the environment of a process of the operator's or of a workflow.
func (w *world) environ(e endpoints) []string {
	return append(awstest.Env(e), "PATH="+os.Getenv("PATH"), "HOME="+w.dir, "REMUDA_CONFIG="+w.config(), "REMUDA_SIMULATED_TOKEN="+w.github.Token)
}

// Remuda runs one command line of a client.
func (w *world) Remuda(ctx context.Context, args ...string) ([]byte, error) {
	return w.run(ctx, w.parts.client, args...)
}

func (w *world) run(ctx context.Context, e endpoints, args ...string) ([]byte, error) {
	env := append(w.environ(e), w.env...)
	if args[0] == "dev" && w.devConfig != "" {
		env = append(env, "REMUDA_CONFIG="+w.devConfig)
	}
	return program.Run(ctx, w.dir, env, args...)
}

// init runs `remuda init` as the operator of the controller and returns the actions, one per resource.
func (w *world) init(args ...string) string {
	w.Helper()
	out, err := w.run(w.Context(), w.parts.controller, append([]string{"init"}, args...)...)
	w.Check(err)
	return string(out)
}

// initTries is how often an operator repeats `remuda init` before giving up. Two faults of each of two
// kinds of call that are not repeated by themselves make four.
const initTries = 5

// install runs `remuda init` until it succeeds, as its error asks for.
func (w *world) install() {
	w.Helper()
	for try := 1; ; try++ {
		_, err := w.run(w.Context(), w.parts.controller, "init")
		if err == nil {
			return
		}
		w.Logf("try %d: %v", try, err)
		if try == initTries {
			w.Fatal("remuda init does not succeed")
		}
	}
}

// begin switches everything on: machines can run, a controller serves, the witness looks.
func (w *world) begin() {
	w.Helper()
	w.host()
	w.watch()
	w.controller = w.start("controller", append(w.environ(w.parts.controller), w.env...), "controller")
}

// host runs machines until the test ends.
func (w *world) host() {
	w.Helper()
	env := []string{"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull}
	for _, service := range []string{"dynamodb", "sqs", "sts", "s3"} {
		if endpoint, ok := w.parts.machine[service]; ok {
			env = append(env, "AWS_ENDPOINT_URL_"+strings.ToUpper(service)+"="+endpoint)
		}
	}
	file, err := os.Create(filepath.Join(w.dir, "hypervisor.log"))
	w.Check(err)
	var admit func(aws.Credentials, string)
	if w.s3 != nil {
		admit = w.s3.Admit
	}
	w.machines = hypervisor.New(hypervisor.Options{
		Admit: admit,
		Dir:   filepath.Join(w.dir, "machines"), Env: env, Poll: 200 * time.Millisecond,
		EC2: w.cloud, STS: sts.NewFromConfig(awstest.Config(w, w.moto)),
		Role: *w.role.Arn, Log: log.New(file, "", log.Lmicroseconds),
	})
	w.beside(func(ctx context.Context) error { return errors.Join(w.machines.Run(ctx), file.Close()) })
}

// watch opens the store beside the controller.
func (w *world) watch() {
	w.Helper()
	table, err := dynamostore.Open(w.Context(), &url.URL{Scheme: "dynamodb", Host: w.name},
		awstest.Config(w, w.dynamo), clock.RealClock{}, slog.New(slog.DiscardHandler))
	w.Check(err)
	w.witness = witness.Start(w, table, witnessGrace, 300*time.Millisecond)
}

// db speaks to DynamoDB itself.
func (w *world) db() *dynamodb.Client { return dynamodb.NewFromConfig(awstest.Config(w, w.dynamo)) }

// scan reads the whole table.
func (w *world) scan() (items []map[string]dbtypes.AttributeValue) {
	w.Helper()
	for pages := dynamodb.NewScanPaginator(w.db(), &dynamodb.ScanInput{TableName: &w.name}); pages.HasMorePages(); {
		page, err := pages.NextPage(w.Context())
		w.Check(err)
		items = append(items, page.Items...)
	}
	return items
}

// beside runs f until the test ends.
func (w *world) beside(f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	w.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.Error(err)
		}
	})
}

// Crash kills the agent of a machine for good.
func (w *world) Crash(id store.InstanceID) error { return w.machines.Crash(string(id)) }

// Ended returns why the controller ended.
func (w *world) Ended() error {
	if state := w.controller.State(); state != nil {
		return fmt.Errorf("%s", state)
	}
	return nil
}

// tails shows what the machines of a failed test said last, and keeps everything where that is wanted.
func (w *world) tails() {
	if !w.Failed() {
		return
	}
	logs, err := filepath.Glob(filepath.Join(w.dir, "machines", "*", "root", "*.log"))
	w.Check(err)
	for _, log := range append(logs, filepath.Join(w.dir, "hypervisor.log")) {
		text, err := os.ReadFile(log)
		if err != nil {
			text = []byte(err.Error())
		}
		rel, err := filepath.Rel(w.dir, log)
		w.Check(err)
		w.Log(program.Tail(rel, text))
	}
	if keep := os.Getenv("REMUDA_E2E_KEEP"); keep != "" {
		w.Check(os.CopyFS(filepath.Join(keep, w.name), os.DirFS(w.dir)))
	}
}
