package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/e2e/program"
	"github.com/remuda-run/remuda/e2e/story"
)

const observability = "../../deploy/observability"

// flat are the queries of the dashboard that may stay at zero throughout the day, and why.
var flat = map[string]string{
	"Circuit breakers open":       "one opens when many machines are lost at once",
	"Orphans ended in 1 h":        "nothing is made behind the controller's back",
	"Keys that wait for a worker": "a key that is due rarely waits at the instant of a scrape",
}

// quiet are the alerts that the day does not provoke, and why. Their stories in alerts_test.yaml do: see the tests there.
var quiet = map[string]string{
	"RemudaControllerSilent":  "the leader would have to be stuck for a quarter of an hour",
	"RemudaRequestsWait":      "a request would have to wait for ten minutes",
	"RemudaBreakerOpen":       "most of a large fleet would have to go silent at once",
	"RemudaOrphanFound":       "a machine would have to be launched behind the controller's back",
	"RemudaLaunchBudgetSpent": "launch after launch would have to come to nothing",

	"RemudaConfigurationRefused": "a configuration would have to be refused for ten minutes",
}

// noLeader is the alert of the day's end.
const noLeader = "RemudaNoLeader"

// selector is what an expression reads.
var selector = regexp.MustCompile(`remuda_\w+(?:{[^}]*})?`)

// A Prometheus looks at the demonstration's day, and at what goes wrong after it: every query of the dashboard has an answer,
// the alerts that the day provokes fire, and what the others read is there.
func TestPrometheus_SeesTheDay(t *testing.T) {
	program.Long(t, "lives through the demonstration's day")
	if _, err := exec.LookPath("prometheus"); err != nil {
		t.Skipf("no query is asked: %v", err)
	}
	d := beginDay(t)
	d.Check(d.story.Tell(t.Context(), story.Full[:len(story.Full)-1]))
	d.fail()
	d.Check(d.story.Tell(t.Context(), []story.Step{story.Drained}))

	for where, expr := range dashboard(d) {
		title, _, _ := strings.Cut(where, " #")
		values := d.seen.day(strings.NewReplacer("$__rate_interval", d.seen.since(), "$job", ".*").Replace(expr))
		if len(values) == 0 || flat[title] == "" && slices.Max(values) <= 0 {
			t.Errorf("%s: %s had the values %v, want one above 0", where, expr, values)
		}
	}
	rules := alerts(d)
	for name, expr := range rules {
		if quiet[name] == "" && name != noLeader && len(d.seen.day(`ALERTS{alertname="`+name+`", alertstate="firing"}`)) == 0 {
			t.Errorf("%s did not fire", name)
		}
		for _, read := range selector.FindAllString(expr, -1) {
			if len(d.seen.day(read)) == 0 {
				t.Errorf("%s: nothing is there to read for %s", name, read)
			}
		}
	}
	d.end()
	d.outdated.End(syscall.SIGTERM)
	d.seen.until(rules[noLeader])
	d.seen.until(`ALERTS{alertname="` + noLeader + `"}`)
}

// alerts returns the expressions of the rules by their names.
func alerts(d *day) map[string]string {
	d.Helper()
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	text, err := os.ReadFile(filepath.Join(observability, "alerts.yaml"))
	d.Check(err)
	d.Check(yaml.Unmarshal(text, &file))
	rules := map[string]string{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			rules[r.Alert] = r.Expr
		}
	}
	for name := range quiet {
		if rules[name] == "" {
			d.Errorf("%s is no alert", name)
		}
	}
	return rules
}

// dashboard returns the queries by the titles of their panels and their numbers.
func dashboard(d *day) map[string]string {
	d.Helper()
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	text, err := os.ReadFile(filepath.Join(observability, "dashboard.json"))
	d.Check(err)
	d.Check(json.Unmarshal(text, &board))
	queries := map[string]string{}
	for _, p := range board.Panels {
		for i, q := range p.Targets {
			queries[fmt.Sprintf("%s #%d", p.Title, i)] = q.Expr
		}
	}
	if len(queries) < 20 {
		d.Fatalf("%d queries: some are not found", len(queries))
	}
	return queries
}
