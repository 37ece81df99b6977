package main

import (
	"fmt"
	"strings"

	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/store"
)

// auditView is what `remuda audit -o json` prints. Its shape is documented in docs/cli.md.
type auditView struct {
	Now         store.Time        `json:"now"` // of the second look
	Instances   int               `json:"instances"`
	Requests    int               `json:"requests"`
	Machines    int               `json:"machines"`
	Runners     int               `json:"runners"`
	NotCompared []partView        `json:"notCompared"`
	Violations  []audit.Violation `json:"violations"`
}

// partView is a part of the installation that was not compared.
type partView struct {
	Part   string `json:"part"` // fleet, github or resources
	Reason string `json:"reason"`
	Failed bool   `json:"failed"` // it should have been
}

func newAuditView(s *audit.Snapshot, found []audit.Violation, notCompared []partView) auditView {
	return auditView{
		Now: store.At(s.At), Instances: len(s.Instances), Requests: len(s.Runs), Machines: len(s.Machines), Runners: len(s.Runners),
		NotCompared: append([]partView{}, notCompared...), Violations: append([]audit.Violation{}, found...),
	}
}

// renderAudit writes a view for people: nothing is cut, whatever the width.
func renderAudit(v auditView) string {
	var b strings.Builder
	if len(v.Violations) > 0 {
		t := &table{header: []string{"INVARIANT", "RESOURCE", "PROBLEM", "DO"}}
		for _, found := range v.Violations {
			t.add(fmt.Sprintf("%d %s", found.ID, found.Invariant), found.Resource, found.Problem, found.Advice)
		}
		b.WriteString(t.String(0) + "\n")
	}
	for _, p := range v.NotCompared {
		fmt.Fprintf(&b, "not compared: %s: %s\n", p.Part, line(p.Reason, maxCell))
	}
	fmt.Fprintf(&b, "%s, %s, %s, %s: %s\n", plural(v.Instances, "instance"), plural(v.Requests, "request"),
		plural(v.Machines, "machine"), plural(v.Runners, "runner"), plural(len(v.Violations), "violation"))
	return b.String()
}
