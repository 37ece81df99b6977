package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/remuda-run/remuda/internal/config"
)

// What the controller of the program does shows in its metrics: whether it leads, its queues, and what its calls of GitHub and
// AWS come to.
func TestBuild_IsCounted(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(elsewhere.Close)
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", elsewhere.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKID")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
	dir := t.TempDir()
	for store, want := range map[string]map[string]float64{
		"sqlite://" + filepath.Join(dir, "remuda.db"): {
			"remuda_leader": 1, "remuda_github_state refused": 1, "remuda_github_requests_total /actions/runners 4xx": 1,
			"remuda_workqueue_adds_total housekeeping": 1,
		},
		"dynamodb://remuda?region=eu-west-1": {"remuda_leader": 0, "remuda_aws_requests_total denied GetItem DynamoDB": 1},
	} {
		c, cfg := newCLI(nil), config.Default()
		c.files["/token"] = ghSecret
		cfg.Store, cfg.Pool, cfg.Fleet = store, "sqlite://"+filepath.Join(dir, "pool.db"), "process://"+filepath.Join(dir, "instances")
		cfg.GitHub.URL, cfg.GitHub.TokenFile = elsewhere.URL+"/octo/repo", "/token"
		b, err := c.build(t.Context(), cfg, "", slog.New(slog.DiscardHandler), nil)
		if err != nil {
			t.Fatal(err)
		}
		w, err := c.openWeb(config.HTTP{Listen: "127.0.0.1:0"}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.run(ctx, c.app, w, nil) }()
		for deadline := time.Now().Add(time.Minute); !shows(t, b, want); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("%s: metrics do not come to show %v", store, want)
				break
			}
		}
		if text := scrape(t, w.address()); !strings.Contains(text, "\nremuda_leader ") {
			t.Errorf("/metrics answers %q", text)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := b.close(); err != nil {
			t.Error(err)
		}
	}
}

// scrape asks as Prometheus does.
func scrape(t *testing.T, address string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %s, %v", resp.Status, err)
	}
	return string(body)
}

// shows reports whether each metric, by its name and the values of its labels, is at least what is wanted; of 0, that it is there.
func shows(t *testing.T, b *backends, want map[string]float64) bool {
	t.Helper()
	families, err := b.metrics.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			have[nameOf(f, m)] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	for name, least := range want {
		if got, ok := have[name]; !ok || got < least {
			return false
		}
	}
	return true
}

func nameOf(f *dto.MetricFamily, m *dto.Metric) string {
	name := f.GetName()
	for _, l := range m.GetLabel() {
		name += " " + l.GetValue()
	}
	return name
}
