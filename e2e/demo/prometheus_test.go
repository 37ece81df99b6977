package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/e2e/program"
)

// every is the time between two scrapes, and between two looks at the rules.
const every = "1s"

// prometheus is a server that scrapes controllers and looks at the rules of deploy/observability.
type prometheus struct {
	program.T
	root  string // URL
	began time.Time
}

// scrape starts a server for controllers by their addresses.
func scrape(t testing.TB, targets ...string) *prometheus {
	t.Helper()
	p := &prometheus{T: program.T{TB: t}, began: time.Now()}
	rules, err := filepath.Abs(filepath.Join(observability, "alerts.yaml"))
	p.Check(err)
	config, err := yaml.Marshal(map[string]any{
		"global":         map[string]string{"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
		"rule_files":     []string{rules},
		"scrape_configs": []any{map[string]any{"job_name": "remuda", "static_configs": []any{map[string]any{"targets": targets}}}},
	})
	p.Check(err)
	dir := t.TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	p.Check(os.WriteFile(file, config, 0o600))
	d := program.Start(t, program.Command{Name: "prometheus", Program: "prometheus", Dir: dir, Env: os.Environ(), Patience: patience, Args: []string{
		"--config.file=" + file, "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0",
	}})
	p.root = "http://" + d.Says(`msg="Listening on" address=(\S+)`)
	d.Says("Server is ready")
	return p
}

// sample is one of a query's answer.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"` // seconds since 1970, and a number in quotes
}

// ask has an expression evaluated now.
func (p *prometheus) ask(expr string, data any) error {
	defer http.DefaultClient.CloseIdleConnections()
	resp, err := http.Get(p.root + "/api/v1/query?" + url.Values{"query": {expr}}.Encode()) //nolint:noctx // it ends with the server, which the test ends
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer := struct {
		Status, Error string
		Data          any
	}{Data: data}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return fmt.Errorf("query %s: %s: %w", expr, resp.Status, err)
	}
	if answer.Status != "success" {
		return fmt.Errorf("query %s: %s", expr, answer.Error)
	}
	return nil
}

// query returns the numbers that an expression has now; NaN, which says nothing, is none.
func (p *prometheus) query(expr string) (values []float64) {
	p.Helper()
	var answer struct{ Result []sample }
	p.Check(p.ask(expr, &answer))
	for _, s := range answer.Result {
		text, _ := s.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		p.Check(err)
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// day returns the most that each series of an expression came to since the server began.
func (p *prometheus) day(expr string) []float64 {
	p.Helper()
	return p.query(fmt.Sprintf("max_over_time((%s)[%s:%s])", expr, p.since(), every))
}

// since is the time since the server began, as PromQL has it.
func (p *prometheus) since() string {
	return fmt.Sprintf("%.0fs", math.Ceil(time.Since(p.began).Seconds()))
}

// until waits until an expression is true of something.
func (p *prometheus) until(expr string) {
	p.Helper()
	p.Check(program.Until(patience, expr, func() bool { return len(p.query(expr)) > 0 }))
}
