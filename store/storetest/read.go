package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/store"
)

func getNothing(t *testing.T, table store.Table) {
	mustPut(t, table, 0, testItem(testKey(1), 1, 1))
	for _, keys := range [][]store.Key{nil, {testKey(2)}, {{Partition: testKey(1).Partition, Sort: "TYPE#Other"}}, {testKey(2), testKey(3)}} {
		items, err := table.Get(t.Context(), store.Consistent, keys...)
		if err != nil || len(items) != 0 {
			t.Errorf("Get(%v) = %v, %v, want nothing", keys, items, err)
		}
	}
}

// Callers ask for the vitals of the whole fleet at once, and may name a key twice.
func getMany(t *testing.T, table store.Table) {
	const stored, asked = 1200, 1500
	var want []store.Item
	for n := range stored {
		want = append(want, testItem(testKey(n), 1, n))
	}
	mustPut(t, table, 0, want...)
	var keys []store.Key
	for n := range asked {
		keys = append(keys, testKey(n), testKey(n%7))
	}
	got, err := table.Get(t.Context(), store.Consistent, keys...)
	wantErr(t, "Get()", err, nil)
	if diff := diffItems(want, got); diff != "" {
		t.Errorf("Get(%d keys) (-want +got):\n%s", len(keys), diff)
	}
}

// Attributes are JSON objects of any shape; what a record means must survive the back end.
func getKeepsJSON(t *testing.T, table store.Table) {
	item := store.Item{Key: testKey(1), Version: 1, Attributes: []byte(`{
		"empty": "", "null": null, "true": true, "list": [], "mixed": [1, "two", {"three": 3.5}, null],
		"object": {}, "nested": {"a": {"b": {"c": [[]]}}}, "text": "ä€😀 \" \\ \u0000 \n", "big": 9007199254740991,
		"negative": -12.25, "key with space": 1, "$ref": "x"}`)}
	mustPut(t, table, 0, item)
	wantStored(t, table, item)
}

func getEventual(t *testing.T, table store.Table) {
	mustPut(t, table, 0, testItem(testKey(1), 1, 1))
	for version := int64(1); version < 20; version++ {
		mustPut(t, table, version, testItem(testKey(1), version+1, int(version)+1))
		items, err := table.Get(t.Context(), store.Eventual, testKey(1))
		wantErr(t, "Get(Eventual)", err, nil)
		for _, item := range items {
			once := testItem(item.Key, item.Version, int(item.Version))
			if diff := diffItems([]store.Item{once}, []store.Item{item}); diff != "" || item.Version > version+1 {
				t.Errorf("Get(Eventual) after version %d (-written +got):\n%s", version+1, diff)
			}
		}
	}
}

func scanStops(t *testing.T, table store.Table) {
	for n := range 10 {
		mustPut(t, table, 0, testItem(testKey(n), 1, n))
	}
	enough := errors.New("enough")
	calls := 0
	err := table.Scan(t.Context(), func(store.Item) error {
		calls++
		if calls == 3 {
			return enough
		}
		return nil
	})
	wantErr(t, "Scan()", err, enough)
	if calls != 3 {
		t.Errorf("yield was called %d times, want 3", calls)
	}
}

// Reconcilers write while they walk: a scan must not hold what a Put needs.
func scanReentrant(t *testing.T, table store.Table) {
	const items = 30
	for n := range items {
		mustPut(t, table, 0, testItem(testKey(n), 1, n))
	}
	seen := map[store.Key]bool{}
	err := table.Scan(t.Context(), func(item store.Item) error {
		seen[item.Key] = true
		item.Version++
		return table.Put(t.Context(), item, item.Version-1)
	})
	wantErr(t, "Scan()", err, nil)
	if len(seen) != items {
		t.Errorf("Scan() yielded %d keys, want %d", len(seen), items)
	}
}

// scanMany fills the table with more records than any page holds (DynamoDB: 1 MB) and finds every
// one: all instances of one run (S81) and all whose threshold has passed (S26, H05).
func scanMany(t *testing.T, table store.Table) {
	// Each principal has two or three records, so that a page may end inside a partition.
	const principals, every = 5_025, 25 // each has a heartbeat and a signal, one in 25 an instance
	now := epoch
	s := store.New(table)
	var items []store.Item
	wantRun, wantExpired := map[store.InstanceID]bool{}, map[store.InstanceID]bool{}
	for n := range principals {
		items = append(items, heartbeatItem(t, n), signalItem(t, n))
		if n%every != 0 {
			continue
		}
		in := sampleInstance(n)
		in.Version, in.Threshold = 0, store.At(now.Add(time.Minute)) // written unconditionally, like the rest
		switch n / every % 3 {
		case 0:
			in.RunID = "wanted"
			wantRun[in.ID] = true
		case 1:
			in.Threshold = store.At(now)
			wantExpired[in.ID] = true
		}
		items = append(items, instanceItem(t, in))
	}
	mustFill(t, table, items...)

	instances, beats, signals, gotRun, gotExpired := 0, 0, 0, map[store.InstanceID]bool{}, map[store.InstanceID]bool{}
	err := s.Scan(t.Context(), store.Visitor{
		Instance: func(in store.Instance) {
			instances++
			if in.RunID == "wanted" {
				gotRun[in.ID] = true
			}
			if !now.Before(in.Threshold.Time) {
				gotExpired[in.ID] = true
			}
		},
		Heartbeat: func(store.Heartbeat) { beats++ },
		Signal:    func(store.Signal) { signals++ },
		Bad:       func(k store.Key, err error) { t.Errorf("Bad(%v): %v", k, err) },
	})
	wantErr(t, "Scan()", err, nil)
	if instances != principals/every || beats != principals || signals != principals {
		t.Errorf("Scan() visited %d instances, %d heartbeats, %d signals, want %d and twice %d",
			instances, beats, signals, principals/every, principals)
	}
	if diff := cmp.Diff(wantRun, gotRun); diff != "" {
		t.Errorf("instances of the run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantExpired, gotExpired); diff != "" {
		t.Errorf("expired instances (-want +got):\n%s", diff)
	}
}

func scanBadRecords(t *testing.T, table store.Table) {
	s := store.New(table)
	good := sampleInstance(1)
	bad := map[store.Key]string{
		store.InstanceKey("i-state", store.KindInstance):     `{"instanceId":"i-state","state":"hibernating","threshold":"2026-01-01T00:00:00.000Z"}`,
		store.InstanceKey("i-type", store.KindInstance):      `{"instanceId":7}`,
		store.InstanceKey("i-time", store.KindInstance):      `{"instanceId":"i-time","state":"idle","threshold":"tomorrow"}`,
		store.InstanceKey("i-kind", "TYPE#Saddle"):           `{}`,
		store.InstanceKey("i-signal", store.KindSignal):      `{"value":{"signal":"UD_MAYBE"}}`,
		store.RequestKey("1", store.KindRunStatus):           `{"phase":"Confused"}`,
		store.RequestKey("A,b", store.KindRunRequest):        `{"attempt":1}`,
		{Partition: "ELSEWHERE#1", Sort: store.KindInstance}: `{"instanceId":"i-else","state":"idle","threshold":"2026-01-01T00:00:00.000Z"}`,
	}
	items := []store.Item{instanceItem(t, good)}
	for key, attributes := range bad {
		items = append(items, store.Item{Key: key, Version: 1, Attributes: []byte(attributes)})
	}
	mustPut(t, table, 0, items...)

	var instances []store.Instance
	got := map[store.Key]bool{}
	err := s.Scan(t.Context(), store.Visitor{
		Request:  func(r store.RunRequest) { t.Errorf("Request(%+v), want none", r) },
		Status:   func(r store.RunStatus) { t.Errorf("Status(%+v), want none", r) },
		Signal:   func(r store.Signal) { t.Errorf("Signal(%+v), want none", r) },
		Instance: func(in store.Instance) { instances = append(instances, in) },
		Bad: func(k store.Key, err error) {
			got[k] = true
			if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("Bad(%v) error = %v, want %v", k, err, store.ErrInvalid)
			}
		},
	})
	wantErr(t, "Scan()", err, nil)
	for key := range bad {
		if !got[key] {
			t.Errorf("Bad was not called for %v", key)
		}
	}
	if diff := cmp.Diff([]store.Instance{good}, instances); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
}
