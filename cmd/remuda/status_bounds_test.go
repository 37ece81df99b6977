package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/storetest"
)

// The list of the fleet takes less than a megabyte and has no forged lines, for any number of requests and any texts.
func TestStatus_IsBounded_Review_S3(t *testing.T) {
	table := storetest.NewMemory(clock.RealClock{})
	put := func(key store.Key, version int64, body string) {
		t.Helper()
		if err := table.Put(t.Context(), store.Item{Key: key, Version: version, Attributes: []byte(body)}, version-1); err != nil {
			t.Fatal(err)
		}
	}
	const forged = `\ncontroller  none leads: start one with curl`
	patterns := strings.TrimSuffix(strings.Repeat(`"c6i.metal-and-thirty-bytes-xx",`, 400), ",")
	for n := range 1000 {
		id := store.RequestID(fmt.Sprintf("666-%d", n))
		put(store.RequestKey(id, store.KindRunRequest), 1,
			fmt.Sprintf(`{"attempt":1,"usageClass":["spot"],"resourceClass":"%d%s","release":"%s","allowedInstanceTypes":[%s]}`, n, forged, forged, patterns))
		put(store.Key{Partition: fmt.Sprintf("RUN#%d\ncontroller  none leads\u202e", n), Sort: strings.Repeat("\x1b[2J", 200)}, 1, `{}`)
		failed := store.RequestID(fmt.Sprint(10_000 + n))
		put(store.RequestKey(failed, store.KindRunRequest), 1, `{"attempt":1,"resourceClass":"small"}`)
		put(store.RequestKey(failed, store.KindRunStatus), 1, `{"attempt":1,"phase":"Failed","reason":"invalid","message":"`+strings.Repeat("m", store.MaxMessage)+`"}`)
	}
	view, err := readFleet(t.Context(), store.New(table), time.Now(), statemachine.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	view.bound()
	if len(view.Unread) != maxUnread || view.MoreUnread != 1000-maxUnread || view.MoreRequests != 2000-maxOfRun-maxFailed {
		t.Errorf("%d unreadable and %d more, %d requests and %d more", len(view.Unread), view.MoreUnread, len(view.Requests), view.MoreRequests)
	}
	var b bytes.Buffer
	if err := printJSON(&b, view); err != nil || b.Len() > 1_000_000 {
		t.Errorf("JSON of %d bytes, %v", b.Len(), err)
	}
	one, err := readRequest(t.Context(), store.New(table), "666-1", time.Now())
	if err != nil || len(one.AllowedInstanceTypes) != 400 {
		t.Fatalf("%d patterns, %v", len(one.AllowedInstanceTypes), err)
	}
	texts := map[string]string{
		"table": renderFleet(view, false, sheet{}), "wide": renderFleet(view, true, sheet{}), "screen": renderFleet(view, false, sheet{columns: 80, lines: 24}),
		"request": renderRequest(one, view.Now, config.Default(), sheet{}),
	}
	for name, text := range texts {
		if len(text) > 1_000_000 {
			t.Errorf("%s: %d bytes", name, len(text))
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "controller  none leads") || strings.ContainsAny(line, "\u202e\x1b") {
				t.Errorf("%s: forged line %.100q", name, line)
			}
		}
	}
	for _, want := range []string{"0 instances; 1000 open requests, 1000 failed\n", "unreadable records: 980 more\n", "… 1800 more: "} {
		if !strings.Contains(texts["table"], want) {
			t.Errorf("the table does not say %q", want)
		}
	}
}
