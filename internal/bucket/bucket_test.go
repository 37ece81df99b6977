package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/awstest"
	"github.com/remuda-run/remuda/internal/awstest/s3test"
	"github.com/remuda-run/remuda/internal/machinelog"
)

func TestMain(m *testing.M) { awstest.Main(m) }

const name = "remuda-1"

func opened(t *testing.T) (*s3test.Server, *Bucket) {
	t.Helper()
	s := s3test.New(t, awstest.Region, name)
	return s, Open(awstest.Config(t, s.URL), name)
}

// artifact is one whose checksum is that of text.
func artifact(kind, text, version string) Artifact {
	sum := hexed(sha256.Sum256([]byte(text)))
	return Artifact{Key: kind + "/" + sum + "/remuda", SHA256: sum, Version: version}
}

func TestAnnounce_KeepsWhatOthersAnnounce(t *testing.T) {
	s, b := opened(t)
	if _, err := b.Release(t.Context()); !errors.Is(err, ErrNothingPublished) || !strings.Contains(err.Error(), "s3://remuda-1/release.json") {
		t.Fatalf("Release of nothing = %v", err)
	}
	var all sync.WaitGroup
	for _, arch := range []string{"x86_64", "arm64"} {
		for _, kind := range []string{Program, Runner} {
			all.Go(func() {
				add := Release{Program: map[string]Artifact{arch: artifact(kind, arch, "1.2.3")}}
				if kind == Runner {
					add = Release{Runner: map[string]Artifact{arch: artifact(kind, arch, "2.337.0")}}
				}
				if err := b.Announce(t.Context(), add); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	r, err := b.Release(t.Context())
	if err != nil || len(r.Program) != 2 || len(r.Runner) != 2 {
		t.Fatalf("Release = %+v, %v, want all four; writes: %q", r, err, s.Uploaded)
	}
	if err := b.Announce(t.Context(), Release{Program: map[string]Artifact{"arm64": artifact(Program, "new", "1.2.4")}}); err != nil {
		t.Fatal(err)
	}
	if r, err = b.Release(t.Context()); err != nil || r.Program["arm64"].Version != "1.2.4" || r.Program["x86_64"].Version != "1.2.3" {
		t.Errorf("Release = %+v, %v", r, err)
	}
}

func TestRelease_Invalid(t *testing.T) {
	s, b := opened(t)
	good := artifact(Program, "x", "1.2.3")
	for want, r := range map[string]any{
		"must be a release in JSON":                         "text",
		"schema: must be 1, got 2":                          Release{Schema: 2},
		"program.arm64.sha256: must be 64 hexadecimal":      Release{1, map[string]Artifact{"arm64": {"program/x/y", "x", "1"}}, nil},
		"program.arm64.key: must be program/" + good.SHA256: Release{1, map[string]Artifact{"arm64": {"other/" + good.SHA256 + "/remuda", good.SHA256, "1"}}, nil},
		"runner.arm64.key: must be runner/":                 Release{1, nil, map[string]Artifact{"arm64": good}},
		"program.x86_64.version: must be 1 to 100":          Release{1, map[string]Artifact{"x86_64": {good.Key, good.SHA256, "a b"}}, nil},
		"more than 65536 bytes":                             strings.Repeat("x", maxRelease),
	} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		s.Set(name, ReleaseKey, text)
		if _, err := b.Release(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "s3://remuda-1/release.json") {
			t.Errorf("Release of %.60s = %v, want %q", text, err, want)
		}
		if err := b.Announce(t.Context(), Release{}); err == nil || string(s.Object(name, ReleaseKey)) != string(text) {
			t.Errorf("Announce over %.60s = %v: it must be left alone", text, err)
		}
	}
}

// A refusal names call, object and remedy; no bucket is another thing than no object.
func TestBucket_Refused(t *testing.T) {
	s, b := opened(t)
	for want, b := range map[string]*Bucket{
		"s3:GetObject on bucket other/release.json: not found":            Open(awstest.Config(t, s.URL), "other"),
		"s3:GetObject on bucket remuda-1/release.json: credentials refus": Open(signedWith(t, s, "wrong"), name),
	} {
		if _, err := b.Release(t.Context()); err == nil || errors.Is(err, ErrNothingPublished) || !strings.Contains(err.Error(), want) {
			t.Errorf("Release = %v, want %q", err, want)
		}
	}
	s.Allow(func(_, _, _ string) bool { return false })
	for call, err := range map[string]error{
		"s3:GetObject":  second(b.Release(t.Context())),
		"s3:ListBucket": second(Logs{Bucket: b}.Get(t.Context(), "i-00000001")),
	} {
		if awserr.ClassOf(err) != awserr.Denied || !strings.Contains(err.Error(), "access denied: allow s3:") {
			t.Errorf("%s = %v, want denied", call, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func signedWith(t *testing.T, s *s3test.Server, secret string) aws.Config {
	cfg := awstest.Config(t, s.URL)
	cfg.Credentials = credentials.NewStaticCredentialsProvider(awstest.AccessKey, secret, "")
	return cfg
}

// A machine writes its log under its own principal, with the credentials of its role, and reads none; an operator finds it
// by the machine's id, whichever role it had.
func TestLogs(t *testing.T) {
	s, b := opened(t)
	const machine = "AROAX:i-00000001"
	s.Admit(aws.Credentials{AccessKeyID: "ASIAX", SecretAccessKey: "hush", SessionToken: "token"}, machine)
	s.Allow(func(who, action, resource string) bool {
		return who == "operator" && action != "s3:PutObject" || action == "s3:PutObject" && strings.HasPrefix(resource, "arn:aws:s3:::remuda-1/logs/"+who+"/")
	})
	cfg := awstest.Config(t, s.URL)
	cfg.Credentials = credentials.NewStaticCredentialsProvider("ASIAX", "hush", "token")
	own := Logs{Open(cfg, name), machine}
	for i := range 2 {
		l := machinelog.Log{InstanceID: "i-00000001", TakenAt: time.Now().UTC(), Reason: fmt.Sprint(i), Sources: []machinelog.Source{{Name: machinelog.Agent, Text: "hello\n"}}}
		if err := own.Put(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	s.Set(name, "logs/AROAY:i-00000002/last.json", []byte("{"))
	read := Logs{Bucket: b}
	if l, err := read.Get(t.Context(), "i-00000001"); err != nil || l.Reason != "1" || l.Sources[0].Text != "hello\n" {
		t.Errorf("Get = %+v, %v, want the later", l, err)
	}
	for id, want := range map[string]string{"i-00000003": machinelog.ErrNone.Error(), "../i-00000001": machinelog.ErrNone.Error(), "i-00000002": "read s3://remuda-1/logs/AROAY:i-00000002/last.json"} {
		if _, err := read.Get(t.Context(), id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Get(%q) = %v, want %q", id, err, want)
		}
	}
	for who, err := range map[string]error{
		"its own":   second(own.Get(t.Context(), "i-00000001")),
		"another's": Logs{own.Bucket, "AROAX:i-00000002"}.Put(t.Context(), machinelog.Log{}),
		"published": second(own.Bucket.Release(t.Context())),
	} {
		if awserr.ClassOf(err) != awserr.Denied {
			t.Errorf("a machine at %s = %v, want denied", who, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("late"))
	if err := own.Put(ctx, machinelog.Log{}); err == nil {
		t.Error("Put goes on when nobody waits")
	}
}
