package store

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/statemachine"
)

var update = flag.Bool("update", false, "write testdata anew")

// golden is an item as testdata/<kind>.json holds it. The files are the wire form for programs in
// other languages, too: keys, version, expiry in epoch seconds, and the attributes by name.
type golden struct {
	PK         string          `json:"PK"`
	SK         string          `json:"SK"`
	Version    int64           `json:"version"`
	ExpiresAt  int64           `json:"expiresAt"` // 0: never
	Attributes json.RawMessage `json:"attributes"`
}

var goldenSpent = Spent{Booting: 31.042, Busy: 184, Idle: 420, BootingDollars: 0.001, BusyDollars: 0.0062, IdleDollars: 0.014, Unpriced: 60}

// goldenRecords has one record of each kind, with no attribute at its zero value where another is
// legal, and an empty record of its type to read it back into.
func goldenRecords() map[string]struct{ record, empty record } {
	at := func(minutes int) Time { return At(now.Add(time.Duration(minutes) * time.Minute)) }
	expires := time.Date(2026, 1, 3, 3, 4, 5, 0, time.UTC)
	instance := instanceIn(statemachine.Claimed)
	instance.PooledAt, instance.Reason, instance.Detail = Time{}, "pre-runner script failed", "line 1\nline \"2\" ä€😀 <&>"
	instance.Registration.MintedAt, instance.Term, instance.ExpiresAt = at(0), 7, expires
	instance.History = "0 new 4711-b\n31000 boot\n90061000 claim 4711-b"
	instance.Price = 0.0923
	instance.SealKey = "bWFjaGluZSBrZXkgb2YgdGhpcnR5LXR3byBieXRlcyE"
	return map[string]struct{ record, empty record }{
		"RunRequest": {&RunRequest{
			ID: "4711-b", Attempt: 2, Count: 10, UsageClasses: []string{Spot, OnDemand}, AllowedInstanceTypes: []string{"c*", "m7i.large"},
			ResourceClass: "large", MaxRuntime: SecondsOf(30 * time.Minute), Timeout: SecondsOf(1500 * time.Millisecond),
			ReleasedAttempt: 1, Release: ReleaseNow, CreatedAt: at(0), Version: 3, ExpiresAt: expires,
			Repository: "octo/repo", WorkflowRun: 4711, WorkflowAttempt: 2, NoWait: true, OriginalCount: 12, ReleaseReason: RunWaits,
		}, new(RunRequest)},
		"RunClient": {&RunClient{ID: "4711", Attempt: 2, SeenAt: at(0), ExpiresAt: expires}, new(RunClient)},
		"RunStatus": {&RunStatus{
			ID: "4711", Attempt: 2, Phase: statemachine.PhaseReleased, Deadline: at(10), Reason: "Deadline", Message: "not ready in time",
			Instances: []Seat{{InstanceID: "i-1", InstanceType: "c7i.large", UsageClass: Spot, Warm: true, Seconds: 0.164}},
			Counts:    Counts{Wanted: 10, Claimed: 1, Created: 2, Ready: 3, Launching: 4, Launched: 5},
			PendingAt: at(0), ReadyAt: at(1), FailedAt: at(2), ReleasedAt: at(3), ChangedAt: at(3), Version: 9, ExpiresAt: expires,
			OriginalCount: 12, Watch: Watch{State: Watched, Cancel: Done, Rerun: NotDone, RerunAttempt: 2, Detail: "two jobs were lost beside one that failed by itself", Waits: "job build waits under the labels [self-hosted, 4711]", WaitsSince: at(2)},
			ReasonSince: at(1), Spent: goldenSpent, History: "0 take 10\n12 won 4\n60000 over released",
		}, new(RunStatus)},
		"Instance": {&instance, new(Instance)},
		"Heartbeat": {&Heartbeat{
			Principal: "AROAEXAMPLE:i-1", Value: Ping, UpdatedAt: at(0), ExpiresAt: expires,
			Beat: Beat{Assignment: 3, Busy: true, Runner: "online", RunnerID: 9, AgentVersion: "1.2.3", Interrupted: true, Idle: true, JobBegan: At(now), JobEnded: At(now), Key: "bWFjaGluZSBrZXkgb2YgdGhpcnR5LXR3byBieXRlcyE"},
		}, new(Heartbeat)},
		"WS": {&Signal{
			Principal: "AROAEXAMPLE:i-1", UpdatedAt: at(0), ExpiresAt: expires,
			Value: SignalValue{Signal: RegFailed, RunID: "4711-b", Assignment: 3, Serial: 4, Cause: CauseThrottled, Detail: "403", ScriptSeconds: 1.5},
		}, new(Signal)},
		"Launch": {&Launch{
			Token: "l-6f1e", ResourceClass: "large", UsageClass: Spot, Count: 3, Plan: json.RawMessage(`{"count":3}`),
			Seats: []LaunchSeat{{RequestID: "4711", Attempt: 2, Count: 3, Instances: []InstanceID{"i-1", "i-2"}}},
			Done:  true, Error: "no capacity", CreatedAt: at(0), DoneAt: at(1), Version: 2, ExpiresAt: expires,
		}, new(Launch)},
		"Lease": {&Lease{Holder: "host-1", Term: 7, Renewed: at(0), Schema: 1, Version: 12, Health: Health{
			ControllerVersion: "v1.2.3", ScannedAt: at(-2), SweptAt: at(-1), BreakerOpenAt: at(-4), ListingIncompleteAt: at(-3),
			GitHub: GitHubBudget{Remaining: 4812, Limit: 5000, ResetAt: at(31)}, GitHubOutage: Outage{Reason: "github_down", Since: at(-5)},
			FleetOutage: Outage{Reason: "fleet_down", Since: at(-6)}, ConfigRefused: "caps.maxInstances: must be at least 1, got 0", ConfigRefusedAt: at(-7),
			Budget: Budget{Month: "2026-01", Monthly: 500, Spent: 412.25, Warns: true, Off: "floors"},
		}}, new(Lease)},
		"Drain":  {&DrainOrder{ID: "d-1", InstanceID: "i-1", ResourceClass: "large", Now: true, CreatedAt: at(0), EffectiveAt: at(1), Term: 7, Version: 2, ExpiresAt: expires}, new(DrainOrder)},
		"Demand": {&Demand{Day: "2026-01-02", Rows: goldenRows, LeftOut: 3, ChangedAt: at(0), Version: 2, ExpiresAt: expires}, new(Demand)},
		"Floor": {&Floor{
			Class: "large", Wanted: 5, Have: 3, Reason: "cap", Detail: "the caps leave no room", Since: at(0), ChangedAt: at(1), Version: 4, ExpiresAt: expires,
		}, new(Floor)},
		"Costs": {&Costs{Day: "2026-01-02", Through: at(0), ChangedAt: at(1), Version: 2, ExpiresAt: expires, Rows: []CostRow{{
			Class: "large", Usage: Spot, Repository: "octo/repo", Requests: 2, Warm: 3, Cold: 1, Waited: 31.5, Spent: goldenSpent,
		}}}, new(Costs)},
	}
}

// goldenRows have a cold start, and a request that failed.
var goldenRows = []DemandRow{
	{3, DemandKind{"large", "spot,on-demand", "c6i.*,m6i.*", "c6i.large"}, [][5]int64{{245678000042, 31042, 184000, 2, 1}}},
	{-1, DemandKind{"large", "on-demand", "*", ""}, [][5]int64{{260000000007, 600000, -1, 1, 0}}},
}

func TestCodec_Golden(t *testing.T) {
	records := goldenRecords()
	for name, r := range records {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".json")
			var version int64
			if v, _ := r.record.meta(); v != nil {
				version = *v
			}
			item, err := encode(r.record, version)
			if err != nil {
				t.Fatalf("encode() error = %v", err)
			}
			if *update {
				writeGolden(t, path, item)
			}
			stored := readGolden(t, path)
			if diff := cmp.Diff(canonicalItem(stored), canonicalItem(item)); diff != "" {
				t.Errorf("encode() (-%s +got):\n%s", path, diff)
			}
			if err := decode(stored, r.empty); err != nil {
				t.Fatalf("decode() error = %v", err)
			}
			anyOrder := cmp.Comparer(func(a, b json.RawMessage) bool { return bytes.Equal(canonical(a), canonical(b)) })
			if diff := cmp.Diff(r.record, r.empty, anyOrder); diff != "" {
				t.Errorf("decode(%s) (-want +got):\n%s", path, diff)
			}
			if want := "TYPE#" + name; item.Key.Sort != want {
				t.Errorf("sort key = %s, want %s", item.Key.Sort, want)
			}
		})
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != len(records) {
		t.Errorf("testdata has %d files, %v, want one for each of %d kinds", len(files), err, len(records))
	}
}

// canonicalItem makes items comparable as text.
func canonicalItem(item Item) golden {
	g := golden{PK: item.Key.Partition, SK: item.Key.Sort, Version: item.Version, Attributes: canonical(item.Attributes)}
	if !item.ExpiresAt.IsZero() {
		g.ExpiresAt = item.ExpiresAt.Unix()
	}
	return g
}

func writeGolden(t *testing.T, path string, item Item) {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(canonicalItem(item)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func readGolden(t testing.TB, path string) Item {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&g); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	item := Item{Key: Key{g.PK, g.SK}, Version: g.Version, Attributes: g.Attributes}
	if g.ExpiresAt != 0 {
		item.ExpiresAt = time.Unix(g.ExpiresAt, 0).UTC()
	}
	return item
}

// A newer program may add attributes; an older one reads what it knows.
func TestDecode_IgnoresUnknownAttributes(t *testing.T) {
	item := readGolden(t, "testdata/Lease.json")
	item.Attributes = []byte(strings.Replace(string(item.Attributes), "{", `{"novelty":{"a":[1]},`, 1))
	var l Lease
	if err := decode(item, &l); err != nil || l.Holder != "host-1" {
		t.Errorf("decode() = %+v, %v, want the lease of host-1", l, err)
	}
}

func TestDecode_RejectsForeignKeys(t *testing.T) {
	records := goldenRecords()
	for name, r := range records {
		item := readGolden(t, filepath.Join("testdata", name+".json"))
		item.Key.Partition = "ELSEWHERE#" + item.Key.Partition
		if err := decode(item, r.empty); err == nil {
			t.Errorf("decode(%s) under partition %s succeeded", name, item.Key.Partition)
		}
	}
}
