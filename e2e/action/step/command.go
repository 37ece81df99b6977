package step

import (
	"regexp"
	"strings"
)

// Command is a workflow command on the output of a step: ::name key=value,key=value::data.
type Command struct {
	Name       string
	Properties map[string]string // keys in lower case: they ignore it
	Data       string
}

// commands are those that the runner knows (Runner.Worker/ActionCommandManager.cs); a line that names
// another one is text.
var commands = map[string]bool{
	"stop-commands": true, "set-env": true, "set-output": true, "save-state": true, "add-path": true, "add-mask": true,
	"add-matcher": true, "remove-matcher": true, "debug": true, "warning": true, "error": true, "notice": true,
	"echo": true, "group": true, "endgroup": true,
}

// The order matters: the percent sign comes last (Runner.Common/ActionCommand.cs).
var (
	unescapeData     = unescaper("%0D", "\r", "%0A", "\n", "%25", "%")
	unescapeProperty = unescaper("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
)

func unescaper(pairs ...string) func(string) string {
	return func(s string) string {
		for i := 0; i < len(pairs); i += 2 {
			s = strings.ReplaceAll(s, pairs[i], pairs[i+1])
		}
		return s
	}
}

// v1 is the older form ##[name key=value;key=value]data, anywhere in the line.
var v1 = regexp.MustCompile(`##\[([^\] ]*)([^\]]*)\](.*)`)

// parseCommand returns the command that a line of output is, if it is one.
func parseCommand(line string) (Command, bool) {
	if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "::"); ok {
		if info, data, ok := strings.Cut(rest, "::"); ok {
			name, properties, _ := strings.Cut(info, " ")
			if commands[strings.ToLower(name)] {
				return newCommand(name, properties, ",", unescapeProperty, unescapeData(data)), true
			}
		}
	}
	if m := v1.FindStringSubmatch(line); len(m) > 0 && commands[strings.ToLower(m[1])] {
		unescape := unescaper("%3B", ";", "%0D", "\r", "%0A", "\n", "%5D", "]", "%25", "%")
		return newCommand(m[1], m[2], ";", unescape, unescape(m[3])), true
	}
	return Command{}, false
}

func newCommand(name, properties, separator string, unescape func(string) string, data string) Command {
	c := Command{Name: strings.ToLower(name), Properties: map[string]string{}, Data: data}
	for property := range strings.SplitSeq(strings.TrimSpace(properties), separator) {
		if key, value, ok := strings.Cut(property, "="); ok && key != "" && value != "" {
			c.Properties[strings.ToLower(key)] = unescape(value)
		}
	}
	return c
}
