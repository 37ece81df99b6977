//go:build linux

package machine

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/remuda-run/remuda/e2e/host/hosttest"
	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
	"github.com/remuda-run/remuda/internal/awstest"
	installation "github.com/remuda-run/remuda/internal/bucket"
)

// stackBucket is the one that the stack makes.
const stackBucket = "host-stack"

// controllerUnit is what the host of the stack is for.
const controllerUnit = "remuda-controller.service"

// objects are what a bucket has, by key, for who signs for it.
type objects struct {
	computers *computers
	mu        sync.Mutex
	byKey     map[string][]byte
	absent    int // requests for what it has not
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, code := o.computers.allows(r)
	o.mu.Lock()
	defer o.mu.Unlock()
	object, ok := o.byKey[strings.TrimPrefix(r.URL.Path, "/"+stackBucket+"/")]
	if code == "" && !ok {
		o.absent++
		status, code = http.StatusNotFound, "NoSuchKey"
	}
	if code != "" {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
		return
	}
	_, _ = w.Write(object)
}

// publish puts a program there for this architecture, whose object has content.
func (o *objects) publish(t *testing.T, program, content []byte) {
	t.Helper()
	sum := sha256.Sum256(program)
	is := installation.Artifact{Key: fmt.Sprintf("program/%x/remuda", sum), SHA256: hex.EncodeToString(sum[:]), Version: "0.0.1"}
	arch := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	text, err := json.Marshal(installation.Release{Schema: 1, Program: map[string]installation.Artifact{arch: is}})
	if err != nil {
		t.Fatal(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.byKey[is.Key], o.byKey[installation.ReleaseKey] = content, text
}

// asked is how often something was asked for that is absent.
func (o *objects) asked() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.absent
}

// newHost boots the controller's host of an installation whose stack was just made: it has a configuration, and nothing in its
// bucket.
func newHost(t *testing.T) (*world, *objects, *hosttest.Machine) {
	t.Helper()
	hosttest.Require(t)
	w := &world{T: program.T{TB: t}, name: "stack-" + strings.ToLower(rand.Text()[:10]), dir: t.TempDir(), cloud: ec2test.New(t)}
	db, moto := awstest.DynamoDBLocal(t), awstest.Moto(t)
	w.endpoints = map[string]string{"dynamodb": db, "sqs": moto, "sts": moto, "ssm": moto, "ec2": w.cloud.URL, "iam": w.cloud.URL}
	role, err := iam.NewFromConfig(awstest.Config(t, moto)).CreateRole(t.Context(), &iam.CreateRoleInput{
		RoleName: &w.name, AssumeRolePolicyDocument: aws.String(`{"Version":"2012-10-17","Statement":[]}`),
	})
	w.Check(err)
	w.cloud.SetProfile(w.name, *role.Role.RoleId)
	w.github = w.start("github", nil, "dev", "github", "--silence", "30s").GitHub()
	w.configure(nil)
	w.remuda("init")
	settings, err := os.ReadFile(w.config())
	w.Check(err)
	_, err = ssm.NewFromConfig(awstest.Config(t, moto)).PutParameter(t.Context(), &ssm.PutParameterInput{
		Name: aws.String("/" + w.name + "/config"), Type: ssmtypes.ParameterTypeString, Value: aws.String(string(settings)),
	})
	w.Check(err)

	w.computers = &computers{
		sts: sts.NewFromConfig(awstest.Config(t, moto)), role: *role.Role.Arn, dir: filepath.Join(w.dir, "machines"),
		byID: map[string]*hosttest.Machine{},
	}
	o := &objects{computers: w.computers, byKey: map[string][]byte{}}
	s3 := httptest.NewServer(o)
	t.Cleanup(s3.Close)
	w.endpoints["s3"] = s3.URL
	w.computers.options = w.hostOptions()
	const id = "i-0123456789abcdef0"
	script := userdata.HostHead(w.name, awstest.Region, stackBucket) + userdata.Host()
	m, err := w.computers.start(t.Context(), ec2test.Instance{
		ID: id, Zone: awstest.Region + "a", UserData: base64.StdEncoding.EncodeToString([]byte(script)),
	})
	w.Check(err)
	t.Cleanup(func() {
		if err := m.Cut(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(m.Story())
		}
	})
	return w, o, m
}

// hostOptions are those of a Debian as the stack has it, and the way to what is outside.
func (w *world) hostOptions() hosttest.Options {
	aws := environment(w.endpoints)
	aws.Text = strings.TrimSpace(aws.Text) + " REMUDA_PAUSE=1 REMUDA_SIMULATED_TOKEN=" + w.github.Token + "\n"
	o := hosttest.Options{
		Image: hosttest.Image{Suite: "trixie"}, Reach: map[string]string{},
		Files: map[string]hosttest.File{"/etc/systemd/system.conf.d/aws.conf": aws},
	}
	for _, raw := range []string{w.endpoints["s3"], w.endpoints["ec2"], w.endpoints["dynamodb"], w.endpoints["sqs"], w.github.Root} {
		u, err := url.Parse(raw)
		w.Check(err)
		o.Reach[u.Host] = u.Host
	}
	return o
}

// The controller's host of the stack boots before anything is published: it stays, says what it waits for, installs nothing
// whose sum is wrong, and leads by the configuration of the stack once its program is there.
func TestStackHost_WaitsAndLeads(t *testing.T) {
	t.Parallel()
	w, o, m := newHost(t)
	const waits = "waits for the program: remuda init --publish puts it into " + stackBucket + ": "
	w.until("it says what it waits for", func() bool { return strings.Contains(m.Console(), waits+"S3 answers NoSuchKey") })
	before := o.asked()
	w.until("it asks again", func() bool { return o.asked() > before+1 })

	binary, err := os.ReadFile(program.Binary)
	w.Check(err)
	o.publish(t, binary, bytes.ToUpper(binary))
	wrong := waits + "the SHA-256 of the program is not " + fmt.Sprintf("%x", sha256.Sum256(binary))
	w.until("it refuses what is not the program", func() bool { return strings.Contains(m.Console(), wrong) })
	select {
	case <-m.Off():
		t.Fatal("it is off")
	default:
	}
	if out, err := m.Run(t.Context(), "test", "!", "-e", userdata.ProgramPath); err != nil {
		t.Errorf("a program with a wrong sum is installed: %s %v", out, err)
	}

	o.publish(t, binary, binary)
	w.until("it leads", func() bool { return strings.Contains(m.Journal(controllerUnit), `"msg":"leading"`) })
	w.until("the script says that it is done", func() bool {
		return regexp.MustCompile(`remuda: controller of ` + w.name + ` started, \S`).MatchString(m.Console())
	})
	out, err := m.Run(t.Context(), "systemctl", "show", "--property=MainPID,ActiveState", "--value", controllerUnit)
	w.Check(err)
	shown := strings.Fields(out)
	if len(shown) != 2 || shown[1] != "active" {
		t.Fatalf("the unit's process and state: %q, want it active", out)
	}
	user, err := m.Run(t.Context(), "stat", "--format=%U", "/proc/"+shown[0])
	w.Check(err)
	if user != "remuda\n" {
		t.Errorf("the controller runs as %q", user)
	}
	status, err := program.JSON[struct {
		Controller struct{ Leads bool }
	}](w.remuda("status", "-o", "json"), nil)
	w.Check(err)
	if !status.Controller.Leads {
		t.Error("remuda status does not know that it leads")
	}
}
