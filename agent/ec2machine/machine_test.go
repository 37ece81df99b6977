package ec2machine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/agent/ec2machine"
)

// Notices are what EC2 writes (EC2 User Guide, "Spot Instance interruption notices" and "EC2 instance
// rebalance recommendations"); 404 is none.
func TestInterrupted(t *testing.T) {
	m, c := agenttest.NewMetadata(t), newComputer(t)
	h := c.open()
	ctx := context.Background()
	if h.Interrupted(ctx) {
		t.Error("Interrupted without notice")
	}
	for path, text := range map[string]string{
		"spot/instance-action":             `{"action": "terminate", "time": "2026-05-05T08:22:00Z"}`,
		"events/recommendations/rebalance": `{"noticeTime": "2026-05-05T08:22:00Z"}`,
	} {
		m.Set(path, text)
		if !h.Interrupted(ctx) {
			t.Errorf("not Interrupted by %s", path)
		}
		if !strings.Contains(c.log.String(), "path="+path) {
			t.Errorf("log lacks %s: %s", path, c.log.String())
		}
		m.Set(path, "")
	}
	if h.Interrupted(ctx) {
		t.Error("Interrupted after all notices were withdrawn")
	}
}

// A service that does not answer is no notice, and is complained about once.
func TestInterrupted_NoAnswer_NoNotice(t *testing.T) {
	m, c := agenttest.NewMetadata(t), newComputer(t)
	h := c.open()
	m.Fail(true)
	ctx := context.Background()
	for range 2 {
		if h.Interrupted(ctx) {
			t.Error("Interrupted without an answer")
		}
	}
	m.Fail(false)
	h.Interrupted(ctx)
	if n := strings.Count(c.log.String(), "instance metadata could not be read"); n != 1 {
		t.Errorf("%d complaints, want 1:\n%s", n, c.log.String())
	}
	if !strings.Contains(c.log.String(), "instance metadata is read again") {
		t.Error("its return is not logged")
	}
}

// Version 1 of the service, without tokens, is never used, even where there is no other.
func TestOpen_VersionOneNever(t *testing.T) {
	m, c := agenttest.NewMetadata(t), newComputer(t)
	m.Old, c.options.Limit = true, 300*time.Millisecond
	if h, err := ec2machine.Open(context.Background(), c.options); err == nil {
		t.Errorf("Open = %+v, want an error", h.Identity)
	}
	if n := m.Asked("version 1"); n != 0 {
		t.Errorf("%d values read by version 1", n)
	}
}

// The machine goes by the first way that works; what fails is in the error.
func TestPowerOff_EveryWay(t *testing.T) {
	tests := []struct {
		name    string
		failing map[string]string // command to what it does
		want    string            // calls
	}{
		{"First", nil, "systemctl poweroff"},
		{"NoManager", map[string]string{"systemctl": "exit 1"}, "systemctl poweroff\nshutdown -P now"},
		{"NoScheduler", map[string]string{"systemctl": `[ "$2" = --force ] || [ "$3" = --force ]`, "shutdown": "exit 1"},
			"systemctl poweroff\nshutdown -P now\nsystemctl poweroff --force"},
		{"Nothing", map[string]string{"systemctl": "exit 1", "shutdown": "exit 1"},
			"systemctl poweroff\nshutdown -P now\nsystemctl poweroff --force\npoweroff -f -f"},
		{"Hangs", map[string]string{"systemctl": "exec /bin/sleep 60"}, "systemctl poweroff\nshutdown -P now"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newComputer(t)
			if tt.name == "Hangs" {
				t.Cleanup(ec2machine.SetCommandLimit(5 * time.Second))
			}
			for command, does := range tt.failing {
				c.Set(command, does+"\n")
			}
			err := ec2machine.Machine{}.Halt(context.Background(), "threshold passed")
			if err != nil || c.Calls() != tt.want {
				t.Errorf("Halt = %v, calls:\n%s\nwant:\n%s", err, c.Calls(), tt.want)
			}
		})
	}
	t.Run("None", func(t *testing.T) {
		c := newComputer(t)
		for _, name := range []string{"systemctl", "shutdown", "poweroff"} {
			c.Set(name, "echo not permitted; exit 1\n")
		}
		err := ec2machine.PowerOff(context.Background())
		if err == nil || strings.Count(err.Error(), "not permitted") != 4 {
			t.Errorf("PowerOff = %v, want all four failures", err)
		}
		t.Setenv("PATH", t.TempDir())
		if err := ec2machine.PowerOff(context.Background()); err == nil || !strings.Contains(err.Error(), "executable file not found") {
			t.Errorf("PowerOff without commands = %v", err)
		}
	})
}

// H51: a machine that can run no command any more is ended without one, if it is certainly the instance.
func TestHalt_WithoutCommands_H51(t *testing.T) {
	agenttest.NewMetadata(t)
	c := newComputer(t)
	m := ec2machine.Machine{Host: c.open()}
	for _, name := range []string{"systemctl", "shutdown", "poweroff"} {
		c.Set(name, "echo not permitted; exit 1\n")
	}
	for _, tt := range []struct {
		name, tag string
		host      *ec2machine.Host
		cut, want error
		cuts      int
	}{
		{name: "Instance", tag: m.Host.InstanceID, host: m.Host, cuts: 1},
		{name: "Refused", tag: m.Host.InstanceID, host: m.Host, cut: errors.New("no right"), want: errors.New("no right"), cuts: 1},
		{name: "OtherComputer", tag: "i-0other", host: m.Host, want: errors.New(`is "i-0other", not the instance's id`)},
		{name: "NoFirmware", host: m.Host, want: errors.New(`is "", not the instance's id`)},
		{name: "NoHost", tag: m.Host.InstanceID, want: errors.New("not the instance's id")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cuts := 0
			ec2machine.SetPower(t, tt.tag, func() error { cuts++; return tt.cut })
			err := ec2machine.Machine{Host: tt.host}.Halt(context.Background(), "threshold passed")
			if cuts != tt.cuts || (err == nil) != (tt.want == nil) || err != nil && !strings.Contains(err.Error(), tt.want.Error()) {
				t.Errorf("Halt = %v after %d cuts, want %v after %d", err, cuts, tt.want, tt.cuts)
			}
		})
	}
}

// H03: taking over cancels what boot scheduled; a failure is an error, so that it is tried again.
func TestTakeOver_H03(t *testing.T) {
	agenttest.NewMetadata(t)
	c := newComputer(t)
	h := c.open()
	if err := h.TakeOver(context.Background()); err != nil || c.Calls() != "shutdown -c" {
		t.Errorf("TakeOver = %v, calls = %q", err, c.Calls())
	}
	c.Set("shutdown", "echo no bus >&2; exit 1\n")
	if err := h.TakeOver(context.Background()); err == nil || !strings.Contains(err.Error(), "shutdown -c: exit status 1: no bus") {
		t.Errorf("TakeOver = %v, want its failure", err)
	}
}
