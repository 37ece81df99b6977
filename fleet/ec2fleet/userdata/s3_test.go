package userdata_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
	"github.com/remuda-run/remuda/internal/awstest/s3sig"
)

const (
	region = "eu-west-1"
	object = "bucket-1/program/a_b.c~d/remuda"
)

// s3 is a bucket with one object, which recomputes the signature of each request.
type s3 struct {
	mu      sync.Mutex
	creds   aws.Credentials
	content string
	more    map[string]string // beside it, by bucket and key
	now     time.Time         // its clock; zero: the true one
	code    string            // refuses every request so, with status
	status  int
}

// set changes it.
func (s *s3) set(does func(*s3)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	does(s)
}

func (s *s3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(status int, code string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>…</Message></Error>", code)
	}
	now := s.now
	if now.IsZero() {
		now = time.Now()
	}
	switch status, code := s3sig.Refusal(r, s3sig.Nothing, s.creds, region, now); {
	case s.code != "":
		refuse(s.status, s.code)
	case code != "":
		refuse(status, code)
	case s.more[r.URL.Path[1:]] != "":
		_, _ = w.Write([]byte(s.more[r.URL.Path[1:]]))
	case r.URL.Path != "/"+object:
		refuse(http.StatusNotFound, "NoSuchKey")
	default:
		_, _ = w.Write([]byte(s.content))
	}
}

// credentials are as STS makes them: the token is long, and both have characters that base64 has.
func credentials() aws.Credentials {
	b := make([]byte, 900)
	_, _ = rand.Read(b)
	text := base64.StdEncoding.EncodeToString(b)
	return aws.Credentials{AccessKeyID: "ASIA" + rand.Text()[:16], SecretAccessKey: text[:40], SessionToken: text[40:]}
}

const roles = "iam/security-credentials/"

// cloud puts c into reach of a metadata service and of S3, where the object is the program.
func (c *computer) cloud() (*s3, *agenttest.Metadata) {
	c.t.Helper()
	bucket := &s3{creds: credentials(), content: program}
	text, err := json.MarshalIndent(map[string]any{
		"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": bucket.creds.AccessKeyID, "SecretAccessKey": bucket.creds.SecretAccessKey,
		"Token": bucket.creds.SessionToken, "Expiration": "2038-01-01T00:00:00Z",
	}, "", "  ")
	if err != nil {
		c.t.Fatal(err)
	}
	meta := agenttest.MetadataOf(map[string]string{"meta-data/" + roles: "remuda-agent", "meta-data/" + roles + "remuda-agent": string(text)})
	for name, handler := range map[string]http.Handler{"AWS_ENDPOINT_URL_S3": bucket, "AWS_EC2_METADATA_SERVICE_ENDPOINT": meta} {
		s := httptest.NewServer(handler)
		c.t.Cleanup(s.Close)
		c.env = append(c.env, name+"="+s.URL)
	}
	return bucket, meta
}

// lib begins a script with the functions that the machine has.
func (c *computer) lib() string {
	return `. "$REMUDA_ROOT` + userdata.LibPath + `"; region=` + region + "\n"
}

// H50: the program comes out of a bucket with the credentials of the machine's role, in requests whose signature S3
// recomputes. No secret is in the arguments of any program, which all users see, nor on the console.
func TestRun_S3_H50(t *testing.T) {
	c := newComputer(t)
	bucket, _ := c.cloud()
	for _, tool := range []string{"curl", "sha256sum", "od", "tr", "sed", "date", "head"} {
		where, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		c.standIn(tool, "exec "+where+" \"$@\"\n")
	}
	if status := c.boot(render(t, data("s3://"+object))); status != 0 || c.has("started") == "" {
		t.Fatalf("status = %d, console %q", status, c.has("dev/console"))
	}
	if got := strings.Count("\n"+c.calls(), "\ncurl "); got != 5 { // for the role's name and its credentials twice each, and the object
		t.Errorf("curl was called %d times, want 5: %s", got, c.calls())
	}
	for _, secret := range []string{bucket.creds.SecretAccessKey, bucket.creds.SessionToken, fmt.Sprintf("%x", bucket.creds.SecretAccessKey)} {
		for where, text := range map[string]string{"arguments": c.calls(), "console": c.has("dev/console"), "output": c.out} {
			if strings.Contains(text, secret) {
				t.Errorf("the %s show a secret", where)
			}
		}
	}
}

// Signatures hold for any credentials, key and region.
func TestSigned_AnyCredentials(t *testing.T) {
	c := newComputer(t)
	if status := c.boot(render(t, data(serve(t, program, 0).URL))); status != 0 {
		t.Fatal("no machine")
	}
	for i := range 8 {
		c.env = nil
		bucket, _ := c.cloud()
		script := c.lib() + `get s3://` + object + ` "$REMUDA_ROOT/got" || echo "$why"; cat "$REMUDA_ROOT/got"`
		want := fmt.Sprintf("content %d", i)
		bucket.set(func(b *s3) { b.content = want })
		if c.run("bash", "-c", script); c.out != want {
			t.Errorf("%q, want %q", c.out, want)
		}
	}
}

// The address of an object: the partition's domain, the bucket in the name where certificates allow it.
func TestAddress(t *testing.T) {
	c := newComputer(t)
	if status := c.boot(render(t, data(serve(t, program, 0).URL))); status != 0 {
		t.Fatal("no machine")
	}
	for _, tt := range []struct{ region, object, want string }{
		{"eu-west-1", "remuda-1/program/x/remuda", "https://remuda-1.s3.eu-west-1.amazonaws.com/program/x/remuda"},
		{"us-gov-west-1", "b22/r", "https://b22.s3.us-gov-west-1.amazonaws.com/r"},
		{"cn-north-1", "b22/r", "https://b22.s3.cn-north-1.amazonaws.com.cn/r"},
		{"eu-west-1", "my.own.bucket/a/r", "https://s3.eu-west-1.amazonaws.com/my.own.bucket/a/r"},
	} {
		c.run("bash", "-c", c.lib()+"region="+tt.region+"; address s3://"+tt.object)
		if c.out != tt.want {
			t.Errorf("%s in %s is at %s, want %s", tt.object, tt.region, c.out, tt.want)
		}
	}
}

// Each refusal says what an operator can do about it.
func TestGet_S3_Refused(t *testing.T) {
	installed := newComputer(t)
	if status := installed.boot(render(t, data(serve(t, program, 0).URL))); status != 0 {
		t.Fatal("no machine")
	}
	for _, tt := range []struct {
		name string
		does func(*s3, *agenttest.Metadata)
		url  string
		want string
	}{
		{"OtherSecret", func(b *s3, _ *agenttest.Metadata) { b.creds.SecretAccessKey = "other" }, object, "S3 answers SignatureDoesNotMatch: something between"},
		{"Denied", func(b *s3, _ *agenttest.Metadata) { b.status, b.code = 403, "AccessDenied" }, object, "S3 answers AccessDenied: the role of the instance profile must be allowed s3:GetObject"},
		{"NoObject", func(*s3, *agenttest.Metadata) {}, object + "2", "S3 answers NoSuchKey: publish it with remuda init --publish"},
		{"NoBucket", func(b *s3, _ *agenttest.Metadata) { b.status, b.code = 404, "NoSuchBucket" }, object, "S3 answers NoSuchBucket: publish it"},
		{"Clock", func(b *s3, _ *agenttest.Metadata) { b.now = time.Now().Add(time.Hour) }, object, "S3 answers RequestTimeTooSkewed: the clock of this machine is wrong, it shows 2"},
		{"OtherRegion", func(b *s3, _ *agenttest.Metadata) { b.status, b.code = 301, "PermanentRedirect" }, object, "S3 answers PermanentRedirect: the bucket must be in eu-west-1"},
		{"Busy", func(b *s3, _ *agenttest.Metadata) { b.status, b.code = 503, "SlowDown" }, object, "S3 answers SlowDown: tried again"},
		{"NoRole", func(_ *s3, m *agenttest.Metadata) { m.Set(roles, "") }, object, "the metadata service gives no credentials: the launch template needs an instance profile"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := *installed
			c.t = t
			bucket, meta := c.cloud()
			bucket.set(func(b *s3) { tt.does(b, meta) })
			if status := c.run("bash", "-c", c.lib()+`get s3://`+tt.url+` "$REMUDA_ROOT/got" && exit; echo "$why"; exit 3`); status != 3 || !strings.Contains(c.out, tt.want) {
				t.Errorf("status = %d, output %q, want %q", status, c.out, tt.want)
			}
		})
	}
}

// What S3 refuses for a minute, or what is not what was ordered, ends the machine, with that reason on its console.
func TestRun_S3_Refused_PowersOff(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		does       func(*s3)
	}{
		{"Denied", "cannot fetch the program from s3://" + object + ": S3 answers AccessDenied: the role", func(b *s3) { b.status, b.code = 403, "AccessDenied" }},
		{"WrongContent", "cannot install the program from s3://" + object + ": its SHA-256 is not " + sum(program) + ": publish it again", func(b *s3) { b.content = "x" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newComputer(t)
			bucket, _ := c.cloud()
			bucket.set(tt.does)
			c.wantOff(c.boot(render(t, data("s3://"+object))), tt.want)
		})
	}
}

// A role whose credentials come late, and S3 that fails at first, cost time only.
func TestRun_S3_Late_TriedAgain(t *testing.T) {
	c := newComputer(t)
	bucket, meta := c.cloud()
	meta.Fail(true)
	bucket.set(func(b *s3) { b.status, b.code = http.StatusServiceUnavailable, "SlowDown" })
	tries := 0
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		switch tries++; tries {
		case 2:
			meta.Fail(false)
		case 4:
			bucket.set(func(b *s3) { b.code = "" })
		}
	}))
	t.Cleanup(up.Close)
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal(err)
	}
	c.write(filepath.Join(c.bin, "sleep"), "#!/bin/sh\nexec "+curl+" --silent "+up.URL+"\n")
	if status := c.boot(render(t, data("s3://"+object))); status != 0 || c.has("started") == "" || tries != 4 {
		t.Errorf("status = %d after %d tries, console %q, want a started agent", status, tries, c.has("dev/console"))
	}
}

// What is not an object of a bucket, or has characters that signatures could read in two ways, is refused.
func TestRender_S3_Invalid(t *testing.T) {
	for _, url := range []string{"s3://", "s3://bucket", "s3://bucket/", "s3://b/k", "s3://Bucket/k", "s3://bucket/a b", "s3://bucket/a//b", "s3://bucket/../b", "s3://bucket/a=b", "s3://bucket/a?b"} {
		if _, err := userdata.Render(data(url)); err == nil || !strings.Contains(err.Error(), "program URL: must be an http or https URL without credentials or spaces, or s3://bucket/key") {
			t.Errorf("Render with %s = %v", url, err)
		}
	}
}
