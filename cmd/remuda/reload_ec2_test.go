package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/ensure"
)

// A reload takes up what machines are made of: another image, another script, another limit are each another launch template. What
// is the same is none, and what cannot be made changes nothing.
func TestEC2_RenewedIsAnotherTemplate(t *testing.T) {
	cloud := ec2test.New(t)
	for _, service := range []string{"EC2", "IAM", "SSM"} {
		t.Setenv("AWS_ENDPOINT_URL_"+service, cloud.URL)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
	c, cfg := newCLI(nil), config.Default()
	c.files["/script"] = "#!/bin/sh\n"
	cfg.Fleet, cfg.Agent.RunnerUser, cfg.Agent.Script = "ec2://main?region=eu-west-1", "ci", "/script"
	cfg.EC2.Subnets, cfg.EC2.SecurityGroups, cfg.EC2.AMI, cfg.EC2.InstanceProfile = cloud.Subnets(), []string{ec2test.Group}, config.EveryArch(ec2test.AMI), ec2test.Profile
	m, err := c.openFleet(t.Context(), cfg, "", slog.New(slog.DiscardHandler))
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
	if got := ensured(); got != ensure.Created {
		t.Fatalf("Ensure = %s at first", got)
	}
	cloud.SetImage("ami-00000002")
	for _, tt := range []struct {
		what   string
		change func()
		want   ensure.Action
	}{
		{"nothing", func() {}, ensure.Unchanged},
		{"image", func() { cfg.EC2.AMI = config.EveryArch("ami-00000002") }, ensure.Updated},
		{"what the script says", func() { c.files["/script"] = "#!/bin/sh\necho\n" }, ensure.Updated},
		{"limit", func() { cfg.Limits.Idle *= 2 }, ensure.Updated},
		{"cap", func() { cfg.Caps.MaxInstances++ }, ensure.Unchanged},
	} {
		tt.change()
		next, then, err := m.renew(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		then()
		m.Fleet = next
		if got := ensured(); got != tt.want {
			t.Errorf("%s: Ensure = %s, want %s", tt.what, got, tt.want)
		}
	}
	delete(c.files, "/script")
	if _, _, err := m.renew(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "agent.script") {
		t.Errorf("renew() without the script = %v", err)
	}
	if got := ensured(); got != ensure.Unchanged {
		t.Errorf("Ensure = %s after what failed", got)
	}
}
