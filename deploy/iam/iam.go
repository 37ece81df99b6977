// Package iam holds the permissions that each part of remuda needs in an AWS account, as IAM policy
// documents: nothing is allowed that no call needs, and everything that IAM can fence is fenced.
//
// The documents are the .json files of this folder, with placeholders such as ${Account}. Render fills
// them in. What IAM cannot fence is in docs/security.md.
package iam

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/remuda-run/remuda/internal/lazyregexp"
)

// Kind names a document.
type Kind string

// The documents. Those with Trust in their name say who may take a role, the others what it may do.
const (
	Agent           Kind = "agent"            // the role of instances
	AgentTrust      Kind = "agent-trust"      // EC2 alone: it names the session after the instance
	Controller      Kind = "controller"       // remuda controller
	ControllerTrust Kind = "controller-trust" // an instance of EC2, or a task of ECS
	Doctor          Kind = "doctor"           // what remuda doctor asks beside what others may
	Host            Kind = "host"             // what the stack's host may beside the controller: fetch the program, keep its log
	Init            Kind = "init"             // anyone who runs remuda init
	Operator        Kind = "operator"         // anyone who runs remuda status, remuda drain and remuda logs
	Uninstall       Kind = "uninstall"        // anyone who runs remuda uninstall
	Workflow        Kind = "workflow"         // jobs that request and release
	WorkflowSession Kind = "workflow-session" // narrows a session of Workflow to one run; a session policy
	WorkflowTrust   Kind = "workflow-trust"   // the workflows of one repository
)

// Kinds lists all documents.
func Kinds() []Kind {
	return []Kind{Agent, AgentTrust, Controller, ControllerTrust, Doctor, Host, Init, Operator, Uninstall, Workflow, WorkflowSession, WorkflowTrust}
}

// Limit returns how many characters IAM accepts, not counting white space (IAM User Guide, "IAM and AWS
// STS quotas"): 6,144 for a managed policy, 2,048 for a trust policy and for a session policy.
func (k Kind) Limit() int {
	if slices.Contains([]Kind{AgentTrust, ControllerTrust, WorkflowTrust, WorkflowSession}, k) {
		return 2048
	}
	return 6144
}

//go:embed *.json
var documents embed.FS

// Template returns the document with its placeholders.
func Template(k Kind) ([]byte, error) {
	text, err := documents.ReadFile(string(k) + ".json")
	if err != nil {
		return nil, fmt.Errorf("find policy: no document is called %q, want one of %q", k, Kinds())
	}
	return text, nil
}

var placeholder = lazyregexp.New(`\$\{([A-Za-z]+)\}`) // IAM's own variables have a colon: ${aws:userid}

// Render returns the document for one installation. It returns an error that names every value that is
// missing or malformed, or if the document would be longer than IAM accepts.
func Render(k Kind, v Values) ([]byte, error) {
	template, err := Template(k)
	if err != nil {
		return nil, err
	}
	v = v.withDefaults()
	errs := []error{v.check()}
	var pairs []string
	for _, found := range placeholder().FindAllStringSubmatch(string(template), -1) {
		text, name := found[0], found[1]
		if slices.Contains(pairs, text) {
			continue
		}
		value, err := v.get(name)
		if list, ok := v.list(name); ok { // stands in quotes, in the place of one element
			value, err = strings.Join(list, `", "`), nil
		}
		errs = append(errs, err)
		pairs = append(pairs, text, value)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("render policy %s:\n%w", k, err)
	}
	text := strings.NewReplacer(pairs...).Replace(string(template))
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("render policy %s: the result is no JSON", k)
	}
	if n := length(text); n > k.Limit() {
		return nil, fmt.Errorf("render policy %s: %d characters without white space, IAM accepts %d: name fewer subnets and security groups", k, n, k.Limit())
	}
	return []byte(text), nil
}

// length counts as IAM does. No value contains white space, so none inside a string is lost.
func length(text string) int { return len(strings.Join(strings.Fields(text), "")) }
