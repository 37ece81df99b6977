package userdata_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/deploy/systemd"
	"github.com/remuda-run/remuda/fleet/ec2fleet/userdata"
)

// H01 H03 H49 H50 H66: the end is scheduled first, everything is installed, the region included, and the agent started last.
func TestRun_StartsAgent_H01_H03_H49_H50_H66(t *testing.T) {
	c := newComputer(t)
	d := data(serve(t, program, 0).URL + "/remuda")
	d.Files = []userdata.File{{Path: "/etc/remuda/prepare", Mode: 0o755, Content: []byte("#!/bin/sh\nexit 0\n")}}
	if status := c.boot(render(t, d)); status != 0 {
		t.Fatalf("status = %d, want 0", status)
	}
	want := "shutdown -P +10\nsystemctl daemon-reload\nsystemctl enable --now " + systemd.AgentUnit
	if got := c.calls(); got != want {
		t.Errorf("calls:\n%s\nwant:\n%s", got, want)
	}
	args := "agent --config " + c.root + userdata.ConfigPath + " --dir " + c.root + userdata.StateDir + "\n"
	if got := c.has("started"); got != args {
		t.Errorf("agent's arguments = %q, want %q", got, args)
	}
	for _, f := range []struct {
		path, content string
		mode          fs.FileMode
	}{
		{userdata.ProgramPath, program, 0o755},
		{userdata.ConfigPath, "name: main\n", 0o600},
		{userdata.EnvPath, "AWS_REGION=eu-west-1\nREMUDA_NAME=main\n", 0o600},
		{userdata.UnitPath, systemd.Agent, 0o644},
		{"/etc/remuda/prepare", "#!/bin/sh\nexit 0\n", 0o755},
	} {
		if got := c.has(f.path); got != f.content {
			t.Errorf("%s = %q, want %q", f.path, got, f.content)
		}
		info, err := os.Stat(filepath.Join(c.root, f.path))
		if err != nil || info.Mode().Perm() != f.mode {
			t.Errorf("%s: mode = %v, %v, want %v", f.path, info, err, f.mode)
		}
	}
	const told = `^remuda: the program fetched in [0-9]+\.[0-9] s\nremuda: agent of main started after [0-9]+\.[0-9] s\n$`
	if got := c.has("dev/console"); !regexp.MustCompile(told).MatchString(got) {
		t.Errorf("console = %q, want %s", got, told)
	}
}

// H03 invariant 3: a machine that is started anew before its agent's unit is enabled ends as it would have; one
// with an agent is left to it.
func TestRun_StartedAnew_H03(t *testing.T) {
	for _, tt := range []struct {
		name    string
		enabled int // status of systemctl is-enabled
		want    string
	}{{"WithoutAgent", 1, "-P +10\n"}, {"WithAgent", 0, ""}} {
		t.Run(tt.name, func(t *testing.T) {
			c := newComputer(t)
			if status := c.boot(render(t, data(serve(t, program, 0).URL))); status != 0 {
				t.Fatalf("status = %d, console %q", status, c.has("dev/console"))
			}
			bin := t.TempDir()
			calls := filepath.Join(bin, "calls")
			for name, does := range map[string]string{"systemctl": fmt.Sprintf("exit %d\n", tt.enabled), "shutdown": `echo "$@" >>"` + calls + "\"\n"} {
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+does), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(filepath.Join(c.root, userdata.LimitPath))
			cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got, err := os.ReadFile(calls); string(got) != tt.want || err != nil && tt.want != "" {
				t.Errorf("shutdown was told %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// No one else can read a configuration while it is written.
func TestRun_ConfigNeverReadable(t *testing.T) {
	c := newComputer(t)
	gzip, err := exec.LookPath("gzip")
	if err != nil {
		t.Fatal(err)
	}
	c.standIn("gzip", "stat -c %a \"$REMUDA_ROOT\"/etc/remuda/*.new >>\"$REMUDA_ROOT/modes\" 2>/dev/null\nexec "+gzip+" \"$@\"\n")
	if status := c.boot(render(t, data(serve(t, program, 0).URL))); status != 0 {
		t.Fatalf("status = %d, want 0", status)
	}
	if got := c.has("modes"); got != "600\n600\n" {
		t.Errorf("modes while written = %q, want 600 for both files", got)
	}
}

// H50: what is not what was ordered is never started, and its machine ends.
func TestRun_WrongChecksum_PowersOff_H50(t *testing.T) {
	c := newComputer(t)
	status := c.boot(render(t, data(serve(t, program+"# or something else\n", 0).URL)))
	c.wantOff(status, "its SHA-256 is not "+sum(program))
	if c.has(userdata.ProgramPath) != "" || c.has("started") != "" {
		t.Error("it was installed, or started")
	}
}

// A server that fails for a while costs time only.
func TestRun_ServerFailsFirst_TriedAgain(t *testing.T) {
	c := newComputer(t)
	if status := c.boot(render(t, data(serve(t, program, 2).URL))); status != 0 || c.has("started") == "" {
		t.Errorf("status = %d, console %q, want a started agent", status, c.has("dev/console"))
	}
}

// A URL that leads nowhere ends the machine. Its query, which may be a signature, is not logged.
func TestRun_NothingToFetch_PowersOff(t *testing.T) {
	c := newComputer(t)
	status := c.boot(render(t, data("http://127.0.0.1:1/remuda?signature=hush")))
	c.wantOff(status, "cannot fetch the program from http://127.0.0.1:1/remuda: curl: (7) Failed to connect")
	if strings.Contains(c.has("dev/console"), "hush") {
		t.Error("the console shows the query of the URL")
	}
}

// A program in the image is used if it is the right one; otherwise the right one is fetched.
func TestRun_BakedIn_H50(t *testing.T) {
	const other = "#!/bin/bash\nexit 1\n"
	for _, tt := range []struct {
		name, baked, have string
		sum               string
		url               bool
		fetched, off      bool
	}{
		{name: "Fits", baked: userdata.ProgramPath, have: program, sum: sum(program), url: true},
		{name: "FitsElsewhere", baked: "/opt/the program", have: program, sum: sum(program), url: true},
		{name: "Differs", baked: userdata.ProgramPath, have: other, sum: sum(program), url: true, fetched: true},
		{name: "DiffersElsewhere", baked: "/opt/remuda", have: other, sum: sum(program), url: true, fetched: true},
		{name: "Missing", sum: sum(program), url: true, fetched: true},
		{name: "NoURL", have: program, baked: userdata.ProgramPath, sum: strings.ToUpper(sum(program))},
		{name: "NoURLNoSum", have: program, baked: "/opt/remuda"},
		{name: "NoURLDiffers", have: other, baked: userdata.ProgramPath, sum: sum(program), off: true},
		{name: "NoURLMissing", off: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newComputer(t)
			if tt.have != "" {
				c.write(filepath.Join(c.root, tt.baked), tt.have)
			}
			d := data("")
			d.Program = userdata.Program{SHA256: tt.sum, Baked: tt.baked}
			fetched := false
			c.standIn("curl", `while [[ $1 != --output ]]; do shift; done; cat "$REMUDA_ROOT/remote" >"$2"; printf 200`)
			c.write(filepath.Join(c.root, "remote"), program)
			if tt.url {
				d.Program.URL = "https://example.org/remuda"
			}
			status := c.boot(render(t, d))
			fetched = strings.Contains(c.calls(), "curl ")
			if fetched != tt.fetched {
				t.Errorf("fetched = %v, want %v", fetched, tt.fetched)
			}
			switch {
			case tt.off:
				c.wantOff(status, "no program at "+userdata.ProgramPath)
			case status != 0 || c.has("started") == "" || c.has(userdata.ProgramPath) != program:
				t.Errorf("status = %d, started = %q, want the right program started", status, c.has("started"))
			}
		})
	}
}

// Whatever fails ends the machine, by the next means if one is missing.
func TestRun_AnyStepFails_PowersOff(t *testing.T) {
	for _, tt := range []struct{ name, command, does, why string }{
		{"NoService", "systemctl", "[[ $1 == poweroff ]]\n", "cannot start remuda-agent.service (status 1)"},
		{"NoDisk", "gzip", "exit 1\n", "cannot write " + userdata.LimitPath + " (status 1)"},
		{"NoSum", "sha256sum", "exit 1\n", "its SHA-256 is not"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newComputer(t)
			c.standIn(tt.command, tt.does)
			c.wantOff(c.boot(render(t, data(serve(t, program, 0).URL))), tt.why)
		})
	}
	t.Run("NoManager", func(t *testing.T) {
		c := newComputer(t)
		c.standIn("systemctl", "exit 1\n")
		status := c.boot(render(t, data(serve(t, program, 0).URL)))
		if status == 0 || !strings.HasSuffix(c.calls(), "systemctl poweroff\nshutdown -P now") {
			t.Errorf("status = %d, calls = %q", status, c.calls())
		}
	})
	t.Run("NoTimer", func(t *testing.T) {
		c := newComputer(t)
		c.standIn("shutdown", "exit 1\n")
		status := c.boot(render(t, data(serve(t, program, 0).URL)))
		if status == 0 || c.calls() != "shutdown -P +10\nsystemctl poweroff" {
			t.Errorf("status = %d, calls = %q, want nothing but the end", status, c.calls())
		}
	})
}

// What runs before cloud-init is done with it may be repeated: an instance made from the disk of
// another, or a script that is run by hand.
func TestRun_Twice(t *testing.T) {
	c := newComputer(t)
	script := render(t, data(serve(t, program, 0).URL))
	for range 2 {
		if status := c.boot(script); status != 0 {
			t.Fatalf("status = %d, want 0", status)
		}
	}
}

// The lint of the shell agrees, where there is one.
func TestRender_Shellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skipf("the scripts are not linted: %v", err)
	}
	image, err := userdata.Image(imageData("https://example.org", ""))
	if err != nil {
		t.Fatal(err)
	}
	// What user data writes to a file of its own, it reads as if it stood there.
	boot := strings.ReplaceAll(render(t, data("https://example.org/remuda")), "# shellcheck source=/dev/null\n", "# shellcheck source="+together(t)+"\n")
	host := userdata.HostHead("remuda", "eu-west-1", "remuda-bucket") + userdata.Host()
	for name, script := range map[string]string{"user-data.sh": boot, "image.sh": image, "host.sh": host} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		lint := exec.CommandContext(t.Context(), "shellcheck", "--severity=style", "--external-sources", "--source-path=.", file)
		if out, err := lint.CombinedOutput(); err != nil {
			t.Errorf("shellcheck: %v\n%s", err, out)
		}
	}
}

// together writes what the first script reads, as its machine has it.
func together(t *testing.T) string {
	t.Helper()
	var all []byte
	for _, name := range []string{"fetch.sh", "prepare.sh"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	file := filepath.Join(t.TempDir(), "lib.sh")
	if err := os.WriteFile(file, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
