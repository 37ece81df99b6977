package main

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/internal/bubbletest"
	"github.com/remuda-run/remuda/statemachine"
)

func TestRoot(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		code int
		out  string
		err  string
	}{
		{"Bare", nil, exitDone, "Usage:\n  remuda [flags]", ""},
		{"Help", []string{"help", "request"}, exitDone, "Exit codes:", ""},
		{"UnknownVerb", []string{"provision"}, exitUsage, "", `command "provision": must be one of `},
		{"MistypedVerb", []string{"reqest"}, exitUsage, "", `command "reqest": did you mean request?`},
		{"MistypedVerbOfDev", []string{"dev", "sumbit"}, exitUsage, "", `command "sumbit": did you mean submit?`},
		{"HelpOfDev", []string{"help", "dev", "submit"}, exitDone, "Queues jobs", ""},
		{"HelpOfNothing", []string{"help", "nosuch"}, exitUsage, "", `command "nosuch": must be one of `},
		{"CompletionOfNothing", []string{"completion", "tcsh"}, exitUsage, "", `command "tcsh": did you mean bash or `},
		{"CompletionAlone", []string{"completion"}, exitDone, "Available Commands", ""},
		{"Version", []string{"--version"}, exitDone, currentVersion().String() + "\n", ""},
		{"UnknownFlag", []string{"status", "--color"}, exitUsage, "", "unknown flag: --color\nSee 'remuda status --help'."},
		{"FlagWithoutValue", []string{"request", "--id"}, exitUsage, "", "flag needs an argument: --id"},
		{"Completion", []string{"completion", "bash"}, exitDone, "bash completion", ""},
		{"CompleteClass", []string{"__complete", "request", "--resource-class", ""}, exitDone, "large\nmedium\nsmall\nxlarge\n", ""},
		{"CompleteSet", []string{"__complete", "status", "--set", "limits.id"}, exitDone, "limits.idle=\n", ""},
		{"CompleteMode", []string{"__complete", "release", "--mode", ""}, exitDone, "drain\nnow\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCLI(nil)
			if code := c.run(t.Context(), tt.args...); code != tt.code {
				t.Errorf("exit code = %d, want %d", code, tt.code)
			}
			if !strings.Contains(c.out.String(), tt.out) || !strings.Contains(c.err.String(), tt.err) {
				t.Errorf("want %q on stdout and %q on stderr, got:\n%s\n%s", tt.out, tt.err, &c.out, &c.err)
			}
			if c.opened != 0 {
				t.Error("the store was opened")
			}
		})
	}
}

// What a script wrote reaches the terminal as text, also inside an error.
func TestExecute_ErrorsAreHarmless(t *testing.T) {
	c := newCLI(nil)
	c.run(t.Context(), "request", "--id", "\x1b]0;title\a\nsecond")
	if strings.ContainsAny(c.err.String(), "\x1b\a") || !strings.HasPrefix(c.err.String(), "remuda: ") {
		t.Errorf("stderr = %q", &c.err)
	}
}

// `remuda fsm` prints what package statemachine renders, byte for byte.
func TestFSM(t *testing.T) {
	instance, request := statemachine.InstanceMachine(), statemachine.RequestMachine()
	asJSON, err := request.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, instance.Table()},
		{[]string{"--requests"}, request.Table()},
		{[]string{"--format", "mermaid"}, instance.Mermaid()},
		{[]string{"--format=mermaid", "--requests"}, request.Mermaid()},
		{[]string{"--format=json", "--requests"}, string(asJSON)},
		{[]string{"--format=markdown"}, statemachine.Markdown()},
	} {
		c := newCLI(nil)
		if code := c.run(t.Context(), append([]string{"fsm"}, tt.args...)...); code != exitDone || c.out.String() != tt.want {
			t.Errorf("fsm %v: exit code = %d, stdout:\n%s\nwant:\n%s", tt.args, code, &c.out, tt.want)
		}
	}
	c := newCLI(nil)
	if code := c.run(t.Context(), "fsm", "--format=dot"); code != exitUsage || !strings.Contains(c.err.String(), `--format: must be one of table, mermaid, json, markdown, got "dot"`) {
		t.Errorf("fsm --format=dot: exit code = %d, stderr:\n%s", code, &c.err)
	}
}

func TestVersion(t *testing.T) {
	v := buildVersion{Version: "(devel)", Go: "go1.26", OS: "linux", Arch: "arm64"}
	if want := "remuda (devel) go1.26 linux/arm64"; v.String() != want {
		t.Errorf("String() = %q, want %q", v, want)
	}
	v.read(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "true"},
	}})
	if want := "remuda v1.2.3 0123456789ab (modified) go1.26 linux/arm64"; v.String() != want {
		t.Errorf("String() = %q, want %q", v, want)
	}
	c := newCLI(nil)
	c.ends(t, exitDone, "version", "-o", "json")
	var got buildVersion
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil || got != currentVersion() {
		t.Errorf("version -o json = %s, %v, want %+v", &c.out, err, currentVersion())
	}
	if code := c.run(t.Context(), "version", "-o", "wide"); code != exitUsage {
		t.Errorf("version -o wide: exit code = %d, want %d", code, exitUsage)
	}
}

// The shell completes ids of what can still be asked for, released or drained.
func TestComplete_IDs(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := aFleet(t)
		overAndWaiting(t, st)
		for _, tt := range []struct {
			args []string
			want string
		}{
			{[]string{"status", ""}, "i-0aaaaaaaaaaaaaaa1\ni-0bbbbbbbbbbbbbbb2\ni-0ccccccccccccccc3\n77\n80\n:"},
			{[]string{"drain", ""}, "i-0aaaaaaaaaaaaaaa1\ni-0bbbbbbbbbbbbbbb2\ni-0ccccccccccccccc3\n:"},
			{[]string{"drain", "i-1", ""}, ":"},
			{[]string{"release", "--id", ""}, "77\n80\n:"},
		} {
			c := newCLI(st)
			c.ends(t, exitDone, append([]string{"__complete"}, tt.args...)...)
			if got := c.out.String(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("completion of %q = %q, want %q…", tt.args, got, tt.want)
			}
		}
	})
}

// Who asks for JSON gets it also of a failure, once, and not beside what was printed already.
func TestExecute_FailureAsJSON(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := aFleet(t)
		c := newCLI(st)
		c.ends(t, exitNotFound, "status", "request", "9", "-o", "json")
		if want := "{\n  \"error\": \"request 9: not found\",\n  \"exitCode\": 3\n}\n"; c.out.String() != want {
			t.Errorf("stdout = %q, want %q", &c.out, want)
		}
		contains(t, c.err.String(), "remuda: request 9: not found\n")
		c.ends(t, exitNotFound, "status", "request", "9")
		if c.out.Len() > 0 {
			t.Errorf("stdout = %q of who wants no JSON", &c.out)
		}
		c.ends(t, exitNoLeader, "status", "-o", "json")
		var view map[string]any
		if err := json.Unmarshal(c.out.Bytes(), &view); err != nil || view["instances"] == nil {
			t.Errorf("stdout = %s, %v, want the fleet alone", &c.out, err)
		}
	})
}
