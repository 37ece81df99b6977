package metrics

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

// Metrics are all metrics of one process. It is a reconciler.Recorder and a provider of workqueue metrics, and is told of the
// calls of GitHub and AWS. Its methods are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	classes  atomic.Pointer[[]string]
	limits   limits

	counters   map[string]*prometheus.CounterVec
	histograms map[string]*prometheus.HistogramVec
	gauges     map[string]*prometheus.GaugeVec
}

// scraped are the gauges that are read from the controller at a scrape; all others are set when they change.
var scraped = []string{
	"remuda_leader", "remuda_leader_term", "remuda_last_scan_timestamp_seconds", "remuda_last_sweep_timestamp_seconds", "remuda_breaker_open",
	"remuda_instances", "remuda_agents", "remuda_pool_candidates", "remuda_listeners_ahead", "remuda_floor_wanted", "remuda_floor_idle",
	"remuda_budget_dollars", "remuda_budget_off", "remuda_budget_unknown_timestamp_seconds",
	"remuda_requests_waiting", "remuda_request_oldest_wait_seconds",
}

// ofQueues are the gauges of the queues, which only a leader has.
var ofQueues = []string{
	"remuda_workqueue_depth", "remuda_workqueue_unfinished_work_seconds", "remuda_workqueue_longest_running_processor_seconds",
}

// New returns metrics in a registry of their own. classes are the configured ones: any other is counted as "other".
func New(classes []string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		counters: map[string]*prometheus.CounterVec{}, histograms: map[string]*prometheus.HistogramVec{}, gauges: map[string]*prometheus.GaugeVec{},
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, f := range families {
		switch {
		case f.kind == counter:
			m.counters[f.name] = prometheus.NewCounterVec(prometheus.CounterOpts{Name: f.name, Help: f.help}, f.labels)
			m.registry.MustRegister(m.counters[f.name])
		case f.kind == histogram:
			m.histograms[f.name] = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: f.name, Help: f.help, Buckets: f.buckets}, f.labels)
			m.registry.MustRegister(m.histograms[f.name])
		case !slices.Contains(scraped, f.name):
			m.gauges[f.name] = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: f.name, Help: f.help}, f.labels)
			if !slices.Contains(ofQueues, f.name) {
				m.registry.MustRegister(m.gauges[f.name])
			}
		}
	}
	for _, code := range append(slices.Clone(stateReasons), other) {
		m.count("remuda_instance_state_reasons_total", code).Add(0)
	}
	m.SetClasses(classes)
	return m
}

// SetClasses says which classes are configured from now on, and shows what may be counted before it is: the first of its kind
// would be no increase to Prometheus.
func (m *Metrics) SetClasses(classes []string) {
	m.classes.Store(&classes)
	for _, class := range append(slices.Clone(classes), other) {
		for _, reason := range reconciler.FailReasons() {
			m.count("remuda_requests_failed_total", class, reason)
		}
		m.count("remuda_seats_served_total", class, "warm")
		m.count("remuda_seats_served_total", class, "cold")
		m.count("remuda_instance_idle_seconds_total", class)
	}
	for _, class := range classes {
		for _, usage := range []string{store.Spot, store.OnDemand} {
			for _, name := range []string{"remuda_launches_total", "remuda_launch_instances_asked_total", "remuda_launch_instances_came_total"} {
				m.count(name, class, usage)
			}
		}
	}
	m.count("remuda_orphans_total", reconciler.OrphanMachine)
	m.count("remuda_orphans_total", reconciler.OrphanRunner)
}

func (m *Metrics) count(name string, labels ...string) prometheus.Counter {
	return m.counters[name].WithLabelValues(labels...)
}

func (m *Metrics) observe(name string, labels ...string) prometheus.Observer {
	return m.histograms[name].WithLabelValues(labels...)
}

func (m *Metrics) set(name string, to float64, labels ...string) {
	m.gauges[name].WithLabelValues(labels...).Set(to)
}

// Registry is where all of them are registered.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// maxScrapes is how many scrapes are answered at once: two Prometheus servers side by side, and someone who looks.
const maxScrapes = 4

// Handler serves them. What cannot be gathered is logged and left out.
func (m *Metrics) Handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: failures{log}, MaxRequestsInFlight: maxScrapes,
	})
}

// failures logs what promhttp prints.
type failures struct{ log *slog.Logger }

func (f failures) Println(v ...any) {
	f.log.Warn("metrics could not be gathered or sent", logkey.Error, fmt.Sprint(v...))
}
