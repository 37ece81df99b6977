package step

import (
	"bytes"
	"strings"
	"sync"
)

// lines cuts what is written into lines.
type lines struct {
	each func(string)
	mu   sync.Mutex
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.rest = rest
		l.each(strings.TrimSuffix(string(line), "\r"))
	}
}

// end delivers a last line without an end.
func (l *lines) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.each(string(l.rest))
	}
	l.rest = nil
}

// line takes one line of output, from either stream (Runner.Worker/Handlers/OutputManager.cs).
func (s *Step) line(text string) {
	s.commands.Lock()
	defer s.commands.Unlock()
	if s.resume != "" {
		if s.resumes(text) {
			s.resume = ""
		}
		s.log(text)
		return
	}
	if c, ok := parseCommand(text); !ok || !s.obey(c) {
		s.log(text)
	}
}

// resumes reports whether a line is the token that ends stop-commands.
func (s *Step) resumes(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t"), "::")
	name, _, cut := strings.Cut(rest, "::")
	return ok && cut && strings.EqualFold(name, s.resume)
}

func (s *Step) log(text string) {
	text = s.job.masked(text)
	s.set(func(r *Result) { r.Log = append(r.Log, text) })
}

// obey carries a command out (Runner.Worker/ActionCommandManager.cs). false: it is shown as it is.
func (s *Step) obey(c Command) bool {
	switch c.Name {
	case "error", "warning", "notice":
		c.Data = s.job.masked(c.Data)
		s.set(func(r *Result) { r.Annotations = append(r.Annotations, c) })
		s.log("##[" + c.Name + "]" + c.Data)
	case "debug":
		s.log("##[debug]" + c.Data)
	case "group":
		s.log("##[group]" + c.Data)
	case "endgroup":
		s.log("##[endgroup]")
	case "add-mask":
		if strings.TrimSpace(c.Data) == "" {
			s.problem("add-mask of nothing")
			break
		}
		s.job.mask(c.Data)
	case "stop-commands":
		if c.Data == "" || commands[strings.ToLower(c.Data)] || strings.EqualFold(c.Data, "pause-logging") {
			s.problem("stop-commands: token %q is not allowed", c.Data)
			s.fail()
			break
		}
		s.resume = c.Data
		return false
	case "set-output", "save-state":
		s.problem("%s is deprecated", c.Name)
		s.set(func(r *Result) {
			if c.Name == "set-output" {
				r.Outputs[c.Properties["name"]] = c.Data
			} else {
				s.state[c.Properties["name"]] = c.Data
			}
		})
	case "set-env", "add-path": // disabled, and fail the step
		s.problem("%s is disabled", c.Name)
		s.fail()
	default: // echo, matchers: of no consequence here
	}
	return true
}
