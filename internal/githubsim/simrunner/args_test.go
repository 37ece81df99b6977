//go:build unix

package simrunner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse_AsTheRealParser(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		commands    []string
		flags       []string
		args        map[string]string
	}{
		{"Empty", "", nil, nil, nil},
		{"CommandFlagArgument", "configure --unattended --url u", []string{"configure"}, []string{"unattended"}, map[string]string{"url": "u"}},
		{"CaseOfNames", "RUN --JitConfig Abc", []string{"RUN"}, nil, map[string]string{"jitconfig": "Abc"}},
		{"FirstWins", "run --jitconfig a --jitconfig b", []string{"run"}, []string{"jitconfig"}, map[string]string{"jitconfig": "a"}},
		{"ValueWithDashIsNone", "configure --name -x", []string{"configure"}, []string{"name"}, nil},
		{"WordsAfterOptionsAreNoCommands", "run --once go away", []string{"run"}, nil, map[string]string{"once": "go"}},
		{"LastIsAFlag", "remove --local", []string{"remove"}, []string{"local"}, nil},
		{"DoubleDash", "run -- --once", []string{"run"}, []string{"once"}, nil},
		{"Question", "/?", nil, []string{"help"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := parse(strings.Fields(tt.words), nil)
			flags := map[string]bool{}
			for _, f := range tt.flags {
				flags[f] = true
			}
			if tt.args == nil {
				tt.args = map[string]string{}
			}
			if diff := cmp.Diff(tt.commands, c.commands) + cmp.Diff(flags, c.flags) + cmp.Diff(tt.args, c.args); diff != "" {
				t.Errorf("parse(%s) (-want +got):\n%s", tt.words, diff)
			}
		})
	}
}

func TestInputs_CommandLineWins(t *testing.T) {
	env := []string{"actions_runner_input_Token= env ", "ACTIONS_RUNNER_INPUT_NAME=env", "ACTIONS_RUNNER_INPUT_EPHEMERAL=True", "ACTIONS_RUNNER_INPUT_URL=", "OTHER=1"}
	c := parse([]string{"configure", "--name", "line"}, env)
	for name, want := range map[string]string{"token": "env", "name": "line", "url": ""} {
		if got := c.arg(name); got != want {
			t.Errorf("arg(%s) = %q, want %q", name, got, want)
		}
	}
	if !c.flag("ephemeral") || c.flag("replace") {
		t.Errorf("flag(ephemeral), flag(replace) = %v, %v, want true, false", c.flag("ephemeral"), c.flag("replace"))
	}
	if diff := cmp.Diff([]string{"OTHER=1"}, withoutInputs(env)); diff != "" {
		t.Errorf("withoutInputs() (-want +got):\n%s", diff)
	}
}

// FuzzParse: no command line makes the parser fail, and no value is made up.
func FuzzParse(f *testing.F) {
	f.Add("configure\x00--unattended\x00--url\x00u", "ACTIONS_RUNNER_INPUT_TOKEN=t")
	f.Add("--\x00--\x00-\x00---", "=")
	f.Fuzz(func(t *testing.T, line, variable string) {
		words := strings.Split(line, "\x00")
		c := parse(words, []string{variable})
		for name, value := range c.args {
			if name != strings.ToLower(name) || !strings.Contains(line, value) {
				t.Errorf("parse(%q) made up %q=%q", words, name, value)
			}
		}
		c.unknown()
		c.command()
	})
}
