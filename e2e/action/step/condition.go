package step

import (
	"fmt"
	"regexp"
	"strings"
)

// Conclusion is how a step, or the job so far, ended.
type Conclusion string

// The conclusions.
const (
	Success   Conclusion = "success"
	Failure   Conclusion = "failure"
	Cancelled Conclusion = "cancelled"
	Skipped   Conclusion = "skipped" // its condition did not hold
)

// token splits a condition.
var token = regexp.MustCompile(`\s*(&&|\|\||!|\(\s*\)|\(|\)|[A-Za-z]+|\S)`)

// holds evaluates a condition made of the status functions, !, &&, || and parentheses
// (Runner.Worker/Expressions). "" is always(), the default of post-if.
func holds(condition string, job Conclusion) (bool, error) {
	text := strings.TrimSpace(condition)
	if m := expression.FindStringSubmatch(text); len(m) > 0 && m[0] == text {
		text = m[1]
	}
	if text == "" {
		return true, nil
	}
	p := &parser{job: job}
	for _, m := range token.FindAllStringSubmatch(text, -1) {
		p.tokens = append(p.tokens, strings.ReplaceAll(m[1], " ", ""))
	}
	value := p.or()
	if p.bad || len(p.tokens) > 0 {
		return false, fmt.Errorf("condition %q: only success(), failure(), cancelled(), always(), !, &&, || and parentheses are known here", condition)
	}
	return value, nil
}

// parser consumes tokens.
type parser struct {
	job    Conclusion
	tokens []string
	bad    bool
}

func (p *parser) accept(want string) bool {
	if len(p.tokens) == 0 || p.tokens[0] != want {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) or() bool {
	value := p.and()
	for p.accept("||") {
		value = p.and() || value
	}
	return value
}

func (p *parser) and() bool {
	value := p.not()
	for p.accept("&&") {
		value = p.not() && value
	}
	return value
}

func (p *parser) not() bool {
	switch {
	case p.accept("!"):
		return !p.not()
	case p.accept("("):
		value := p.or()
		p.bad = !p.accept(")") || p.bad
		return value
	}
	if len(p.tokens) < 2 || p.tokens[1] != "()" {
		p.bad = true
		return false
	}
	name := strings.ToLower(p.tokens[0])
	p.tokens = p.tokens[2:]
	switch name {
	case "always":
		return true
	case string(Success), string(Failure), string(Cancelled):
		return name == string(p.job)
	}
	p.bad = true
	return false
}
