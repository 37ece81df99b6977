package metrics

import "k8s.io/client-go/util/workqueue"

var _ workqueue.MetricsProvider = (*Metrics)(nil)

// NewDepthMetric implements workqueue.MetricsProvider, as do the others below. A queue is made anew in each term, and its gauges
// are shown while that lasts.
func (m *Metrics) NewDepthMetric(queue string) workqueue.GaugeMetric {
	return m.gaugeOf("remuda_workqueue_depth", queue)
}

// NewAddsMetric counts keys.
func (m *Metrics) NewAddsMetric(queue string) workqueue.CounterMetric {
	return m.count("remuda_workqueue_adds_total", queue)
}

// NewRetriesMetric counts keys that are put off.
func (m *Metrics) NewRetriesMetric(queue string) workqueue.CounterMetric {
	return m.count("remuda_workqueue_retries_total", queue)
}

// NewLatencyMetric observes seconds in the queue.
func (m *Metrics) NewLatencyMetric(queue string) workqueue.HistogramMetric {
	return m.observe("remuda_workqueue_queue_duration_seconds", queue)
}

// NewWorkDurationMetric observes seconds of work.
func (m *Metrics) NewWorkDurationMetric(queue string) workqueue.HistogramMetric {
	return m.observe("remuda_workqueue_work_duration_seconds", queue)
}

// NewUnfinishedWorkSecondsMetric is set twice a second.
func (m *Metrics) NewUnfinishedWorkSecondsMetric(queue string) workqueue.SettableGaugeMetric {
	return m.gaugeOf("remuda_workqueue_unfinished_work_seconds", queue)
}

// NewLongestRunningProcessorSecondsMetric is set twice a second.
func (m *Metrics) NewLongestRunningProcessorSecondsMetric(queue string) workqueue.SettableGaugeMetric {
	return m.gaugeOf("remuda_workqueue_longest_running_processor_seconds", queue)
}

func (m *Metrics) gaugeOf(name, queue string) interface {
	workqueue.GaugeMetric
	workqueue.SettableGaugeMetric
} {
	g := m.gauges[name].WithLabelValues(queue)
	g.Set(0)
	return g
}
