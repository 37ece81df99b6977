package metrics

import (
	"cmp"
	"strings"
	"time"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

var _ reconciler.Recorder = (*Metrics)(nil)

// Transitioned implements reconciler.Recorder.
func (m *Metrics) Transitioned(was, is store.Instance, event statemachine.Event) {
	m.count("remuda_instance_transitions_total", cmp.Or(string(was.State), "none"), string(event), string(is.State)).Inc()
	class := m.class(is.ResourceClass)
	if event == statemachine.HandedOver {
		start := "cold"
		if was.State == statemachine.Claimed {
			start = "warm"
		}
		m.count("remuda_seats_served_total", class, start).Inc()
	}
	if cause, cleaned := timeline.Cleanup(is); cleaned && (event == statemachine.Pooled) == (cause == "") && (cause == "" || is.State == statemachine.Terminated) {
		m.count("remuda_cleanups_total", class, cmp.Or(cause, "clean")).Inc()
	}
	if event == statemachine.Pooled {
		handshake, scrub := timeline.Returned(is)
		for phase, took := range map[timeline.Name]time.Duration{timeline.Handshake: handshake, timeline.Scrub: scrub} {
			if took > 0 {
				m.Phase(is.ResourceClass, phase, took)
			}
		}
	}
	if code, _, _ := strings.Cut(is.StateReason, ": "); code != "" && was.StateReason == "" {
		m.count("remuda_instance_state_reasons_total", among(code, stateReasons...)).Inc()
	}
	if was.State == statemachine.Idle && is.State != statemachine.Idle {
		m.count("remuda_instance_idle_seconds_total", class).Add(seconds(is.Since.Sub(was.Since.Time)))
	}
}

// stateReasons are EC2's documented StateReason codes of ended instances, and the observed codes for keys.
var stateReasons = []string{
	"Server.InsufficientInstanceCapacity", "Server.InternalError", "Server.ScheduledStop", "Server.SpotInstanceShutdown", "Server.SpotInstanceTermination",
	"Client.InstanceInitiatedShutdown", "Client.InstanceTerminated", "Client.InternalError", "Client.InvalidKMSKey.InvalidState",
	"Client.InvalidSnapshot.NotFound", "Client.UserInitiatedHibernate", "Client.UserInitiatedShutdown", "Client.VolumeLimitExceeded",
}

// seconds is a time that took place: clocks of two controllers differ.
func seconds(d time.Duration) float64 { return max(0, d).Seconds() }

// Answered implements reconciler.Recorder.
func (m *Metrics) Answered(class string, status store.RunStatus) {
	class = m.class(class)
	if status.Phase == statemachine.Failed {
		m.count("remuda_requests_failed_total", class, among(status.Reason, reconciler.FailReasons()...)).Inc()
		m.observe("remuda_request_wait_seconds", class, "none", "failed").Observe(seconds(status.FailedAt.Sub(status.PendingAt.Time)))
		return
	}
	m.observe("remuda_request_wait_seconds", class, start(status.Instances), "ready").Observe(seconds(status.ReadyAt.Sub(status.PendingAt.Time)))
}

// start says how a request was served.
func start(seats []store.Seat) string {
	warm := 0
	for _, s := range seats {
		if s.Warm {
			warm++
		}
	}
	switch warm {
	case 0:
		return "cold"
	case len(seats):
		return "warm"
	}
	return "mixed"
}

// Phase implements reconciler.Recorder.
func (m *Metrics) Phase(class string, phase timeline.Name, took time.Duration) {
	if !phase.Known() {
		phase = other
	}
	m.observe("remuda_phase_duration_seconds", m.class(class), string(phase)).Observe(seconds(took))
}

// Launched implements reconciler.Recorder.
func (m *Metrics) Launched(l store.Launch, came int, refused []fleet.Refusal) {
	class, usage := m.class(l.ResourceClass), usage(l.UsageClass)
	m.count("remuda_launches_total", class, usage).Inc()
	m.count("remuda_launch_instances_asked_total", class, usage).Add(float64(l.Count))
	m.count("remuda_launch_instances_came_total", class, usage).Add(float64(came))
	for _, r := range refused {
		m.count("remuda_launch_refusals_total", m.limits.codes.of(r.Code, maxCodes), m.limits.zones.of(cmp.Or(r.Slot.Zone, "any"), maxZones)).Inc()
	}
}

// Orphaned implements reconciler.Recorder.
func (m *Metrics) Orphaned(kind string) { m.count("remuda_orphans_total", kind).Inc() }
