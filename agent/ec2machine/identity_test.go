package ec2machine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/agent/agenttest"
	"github.com/remuda-run/remuda/agent/ec2machine"
)

// The instance says who it is, where, and whose, by tokens alone.
func TestOpen_AsksWithToken(t *testing.T) {
	m, c := agenttest.NewMetadata(t), newComputer(t)
	h := c.open()
	if h.InstanceID != "i-0abc" || h.Region != "eu-west-1" || h.Name != "main" {
		t.Errorf("identity = %+v", h.Identity)
	}
	if n := m.Asked("PUT /latest/api/token"); n != 1 {
		t.Errorf("%d tokens asked for, want 1", n)
	}
	if c.Calls() != "" {
		t.Errorf("calls = %q, want none", c.Calls())
	}
}

// H49 H51: a restarted agent needs no metadata service; an instance that was booted anew does.
func TestOpen_Restarted_KnowsItself_H49_H51(t *testing.T) {
	m, c := agenttest.NewMetadata(t), newComputer(t)
	c.open()
	m.Fail(true)
	if h := c.open(); h.InstanceID != "i-0abc" || h.Region != "eu-west-1" {
		t.Errorf("identity = %+v", h.Identity)
	}
	file := filepath.Join(c.dir, "identity.json")
	if err := os.WriteFile(file, []byte(`{"boot": "another", "instanceId": "i-0abc", "region": "eu-west-1", "name": "main"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Fail(false)
	before := m.Asked("GET /latest/meta-data/instance-id")
	if h := c.open(); h.InstanceID != "i-0abc" || m.Asked("GET /latest/meta-data/instance-id") == before {
		t.Errorf("identity = %+v without asking", h.Identity)
	}
}

// An image made of an instance in use carries its state; that of another instance would end the new
// one at once.
func TestOpen_StateOfAnotherInstance_Dropped(t *testing.T) {
	for _, tt := range []struct {
		name, cached string
		kept         bool
	}{
		{"Other", `{"boot": "another", "instanceId": "i-0other", "region": "eu-west-1", "name": "main"}`, false},
		{"Rebooted", `{"boot": "another", "instanceId": "i-0abc", "region": "eu-west-1", "name": "main"}`, true},
		{"CutOff", `{"boot": "ano`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			agenttest.NewMetadata(t)
			c := newComputer(t)
			state := filepath.Join(c.dir, "agent-state.json")
			for file, text := range map[string]string{state: "{}", filepath.Join(c.dir, "identity.json"): tt.cached} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c.open()
			if _, err := os.Stat(state); (err == nil) != tt.kept {
				t.Errorf("state: %v, want kept = %v", err, tt.kept)
			}
		})
	}
}

// An instance of another installation, or of none, is not touched, and says what is wrong.
func TestOpen_Foreign_Refused(t *testing.T) {
	for tag, want := range map[string]string{
		"other": `tag remuda-name is "other", want "main" as configured`,
		"":      `no tag remuda-name in its metadata, want "main"; the launch template must set it and enable tags in metadata`,
	} {
		m, c := agenttest.NewMetadata(t), newComputer(t)
		m.Set("tags/instance/remuda-name", tag)
		_, err := ec2machine.Open(context.Background(), c.options)
		if !errors.Is(err, ec2machine.ErrForeign) || !strings.Contains(err.Error(), want) {
			t.Errorf("Open = %v, want %q", err, want)
		}
		if c.Calls() != "" {
			t.Errorf("calls = %q: what its boot scheduled ends it", c.Calls())
		}
	}
}

// A service that fails for a while is asked again.
func TestOpen_ServiceLate_TriedAgain(t *testing.T) {
	m, c := agenttest.NewMetadata(t), newComputer(t)
	m.Fail(true)
	done := make(chan string, 1)
	go func() {
		h, err := ec2machine.Open(context.Background(), c.options)
		if err != nil {
			done <- err.Error()
			return
		}
		done <- h.InstanceID
	}()
	for m.Asked("PUT /latest/api/token")+m.Asked("GET /latest/meta-data/instance-id") < 5 {
		select {
		case got := <-done:
			t.Fatalf("Open = %s while the service is down", got)
		case <-time.After(10 * time.Millisecond):
		}
	}
	m.Fail(false)
	if got := <-done; got != "i-0abc" {
		t.Errorf("Open = %s, want i-0abc", got)
	}
}

// H03 H51: a machine that cannot know who it is can have no dead-man timer, so it goes.
func TestOpen_ServiceNever_PowersOff_H03_H51(t *testing.T) {
	m, c := agenttest.NewMetadata(t), newComputer(t)
	m.Fail(true)
	c.options.Limit = 300 * time.Millisecond
	_, err := ec2machine.Open(context.Background(), c.options)
	if err == nil || !strings.Contains(err.Error(), "not known within 300ms") || c.Calls() != "systemctl poweroff" {
		t.Errorf("Open = %v, calls = %q, want a power-off", err, c.Calls())
	}
}

// An agent that is told to stop leaves the machine on.
func TestOpen_Stopped_NoPowerOff(t *testing.T) {
	m, c := agenttest.NewMetadata(t), newComputer(t)
	m.Fail(true)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := ec2machine.Open(ctx, c.options); err == nil || c.Calls() != "" {
		t.Errorf("Open = %v, calls = %q, want an error alone", err, c.Calls())
	}
}

// Options that are missing are named before anything happens.
func TestOpen_Incomplete(t *testing.T) {
	if _, err := ec2machine.Open(context.Background(), ec2machine.Options{}); err == nil || !strings.Contains(err.Error(), "must be set") {
		t.Errorf("Open = %v", err)
	}
}
