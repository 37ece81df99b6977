package metrics

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// Watch has the state of a controller read at each scrape. It is called once.
func (m *Metrics) Watch(controller interface {
	Summary() (reconciler.Summary, bool)
}) {
	descs := map[string]*prometheus.Desc{}
	for _, f := range families {
		if slices.Contains(scraped, f.name) {
			descs[f.name] = prometheus.NewDesc(f.name, f.help, f.labels, nil)
		}
	}
	m.registry.MustRegister(state{m, controller.Summary, descs})
}

// state collects what a controller knows.
type state struct {
	m       *Metrics
	summary func() (reconciler.Summary, bool)
	descs   map[string]*prometheus.Desc
}

// Describe implements prometheus.Collector.
func (s state) Describe(out chan<- *prometheus.Desc) {
	for _, d := range s.descs {
		out <- d
	}
	for _, name := range ofQueues {
		s.m.gauges[name].Describe(out)
	}
}

// Collect implements prometheus.Collector. Of a controller that waits there is nothing but that.
func (s state) Collect(out chan<- prometheus.Metric) {
	send := func(name string, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(s.descs[name], prometheus.GaugeValue, value, labels...)
	}
	sum, known := s.summary()
	send("remuda_leader", one(sum.Trusted))
	if sum.Term == 0 {
		return
	}
	send("remuda_leader_term", float64(sum.Term))
	for _, name := range ofQueues { // of a term that is over they would stand still
		s.m.gauges[name].Collect(out)
	}
	if !known {
		return
	}
	send("remuda_last_scan_timestamp_seconds", float64(sum.Scanned.UnixMilli())/1000)
	if !sum.Swept.IsZero() {
		send("remuda_last_sweep_timestamp_seconds", float64(sum.Swept.UnixMilli())/1000)
	}
	send("remuda_breaker_open", one(sum.Silence), "agents")
	send("remuda_breaker_open", one(sum.Unlisted), "listing")
	for version, n := range most(sum.Agents, maxVersions) {
		send("remuda_agents", float64(n), version)
	}
	s.counts(sum, send)
}

// counts sends what is counted by class, with a zero for what there is none of.
func (s state) counts(sum reconciler.Summary, send func(string, float64, ...string)) {
	type kind struct{ class, usage string }
	instances, candidates := map[reconciler.InstanceKind]int{}, map[kind]int{}
	waiting, oldest := map[reconciler.WaitKind]int{}, map[string]time.Duration{}
	for _, class := range *s.m.classes.Load() {
		waiting[reconciler.WaitKind{Class: class, Reason: reconciler.ReasonLooking}], oldest[class] = 0, 0
		for _, usage := range []string{store.Spot, store.OnDemand} {
			candidates[kind{class, usage}] = 0
			for _, state := range statemachine.States() {
				instances[reconciler.InstanceKind{State: state, Class: class, Usage: usage}] = 0
			}
		}
	}
	for k, n := range sum.Instances {
		instances[reconciler.InstanceKind{State: k.State, Class: s.m.class(k.Class), Usage: usage(k.Usage)}] += n
	}
	for k, n := range sum.Candidates {
		candidates[kind{s.m.class(k.ResourceClass), usage(k.UsageClass)}] += n
	}
	for k, w := range sum.Waiting {
		class := s.m.class(k.Class)
		waiting[reconciler.WaitKind{Class: class, Reason: s.m.limits.reasons.of(cmp.Or(k.Reason, reconciler.ReasonLooking), maxReasons)}] += w.Count
		oldest[class] = max(oldest[class], w.Oldest)
	}
	for k, n := range instances {
		send("remuda_instances", float64(n), string(k.State), k.Class, k.Usage)
	}
	for k, n := range candidates {
		send("remuda_pool_candidates", float64(n), k.class, k.usage)
	}
	for class, f := range sum.Floors {
		send("remuda_floor_wanted", float64(f.Wanted), s.m.class(class))
		send("remuda_floor_idle", float64(f.Have), s.m.class(class))
	}
	if b := sum.Budget; b.Monthly > 0 {
		send("remuda_budget_dollars", b.Monthly, "monthly")
		send("remuda_budget_dollars", b.Spent, "spent")
		send("remuda_budget_off", one(b.Off != ""))
		since := 0.0
		if !b.UnknownSince.IsZero() {
			since = float64(b.UnknownSince.Time.Unix())
		}
		send("remuda_budget_unknown_timestamp_seconds", since)
	}
	send("remuda_listeners_ahead", float64(sum.Listening))
	for k, n := range waiting {
		send("remuda_requests_waiting", float64(n), k.Class, k.Reason)
	}
	for class, wait := range oldest {
		send("remuda_request_oldest_wait_seconds", seconds(wait), class)
	}
}

// most returns the n values that count most, the rest as other. The values are anyone's words.
func most(counts map[string]int, n int) map[string]int {
	clean := map[string]int{}
	for value, count := range counts {
		clean[text(value)] += count
	}
	values := slices.SortedFunc(maps.Keys(clean), func(a, b string) int { return cmp.Or(cmp.Compare(clean[b], clean[a]), cmp.Compare(a, b)) })
	out := map[string]int{}
	for i, value := range values {
		if i >= n {
			value = other
		}
		out[value] += clean[values[i]]
	}
	return out
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
