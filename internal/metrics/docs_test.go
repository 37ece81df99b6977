package metrics

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the generated files instead of comparing them")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const docIntro = `# Metrics

<!-- Generated from package metrics by go generate. Do not edit. -->

A controller serves them at ` + "`/metrics`" + `, also while it waits for the lease. Counters are of one process and begin with it: sum their
rates over all controllers. What is read from the records (instances, candidates, requests) only the leader shows.

*Stability*: **beta** keeps its name and its labels, to which others may be added; **alpha** may change or go with any version, which the
[changelog](changelog/README.md) says. Labels have few values: ` + "`class`" + ` is a configured resource class, and what comes from outside (codes,
zones, versions) is ` + "`other`" + ` beyond a number of values. No id of an instance, a request, a run or a repository is ever one.
Rules for alerts and a dashboard are in [deploy/observability](../deploy/observability).

| metric | type | labels | stability | meaning |
|---|---|---|---|---|
`

// markdown is docs/metrics.md; gathered are the metrics of Go and of the process.
func markdown(gathered []*dto.MetricFamily) string {
	var b strings.Builder
	b.WriteString(docIntro)
	for _, f := range families {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", f.name, f.kind, strings.Join(f.labels, ", "), f.stability, f.help)
	}
	b.WriteString("\n## Of Go and of the process\n\nAs [client_golang](https://pkg.go.dev/github.com/prometheus/client_golang/prometheus/collectors) gives them, on Linux.\n\n" +
		"| metric | type | meaning |\n|---|---|---|\n")
	for _, f := range gathered {
		if !strings.HasPrefix(f.GetName(), "remuda_") {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()), f.GetHelp())
		}
	}
	return b.String()
}

func gather(t *testing.T, m *Metrics) []*dto.MetricFamily {
	t.Helper()
	out, err := m.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGenerated_Docs(t *testing.T) {
	path, got := filepath.Join("..", "..", "docs", "metrics.md"), markdown(gather(t, New(nil)))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the table says; run make gen (-file +table):\n%s", path, diff)
	}
}

// What is gathered is in the documentation with its type and labels, what is documented is gathered, and Prometheus' own linter has
// nothing against it.
func TestFamilies_AreGatheredAsDocumented(t *testing.T) {
	m := exercised()
	documented := map[string]string{}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (\\w+) \\|(?: ([a-z, ]*)\\| (?:alpha|beta) \\|)?").FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = row[2] + " " + strings.TrimSpace(row[3])
	}
	for _, f := range gather(t, m) {
		names := map[string]bool{}
		for _, one := range f.GetMetric() {
			for _, l := range one.GetLabel() {
				names[l.GetName()] = true
			}
		}
		got := strings.ToLower(f.GetType().String()) + " "
		if strings.HasPrefix(f.GetName(), "remuda_") {
			got += strings.Join(slices.Sorted(maps.Keys(names)), ", ")
		}
		want, known := documented[f.GetName()]
		kind, listed, _ := strings.Cut(want, " ")
		if parts := strings.Split(listed, ", "); listed != "" {
			slices.Sort(parts)
			listed = strings.Join(parts, ", ")
		}
		if !known || got != kind+" "+listed {
			t.Errorf("%s is %q, documented as %q", f.GetName(), got, want)
		}
		delete(documented, f.GetName())
	}
	for name := range documented {
		t.Errorf("%s is documented, and nothing gathers it", name)
	}
	problems, err := testutil.GatherAndLint(m.Registry())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
