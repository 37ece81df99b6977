package metrics

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awscfg"
	"github.com/remuda-run/remuda/internal/githubapi"
	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/pool"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

var dawn = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) store.Time {
	return store.At(dawn.Add(time.Duration(seconds * float64(time.Second))))
}

// leader is a controller with a summary.
type leader reconciler.Summary

func (l leader) Summary() (reconciler.Summary, bool) {
	return reconciler.Summary(l), !l.Scanned.IsZero()
}

// exercised returns metrics of which each was moved once.
func exercised() *Metrics {
	m := New([]string{"small"})
	machine := func(state statemachine.State, since float64) store.Instance {
		return store.Instance{ID: "i-0secret", RunID: "4711", State: state, Since: at(since), ResourceClass: "small", UsageClass: store.Spot}
	}
	m.Transitioned(store.Instance{}, machine(statemachine.Created, 0), statemachine.Launched)
	m.Transitioned(machine(statemachine.Created, 0), machine(statemachine.Running, 30), statemachine.HandedOver)
	m.Transitioned(machine(statemachine.Running, 30), machine(statemachine.Idle, 60), statemachine.Released)
	pooled := machine(statemachine.Idle, 60)
	pooled.CreatedAt = at(0)
	for i, code := range []store.Code{store.CodeReleased, store.CodeScrubbed, store.CodePooled} {
		pooled.History = pooled.History.With(pooled.CreatedAt, store.Entry{At: pooled.CreatedAt.Add(time.Duration(i*i) * time.Second), Code: code})
	}
	m.Transitioned(machine(statemachine.Idle, 60), pooled, statemachine.Pooled)
	m.Transitioned(machine(statemachine.Idle, 60), machine(statemachine.Claimed, 100), statemachine.Claim)
	m.Transitioned(machine(statemachine.Claimed, 100), machine(statemachine.Running, 101), statemachine.HandedOver)
	for _, reason := range []string{"Client.VolumeLimitExceeded: Volume limit exceeded", "Client.Whatever: not documented"} {
		lost := machine(statemachine.Terminated, 102)
		lost.StateReason = reason
		m.Transitioned(machine(statemachine.Created, 101), lost, statemachine.Lost)
	}
	m.Answered("small", store.RunStatus{Phase: statemachine.Ready, PendingAt: at(0), ReadyAt: at(30), Instances: []store.Seat{{}}})
	m.Answered("small", store.RunStatus{Phase: statemachine.Ready, PendingAt: at(100), ReadyAt: at(100.2), Instances: []store.Seat{{Warm: true}}})
	m.Answered("small", store.RunStatus{Phase: statemachine.Ready, PendingAt: at(0), ReadyAt: at(31), Instances: []store.Seat{{Warm: true}, {}}})
	m.Answered("of a client", store.RunStatus{Phase: statemachine.Failed, PendingAt: at(0), FailedAt: at(1), Reason: reconciler.ReasonSpec})
	m.Phase("small", timeline.Boot, 31*time.Second)
	m.Launched(store.Launch{ResourceClass: "small", UsageClass: store.Spot, Count: 3}, 1, []fleet.Refusal{
		{Slot: fleet.Slot{Zone: "eu-west-1a"}, Code: "InsufficientInstanceCapacity"}, {Code: "MaxSpotInstanceCountExceeded"},
	})
	m.Orphaned(reconciler.OrphanMachine)
	m.GitHubCalled(githubapi.Exchange{Route: "/actions/runners", Status: 200, Took: time.Second / 4,
		Budget: githubapi.Budget{Name: "core", Limit: 5000, Remaining: 4711, Reset: dawn}})
	m.GitHubCalled(githubapi.Exchange{Route: "/actions/runners"})
	m.GitHubChecked(fmt.Errorf("list runners: %w: 401", githubapi.ErrRefused))
	m.RunnerVersionEnds("2.330.0", dawn)
	m.ConfigTaken(dawn, 2)
	m.AWSCalled(awscfg.Call{Service: "DynamoDB", Operation: "PutItem"})
	m.AWSCalled(awscfg.Call{Service: "EC2", Operation: "CreateFleet", Err: &smithy.GenericAPIError{Code: "RequestLimitExceeded"}})
	q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Hour, time.Hour),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "requests", Clock: clocktesting.NewFakeClock(dawn), MetricsProvider: m})
	q.Add("4711")
	q.Add("4712")
	q.Get()
	q.Done("4711")
	q.AddRateLimited("4713")
	q.ShutDown()
	m.Watch(leader{
		Term: 7, Trusted: true, Looked: reconciler.Looked{Scanned: dawn, Swept: dawn.Add(time.Second / 2)}, Silence: true, Listening: 5, Agents: map[string]int{"v1.0.0": 3},
		Instances:  map[reconciler.InstanceKind]int{{State: statemachine.Running, Class: "small", Usage: store.Spot}: 2, {State: statemachine.Idle, Class: "gone", Usage: "?"}: 1},
		Candidates: map[pool.Kind]int{{ResourceClass: "small", UsageClass: store.OnDemand}: 4},
		Floors:     map[string]store.Floor{"small": {Wanted: 5, Have: 3}},
		Budget:     store.Budget{Month: "2026-01", Monthly: 500, Spent: 412.25, Off: "floors"},
		Waiting: map[reconciler.WaitKind]reconciler.Waiting{
			{Class: "a", Reason: "cap"}: {Count: 1, Oldest: time.Second}, {Class: "b", Reason: "cap"}: {Count: 2, Oldest: time.Minute},
		},
	})
	return m
}

// Each metric shows what it was moved by.
func TestMetrics_Values(t *testing.T) {
	text := scrape(t, exercised())
	for _, want := range []string{
		`remuda_instance_transitions_total{event="launched",from="none",to="created"} 1`,
		`remuda_instance_transitions_total{event="handed over",from="claimed",to="running"} 1`,
		`remuda_seats_served_total{class="small",start="cold"} 1`,
		`remuda_seats_served_total{class="small",start="warm"} 1`,
		`remuda_seats_served_total{class="other",start="warm"} 0`,
		`remuda_instance_state_reasons_total{code="Client.VolumeLimitExceeded"} 1`,
		`remuda_instance_state_reasons_total{code="Server.InternalError"} 0`,
		`remuda_instance_state_reasons_total{code="other"} 1`,
		`remuda_instance_idle_seconds_total{class="small"} 40`,
		`remuda_request_wait_seconds_sum{class="small",result="ready",start="cold"} 30`,
		`remuda_request_wait_seconds_bucket{class="small",result="ready",start="warm",le="0.25"} 1`,
		`remuda_request_wait_seconds_count{class="small",result="ready",start="mixed"} 1`,
		`remuda_request_wait_seconds_count{class="other",result="failed",start="none"} 1`,
		`remuda_requests_failed_total{class="other",reason="invalid"} 1`,
		`remuda_requests_failed_total{class="small",reason="launch_budget"} 0`,
		`remuda_phase_duration_seconds_bucket{class="small",phase="boot",le="30"} 0`,
		`remuda_phase_duration_seconds_bucket{class="small",phase="boot",le="60"} 1`,
		`remuda_phase_duration_seconds_sum{class="small",phase="handshake"} 4`,
		`remuda_phase_duration_seconds_sum{class="small",phase="scrub"} 1`,
		`remuda_launches_total{class="small",usage="spot"} 1`,
		`remuda_launch_instances_asked_total{class="small",usage="spot"} 3`,
		`remuda_launch_instances_came_total{class="small",usage="spot"} 1`,
		`remuda_launch_refusals_total{code="InsufficientInstanceCapacity",zone="eu-west-1a"} 1`,
		`remuda_launch_refusals_total{code="MaxSpotInstanceCountExceeded",zone="any"} 1`,
		`remuda_orphans_total{kind="machine"} 1`,
		`remuda_orphans_total{kind="runner"} 0`,
		`remuda_github_requests_total{route="/actions/runners",status="2xx"} 1`,
		`remuda_github_requests_total{route="/actions/runners",status="none"} 1`,
		`remuda_github_request_duration_seconds_sum{route="/actions/runners"} 0.25`,
		`remuda_github_rate_limit{budget="core"} 5000`,
		`remuda_github_rate_limit_remaining{budget="core"} 4711`,
		`remuda_github_rate_limit_reset_timestamp_seconds{budget="core"} 1.7672256e+09`,
		`remuda_github_state{state="refused"} 1`,
		`remuda_github_state{state="unavailable"} 0`,
		`remuda_github_state{state="up"} 0`,
		`remuda_runner_version_end_timestamp_seconds{version="2.330.0"} 1.7672256e+09`,
		`remuda_aws_requests_total{error="none",operation="PutItem",service="DynamoDB"} 1`,
		`remuda_aws_requests_total{error="throttled",operation="CreateFleet",service="EC2"} 1`,
		`remuda_workqueue_depth{queue="requests"} 1`,
		`remuda_workqueue_adds_total{queue="requests"} 2`,
		`remuda_workqueue_retries_total{queue="requests"} 1`,
		`remuda_workqueue_queue_duration_seconds_count{queue="requests"} 1`,
		`remuda_workqueue_work_duration_seconds_count{queue="requests"} 1`,
		`remuda_leader 1`,
		`remuda_leader_term 7`,
		`remuda_last_scan_timestamp_seconds 1.7672256e+09`,
		`remuda_last_sweep_timestamp_seconds 1.7672256005e+09`,
		`remuda_breaker_open{breaker="agents"} 1`,
		`remuda_breaker_open{breaker="listing"} 0`,
		`remuda_agents{version="v1.0.0"} 3`,
		`remuda_instances{class="small",state="running",usage="spot"} 2`,
		`remuda_instances{class="small",state="idle",usage="spot"} 0`,
		`remuda_instances{class="other",state="idle",usage="other"} 1`,
		`remuda_pool_candidates{class="small",usage="on-demand"} 4`,
		`remuda_pool_candidates{class="small",usage="spot"} 0`,
		`remuda_listeners_ahead 5`,
		`remuda_floor_wanted{class="small"} 5`,
		`remuda_floor_idle{class="small"} 3`,
		`remuda_budget_dollars{of="monthly"} 500`,
		`remuda_budget_dollars{of="spent"} 412.25`,
		`remuda_budget_off 1`,
		`remuda_requests_waiting{class="other",reason="cap"} 3`,
		`remuda_requests_waiting{class="small",reason="looking"} 0`,
		`remuda_request_oldest_wait_seconds{class="other"} 60`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("want %s", want)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "4711\"") {
		t.Error("an id is a label")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// scrape returns what the handler serves of ours.
func scrape(t testing.TB, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(w.Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("scrape: %d, %v", w.Code, err)
	}
	return string(body)
}

// A controller that waits says that, and nothing of the state that another keeps; one that reads the records says its term.
func TestState_OfAStandby(t *testing.T) {
	for _, tt := range []struct {
		want string
		leader
	}{
		{"remuda_leader 0", leader{}}, {"remuda_leader 1", leader{Term: 3, Trusted: true}}, {"remuda_leader 0", leader{Term: 3}},
	} {
		m := New([]string{"small"})
		m.Watch(tt.leader)
		m.NewDepthMetric("requests").Inc()
		text := scrape(t, m)
		if !strings.Contains(text, tt.want+"\n") || strings.Contains(text, "remuda_instances{") || strings.Contains(text, "remuda_last_scan") {
			t.Errorf("want %s and no instances:\n%s", tt.want, text)
		}
		if queues := strings.Contains(text, "remuda_workqueue_depth{"); queues != (tt.Term > 0) {
			t.Errorf("queues are shown: %t in term %d", queues, tt.Term)
		}
	}
}

// Whatever comes from outside, there are few series.
func TestLabels_AreBounded(t *testing.T) {
	m, agents := New([]string{"small"}), map[string]int{"v1": 900}
	for i := range 1000 {
		odd := fmt.Sprintf("%d \xff%s", i, strings.Repeat("x", 1000))
		m.Answered(odd, store.RunStatus{Phase: statemachine.Failed, Reason: odd})
		m.Phase(odd, timeline.Name(odd), 0)
		m.Launched(store.Launch{ResourceClass: odd, UsageClass: odd}, 0, []fleet.Refusal{{Code: odd, Slot: fleet.Slot{Zone: odd}}})
		m.GitHubCalled(githubapi.Exchange{Route: "/actions/runners", Status: 200, Budget: githubapi.Budget{Name: odd}})
		m.AWSCalled(awscfg.Call{Service: "EC2", Operation: odd, Err: errors.New(odd)})
		agents[odd]++
	}
	m.Watch(leader{Term: 1, Looked: reconciler.Looked{Scanned: dawn}, Agents: agents})
	for name, most := range map[string]int{
		"remuda_requests_failed_total": 2*len(reconciler.FailReasons()) + 1, "remuda_phase_duration_seconds": 1, "remuda_launches_total": 3,
		"remuda_launch_refusals_total": 2 * maxCodes, "remuda_github_rate_limit": maxBudgets + 1, "remuda_aws_requests_total": maxQueried + 1,
		"remuda_agents": maxVersions + 1,
	} {
		if n, err := testutil.GatherAndCount(m.Registry(), name); n > most || n == 0 || err != nil {
			t.Errorf("%s has %d series, %v; want at most %d", name, n, err, most)
		}
	}
	if text := scrape(t, m); !strings.Contains(text, `remuda_agents{version="v1"} 900`) || !strings.Contains(text, `remuda_agents{version="other"} 985`) {
		t.Error("want the versions that most agents have, and the rest summed up")
	}
}

// A value of a label may be "other" itself.
func TestMost_OtherIsAWord(t *testing.T) {
	for n, want := range map[int]map[string]int{1: {"a": 5, other: 4}, 2: {"a": 5, other: 4}, 9: {"a": 5, other: 3, "b": 1}} {
		got := most(map[string]int{"a": 5, other: 3, "b": 1}, n)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("most(%d) = %v, want %v", n, got, want)
		}
	}
}

// A queue of a new term begins empty, whatever was left in the one before.
func TestQueues_BeginAnew(t *testing.T) {
	m := New(nil)
	for range 2 {
		q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: "requests", MetricsProvider: m})
		q.Add("4711")
		q.ShutDown()
	}
	if got := testutil.ToFloat64(m.gauges["remuda_workqueue_depth"].WithLabelValues("requests")); got != 1 {
		t.Errorf("depth = %v, want that of the second queue alone", got)
	}
}

// The looks at GitHub are told apart by what an operator has to do.
func TestGitHubChecked(t *testing.T) {
	for want, err := range map[string]error{
		"up": nil, "refused": githubapi.ErrRefused, "local": githubapi.ErrLocal, "throttled": githubapi.ErrThrottled, "unavailable": githubapi.ErrUnavailable,
	} {
		m := New(nil)
		m.GitHubChecked(errors.New("down")) // before
		m.GitHubChecked(err)
		for _, s := range githubStates {
			if got := testutil.ToFloat64(m.gauges["remuda_github_state"].WithLabelValues(s.state)); got != one(s.state == want) {
				t.Errorf("after %v: state %s = %v", err, s.state, got)
			}
		}
	}
}
