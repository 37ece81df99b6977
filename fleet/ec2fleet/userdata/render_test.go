package userdata_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/remuda-run/remuda/deploy/systemd"
	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
)

// noise is content that gzip cannot make shorter.
func noise(n int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	_, _ = r.Read(b)
	return b
}

// H47: more than EC2 takes is refused with size, limit and what is too large.
func TestRender_TooLarge_H47(t *testing.T) {
	d := data("https://example.org/remuda")
	d.Files = []userdata.File{{Path: "/etc/remuda/prepare", Mode: 0o755, Content: noise(12 << 10)}}
	_, err := userdata.Render(d)
	if err == nil {
		t.Fatal("Render = nil, want an error")
	}
	for _, want := range []string{"at most 16384 bytes", "packed: /etc/remuda/prepare 164", "/etc/remuda/agent.yaml ", "the script itself "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Render = %v, want %q", err, want)
		}
	}
}

// The limit itself is allowed, one byte more is not.
func TestRender_ExactlyTheLimit_H47(t *testing.T) {
	d := data("https://example.org/remuda")
	short := len(render(t, d))
	d.Program.URL += "?" + strings.Repeat("x", userdata.Limit-short-1)
	if got := len(render(t, d)); got != userdata.Limit {
		t.Fatalf("%d bytes, want %d", got, userdata.Limit)
	}
	d.Program.URL += "x"
	if _, err := userdata.Render(d); err == nil || !strings.Contains(err.Error(), "got 16385, packed: the script itself") {
		t.Errorf("Render = %v, want an error with size and limit", err)
	}
}

// The usual data leaves room for a script of the operator's.
func TestRender_LeavesRoom(t *testing.T) {
	d := data("s3://" + strings.Repeat("b", 63) + "/program/" + sum(program) + "/remuda")
	d.User = "runner"
	got := len(render(t, d))
	t.Logf("%d bytes of %d without the operator's files", got, userdata.Limit)
	if got > userdata.Limit*5/8 {
		t.Errorf("%d bytes without any file, want at most five eighths of %d", got, userdata.Limit)
	}
}

// S20 H01: the first line that does anything schedules the end, minutes rounded up.
func TestRender_FirstLine_S20_H01(t *testing.T) {
	for limit, want := range map[time.Duration]string{
		time.Minute: "+1", time.Minute + 1: "+2", 10 * time.Minute: "+10", 24 * time.Hour: "+1440",
	} {
		d := data("https://example.org/remuda")
		d.Limit = limit
		lines := strings.SplitN(render(t, d), "\n", 3)
		if lines[0] != "#!/bin/bash" || !strings.HasPrefix(lines[1], "shutdown -P "+want+" || ") {
			t.Errorf("limit %s: user data begins %q", limit, lines[:2])
		}
	}
}

// The same data makes the same script: a launch template changes only with its content.
func TestRender_Deterministic(t *testing.T) {
	d := data("https://example.org/remuda")
	first := render(t, d)
	for range 3 {
		if render(t, d) != first {
			t.Fatal("two renderings differ")
		}
	}
}

// Bad data is refused, all of it at once, and no password of a URL is repeated.
func TestRender_Invalid(t *testing.T) {
	_, err := userdata.Render(userdata.Data{
		Name: "Main", Region: "eu west", Limit: 59 * time.Second,
		Program: userdata.Program{URL: "ftp://me:hush@example.org/remuda", SHA256: "12", Baked: "opt/remuda"},
		Files: []userdata.File{
			{Path: "/etc/../x", Mode: 0o644}, {Path: "/a\nb", Mode: 0o4755}, {Path: userdata.ConfigPath, Mode: 0o600}, {Path: `/a\b`, Mode: 0},
		},
	})
	if err == nil {
		t.Fatal("Render = nil, want an error")
	}
	for _, want := range []string{
		`name: must be 1 to 32`, `got "Main"`, `region: must be the name`, `created limit: must be from 1m0s to 24h0m0s, got 59s`,
		`configuration: must be set`, `program URL: must be an http or https URL`, `program SHA-256: must be 64`, `baked program: must be`,
		`file 0 ("/etc/../x"): must be at a clean`, `file 1 ("/a\nb"): must be at a clean`, `file 1 ("/a\nb") mode: must be permissions`,
		`file 2 ("/etc/remuda/agent.yaml"): must be at a path of its own`, `file 3 ("/a\\b"): must be at a clean`, `file 3 ("/a\\b") mode`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Render lacks %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("the error repeats a password: %v", err)
	}
	d := data("https://example.org/remuda")
	d.Program.SHA256 = ""
	if _, err := userdata.Render(d); err == nil || !strings.Contains(err.Error(), "program SHA-256: must be set") {
		t.Errorf("Render of a URL without checksum = %v", err)
	}
}

// The unit says where the program, its configuration and its folder are; user data puts them there.
// What the agent's safety rests on stays in it.
func TestUnit_Agrees_H49(t *testing.T) {
	for _, want := range []string{
		"ExecStart=" + userdata.ProgramPath + " agent --config " + userdata.ConfigPath + " --dir " + userdata.StateDir + "\n",
		"EnvironmentFile=-" + userdata.EnvPath + "\n", "Restart=always\n", "KillMode=process\n", "OOMPolicy=continue\n",
		"After=network-online.target\n", "StartLimitAction=poweroff-force\n", "StateDirectory=remuda\n",
	} {
		if !strings.Contains(systemd.Agent, want) {
			t.Errorf("%s lacks %q", systemd.AgentUnit, want)
		}
	}
	for _, want := range []string{"Restart=always\n", "After=network-online.target\n", "KillMode=process\n", " controller ", "Type=notify\n", "WatchdogSec=30\n"} {
		if !strings.Contains(systemd.Controller, want) {
			t.Errorf("%s lacks %q", systemd.ControllerUnit, want)
		}
	}
}
