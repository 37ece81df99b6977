package observability_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// rule is an alerting rule of Prometheus.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Annotations map[string]string `yaml:"annotations"`
}

func alerts(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "alerts.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	return file.Groups[0].Rules
}

// panel is one of a dashboard of Grafana.
type panel struct {
	ID      int    `json:"id"`
	Title   string `json:"title"`
	Type    string `json:"type"`
	Targets []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
}

func panels(t *testing.T) []panel {
	t.Helper()
	var dashboard struct {
		Panels []panel `json:"panels"`
	}
	if err := json.Unmarshal([]byte(read(t, "dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	return dashboard.Panels
}

// inGrafana are the variables of the dashboard, and what they may stand for.
var inGrafana = strings.NewReplacer("$__rate_interval", "5m", "$job", ".*")

// queries returns every query of the dashboard by its panel and place.
func queries(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range panels(t) {
		for i, q := range p.Targets {
			out[fmt.Sprintf("%s %d", p.Title, i)] = inGrafana.Replace(q.Expr)
		}
	}
	return out
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	documented = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+)")
	named      = regexp.MustCompile(`\b(?:remuda|process|go)_\w+`)
	ofSeries   = regexp.MustCompile(`_(?:bucket|sum|count)$`)
)

// Every metric that is asked for is documented, a histogram by one of its series.
func TestQueries_AskForDocumentedMetrics(t *testing.T) {
	kinds := map[string]string{}
	for _, row := range documented.FindAllStringSubmatch(read(t, "../../docs/metrics.md"), -1) {
		kinds[row[1]] = row[2]
	}
	all := queries(t)
	for _, r := range alerts(t) {
		all[r.Alert] = r.Expr
	}
	if len(all) < 20 {
		t.Fatalf("%d queries: some are not found", len(all))
	}
	for where, expr := range all {
		names := named.FindAllString(expr, -1)
		if len(names) == 0 {
			t.Errorf("%s: no metric in %s", where, expr)
		}
		for _, name := range names {
			kind := kinds[name]
			if base := ofSeries.ReplaceAllString(name, ""); kinds[base] == "histogram" && base != name {
				kind = "series"
			}
			if kind == "" || kind == "histogram" {
				t.Errorf("%s: %s is %q in docs/metrics.md", where, name, kind)
			}
		}
	}
}

// Each alert says what is the matter, and leads to a section of docs/operating.md that says what to do.
func TestAlerts_LeadToTheirRunbook(t *testing.T) {
	const at = "https://github.com/remuda-run/remuda/blob/main/docs/operating.md#"
	sections := map[string]bool{}
	for line := range strings.Lines(read(t, "../../docs/operating.md")) {
		if title, ok := strings.CutPrefix(strings.TrimSpace(line), "### "); ok {
			sections[strings.NewReplacer(" ", "-", "'", "").Replace(strings.ToLower(title))] = true
		}
	}
	for _, r := range alerts(t) {
		anchor, ok := strings.CutPrefix(r.Annotations["runbook_url"], at)
		if !ok || !sections[anchor] || r.Annotations["summary"] == "" {
			t.Errorf("%s: annotations %v lead to no section of docs/operating.md", r.Alert, r.Annotations)
		}
		delete(sections, anchor)
		if !strings.Contains(read(t, "alerts_test.yaml"), "alertname: "+r.Alert+"\n        exp_alerts:") {
			t.Errorf("%s: no story in alerts_test.yaml provokes it", r.Alert)
		}
	}
}

func TestDashboard_PanelsAreTold(t *testing.T) {
	var ids []int
	for _, p := range panels(t) {
		if p.Title == "" || p.Type != "row" && len(p.Targets) == 0 || slices.Contains(ids, p.ID) {
			t.Errorf("panel %d %q: want a title, queries and an id of its own", p.ID, p.Title)
		}
		ids = append(ids, p.ID)
	}
}

// Prometheus takes the rules, they fire as their stories tell, and it takes every query of the dashboard.
func TestPromtool_TakesThem(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skipf("Prometheus is not asked: %v", err)
	}
	type asRule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var asked []asRule
	for _, expr := range queries(t) {
		asked = append(asked, asRule{fmt.Sprintf("query:%d", len(asked)), expr})
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": asked}}})
	if err != nil {
		t.Fatal(err)
	}
	dashboard := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(dashboard, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml", dashboard}, {"test", "rules", "alerts_test.yaml"}} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
