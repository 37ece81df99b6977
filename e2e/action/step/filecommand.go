package step

import (
	"fmt"
	"strings"
)

// pair is an entry of a file such as GITHUB_OUTPUT.
type pair struct{ name, value string }

// parsePairs reads lines of the form NAME=VALUE and NAME<<DELIMITER with the value's lines up to a line
// that is the delimiter (Runner.Worker/FileCommandManager.cs, EnvFileKeyValuePairs). Nothing is trimmed.
// The runner takes an entry without a name before = as one; here that is a mistake like the others.
func parsePairs(text string) ([]pair, error) {
	var all []pair
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		if line == "" {
			continue
		}
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		var p pair
		switch {
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			p = pair{line[:equals], line[equals+1:]}
		case heredoc >= 0:
			delimiter := line[heredoc+len("<<"):]
			if delimiter == "" {
				return all, fmt.Errorf("invalid format %q: delimiter must not be empty", line)
			}
			value, rest, ok := cutLine(text, delimiter)
			if !ok {
				return all, fmt.Errorf("invalid value of %q: no line is the delimiter %q", line[:heredoc], delimiter)
			}
			p, text = pair{line[:heredoc], value}, rest
		default:
			return all, fmt.Errorf("invalid format %q: neither = nor <<", line)
		}
		if p.name == "" {
			return all, fmt.Errorf("invalid format %q: name must not be empty", line)
		}
		all = append(all, p)
	}
	return all, nil
}

// cutLine cuts text at the first line that is delimiter. The newline before it belongs to neither.
func cutLine(text, delimiter string) (before, after string, ok bool) {
	for at := 0; at <= len(text); {
		line, _, more := strings.Cut(text[at:], "\n")
		if line == delimiter {
			end := at + len(line)
			if more {
				end++
			}
			return strings.TrimSuffix(text[:at], "\n"), text[end:], true
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return "", "", false
}
