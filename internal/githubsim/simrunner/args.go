//go:build unix

package simrunner

import (
	"slices"
	"strings"
)

// inputPrefix begins the names of variables that stand for arguments
// (src/Runner.Listener/CommandSettings.cs).
const inputPrefix = "ACTIONS_RUNNER_INPUT_"

// genericOptions are valid for every command, validOptions for their own (same source).
var (
	genericOptions = []string{"help", "version", "commit", "check"}
	validOptions   = map[string][]string{
		"configure": {
			"disableupdate", "ephemeral", "generateserviceconfig", "replace", "runasservice", "unattended",
			"no-default-labels", "auth", "labels", "monitorsocketaddress", "name", "pat", "runnergroup",
			"token", "url", "username", "windowslogonaccount", "windowslogonpassword", "work",
		},
		"remove": {"token", "pat", "local"},
		"run":    {"once", "jitconfig", "startuptype"},
		"warmup": {},
	}
)

// commandLine is a parsed command line: commands, then flags and arguments with a value. Names are
// in lower case, since the real program ignores case.
type commandLine struct {
	commands []string
	flags    map[string]bool
	args     map[string]string
	inputs   map[string]string // from the environment
}

// parse follows src/Runner.Common/CommandLineParser.cs: words before the first --name are commands;
// a --name is an argument if a word follows that does not begin with "-", else a flag; of an argument
// given twice the first wins.
func parse(words, env []string) *commandLine {
	c := &commandLine{flags: map[string]bool{}, args: map[string]string{}, inputs: map[string]string{}}
	scope, options := "", false
	for _, w := range words {
		options = options || strings.HasPrefix(w, "--")
		switch {
		case w == "/?":
			c.flags["help"] = true
		case !options:
			c.commands = append(c.commands, strings.TrimSpace(w))
		case strings.HasPrefix(w, "--") && len(w) > 2:
			if scope != "" {
				c.flags[scope] = true
			}
			scope = strings.ToLower(strings.TrimSpace(w[2:]))
		case !strings.HasPrefix(w, "-") && scope != "":
			if _, taken := c.args[scope]; !taken {
				c.args[scope] = w
				scope = ""
			}
		}
	}
	if scope != "" {
		c.flags[scope] = true
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if input, ok := cutPrefixFold(name, inputPrefix); ok {
			if value = strings.TrimSpace(value); value != "" {
				c.inputs[strings.ToLower(input)] = value
			}
		}
	}
	return c
}

func (c *commandLine) is(command string) bool {
	return len(c.commands) > 0 && strings.EqualFold(c.commands[0], command)
}

// command returns the first word if it is a known command.
func (c *commandLine) command() string {
	for name := range validOptions {
		if c.is(name) {
			return name
		}
	}
	return ""
}

// arg returns the value of an argument; the command line wins over the environment.
func (c *commandLine) arg(name string) string {
	if v, ok := c.args[name]; ok {
		return v
	}
	return c.inputs[name]
}

func (c *commandLine) flag(name string) bool {
	return c.flags[name] || strings.EqualFold(c.inputs[name], "true")
}

// unknown returns the words that the real program would complain of (CommandSettings.cs, Validate).
func (c *commandLine) unknown() []string {
	var out []string
	for _, name := range c.commands {
		if _, ok := validOptions[strings.ToLower(name)]; !ok {
			out = append(out, name)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, name := range c.commands {
		valid := validOptions[strings.ToLower(name)]
		for f := range c.flags {
			if !slices.Contains(valid, f) && !slices.Contains(genericOptions, f) {
				out = append(out, f)
			}
		}
		for a := range c.args {
			if !slices.Contains(valid, a) {
				out = append(out, a)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// withoutInputs is the environment that the program's own children get (CommandSettings.cs removes
// the inputs once they are read).
func withoutInputs(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		_, ok := cutPrefixFold(e, inputPrefix)
		return ok
	})
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}
