package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/bucket"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
	"github.com/remuda-run/remuda/internal/finding"
)

// artifactOf is one whose checksum begins with a digit.
func artifactOf(kind, digit, name string) bucket.Artifact {
	sum := strings.Repeat(digit, 64)
	return bucket.Artifact{Key: kind + "/" + sum + "/" + name, SHA256: sum, Version: "1.2.3"}
}

// Machines get what is published, by the launch template; the controller notices when something else is, and has it taken up.
func TestPublished_MachinesFollow(t *testing.T) {
	s, cfg := testBucket(t)
	cloud := ec2test.New(t)
	for _, service := range []string{"EC2", "IAM", "SSM"} {
		t.Setenv("AWS_ENDPOINT_URL_"+service, cloud.URL)
	}
	c := newCLI(nil)
	cfg.Agent.RunnerUser, cfg.Classes = "ci", map[string]config.Class{"small": {CPU: 1, Mem: 512}}
	cfg.EC2.Subnets, cfg.EC2.SecurityGroups, cfg.EC2.AMI, cfg.EC2.InstanceProfile = cloud.Subnets(), []string{ec2test.Group}, config.EveryArch(ec2test.AMI), ec2test.Profile
	open := func() (machinery, error) { return c.openFleet(t.Context(), cfg, "", slog.New(slog.DiscardHandler)) }
	publish := func(r bucket.Release) {
		t.Helper()
		r.Schema = 1
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		s.Set("remuda-1", bucket.ReleaseKey, text)
	}
	if _, err := open(); err == nil || !strings.Contains(err.Error(), "s3://remuda-1/release.json: nothing is published there: run `remuda init --publish`") {
		t.Errorf("open without a release = %v", err)
	}
	doctor := &doctorOptions{app: c.app}
	if got := doctor.published(t.Context(), cfg); len(got) != 1 || got[0].Verdict != finding.Failed || !strings.Contains(got[0].Detail, "nothing is published there") {
		t.Errorf("doctor without a release = %v", got)
	}
	publish(bucket.Release{Program: map[string]bucket.Artifact{"arm64": artifactOf("program", "0", "remuda")}})
	if _, err := open(); err == nil || !strings.Contains(err.Error(), "has no program for x86_64, which classes.small needs") {
		t.Errorf("open without a program = %v", err)
	}
	publish(bucket.Release{Program: map[string]bucket.Artifact{"x86_64": artifactOf("program", "1", "remuda")}})
	m, err := open()
	if err != nil {
		t.Fatal(err)
	}
	ensured := func() ensure.Action {
		t.Helper()
		steps, err := m.Fleet.(interface {
			Ensure(ctx context.Context, apply bool) ([]ensure.Step, error)
		}).Ensure(t.Context(), true)
		if err != nil || len(steps) == 0 {
			t.Fatalf("Ensure = %v, %v", steps, err)
		}
		return steps[0].Action
	}
	chore := (&backends{log: slog.New(slog.DiscardHandler)}).releaseChore(c.app, cfg)
	noticed := func() bool {
		t.Helper()
		if err := chore.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-c.republished:
			return true
		default:
			return false
		}
	}
	if got := ensured(); got != ensure.Created || noticed() {
		t.Errorf("Ensure = %s, or what is published is noticed as new", got)
	}
	publish(bucket.Release{
		Program: map[string]bucket.Artifact{"x86_64": artifactOf("program", "1", "remuda")},
		Runner:  map[string]bucket.Artifact{"x86_64": artifactOf("runner", "2", "actions-runner-linux-x64-2.337.0.tar.gz")},
	})
	if !noticed() {
		t.Error("another release is not noticed")
	}
	next, then, err := m.renew(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	then()
	m.Fleet = next
	if got := ensured(); got != ensure.Updated || noticed() {
		t.Errorf("Ensure = %s, want another template, and the release known", got)
	}
	s.Set("remuda-1", bucket.ReleaseKey, []byte("{"))
	if err := chore.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "must be a release") {
		t.Errorf("chore with a broken release = %v", err)
	}
}

// What the configuration says itself is not looked up.
func TestFromRelease(t *testing.T) {
	for name, tt := range map[string]struct {
		change          func(*config.Config)
		program, runner bool
	}{
		"Bucket":    {func(*config.Config) {}, true, true},
		"NoBucket":  {func(c *config.Config) { c.EC2.Bucket = "" }, false, false},
		"Program":   {func(c *config.Config) { c.EC2.BinaryURL = config.EveryArch("https://example.org/remuda") }, false, true},
		"Baked":     {func(c *config.Config) { c.EC2.BinaryPath = "/usr/bin/remuda" }, false, true},
		"Runner":    {func(c *config.Config) { c.Agent.RunnerURL = config.EveryArch("https://example.org/r.tar.gz") }, true, false},
		"RunnerDir": {func(c *config.Config) { c.Agent.RunnerDir = "/opt/actions-runner" }, true, false},
	} {
		c := config.Default()
		c.EC2.Bucket = "remuda-1"
		tt.change(&c)
		if program, runner := fromRelease(c); program != tt.program || runner != tt.runner {
			t.Errorf("%s: fromRelease = %v, %v", name, program, runner)
		}
	}
}
