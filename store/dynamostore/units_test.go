package dynamostore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// metered adds up the capacity units that DynamoDB Local bills, in thousandths.
func metered(read, write *atomic.Int64) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			name, ok := strings.CutPrefix(target(r), "DynamoDB_20120810.")
			if !ok || !strings.HasSuffix(name, "Item") {
				return next.RoundTrip(r)
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			body = append([]byte(`{"ReturnConsumedCapacity":"TOTAL",`), body[1:]...)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			response, err := next.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(response.Body)
			if err != nil {
				return nil, err
			}
			response.Body = io.NopCloser(bytes.NewReader(text))
			type consumed struct{ CapacityUnits float64 }
			var one struct{ ConsumedCapacity consumed }
			var many struct{ ConsumedCapacity []consumed }
			units := 0.0
			if json.Unmarshal(text, &one) == nil {
				units = one.ConsumedCapacity.CapacityUnits
			} else if json.Unmarshal(text, &many) == nil {
				for _, c := range many.ConsumedCapacity {
					units += c.CapacityUnits
				}
			}
			to := write
			if strings.Contains(name, "Get") {
				to = read
			}
			to.Add(int64(units * 1000))
			return response, nil
		})
	}
}

// Every operation on records of usual size costs the one unit it must; what a JIT configuration in the
// record of its instance costs is shown beside it. G7
func TestUnits_PerOperation(t *testing.T) {
	var read, write atomic.Int64
	table := fresh(t, local(t, metered(&read, &write)))
	defer table.Close()
	s := store.New(table)
	ctx := t.Context()
	var in store.Instance
	move := func(event statemachine.Event) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			in, err = s.Transition(ctx, in, store.Transition{Event: event, Now: now, Limit: time.Hour, RunID: "2", Attempt: 1})
			return err
		}
	}
	register := func(secret int) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			in, err = s.SetRegistration(ctx, in, store.Registration{
				Serial: 4, Assignment: 3, Mode: store.JIT, Name: "i-0123456789abcdef0-4", RunnerID: 1234, URL: "https://github.com/owner/repository",
				Secret: strings.Repeat("x", secret), MintedAt: store.At(now),
			}, now)
			return err
		}
	}
	const jit = 4200 // characters of an encoded JIT configuration, about: a key of 2,048 bits, base64 twice
	var st store.RunStatus
	status := func(event statemachine.RequestEvent) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			st.ID, st.Attempt = "2", 1
			st, err = s.PutStatus(ctx, st, event, now)
			return err
		}
	}
	const principal = "AROAQWERTYUIOPASDFGHJ:i-0123456789abcdef0"
	get := func(c store.Consistency) func(context.Context) error {
		return func(ctx context.Context) error { return second(s.Instance(ctx, c, principal)) }
	}
	request := store.RunRequest{
		ID: "2", Attempt: 1, Count: 10, UsageClasses: []string{store.Spot, store.OnDemand}, AllowedInstanceTypes: []string{"c*", "m7i.large"},
		ResourceClass: "large", MaxRuntime: 1800, Timeout: 600, CreatedAt: store.At(now),
	}
	for _, op := range []struct {
		name        string
		do          func(context.Context) error
		read, write float64
	}{
		{"Submit", func(ctx context.Context) error { return second(s.Submit(ctx, request)) }, 0, 1},
		{"Seen", func(ctx context.Context) error { return s.Seen(ctx, "2", 1, time.Now()) }, 0, 1},
		{"Status accepted", status(statemachine.Accept), 0, 1},
		{"Register", func(ctx context.Context) (err error) {
			in, err = s.Register(ctx, store.Instance{
				Principal: principal, ID: "i-0123456789abcdef0", RunID: "1", Attempt: 1, ResourceClass: "large", UsageClass: store.Spot,
				InstanceType: "c7i.large", CPU: 2, Mem: 4096, Zone: "eu-west-1a", LaunchToken: "l-5b0e5cf5-7e0f-4c43-9a3e-0b8e0f6a2f0c", TemplateVersion: "7",
			}, now, time.Hour)
			return err
		}, 0, 1},
		{"HandedOver", move(statemachine.HandedOver), 0, 1},
		{"Released", move(statemachine.Released), 0, 1},
		{"Pooled", move(statemachine.Pooled), 0, 1},
		{"Claim", move(statemachine.Claim), 0, 1},
		{"SetRegistration token", register(30), 0, 1},
		{"SetRegistration jit", register(jit), 0, 5},
		{"Agent reads it, eventually", get(store.Eventual), 1, 0},
		{"Renewed with it", move(statemachine.Renewed), 0, 5},
		{"HandedOver, clearing it", move(statemachine.HandedOver), 0, 5},
		{"Agent reads, eventually", get(store.Eventual), 0.5, 0},
		{"Agent reads, consistently", get(store.Consistent), 1, 0},
		{"Beat", func(ctx context.Context) error {
			return s.Beat(ctx, principal, store.Beat{Assignment: 3, Busy: true, Runner: "listening", RunnerID: 1234, AgentVersion: "1.2.3"}, time.Now())
		}, 0, 1},
		{"Signal", func(ctx context.Context) error {
			return s.Signal(ctx, principal, store.SignalValue{Signal: store.RegOK, RunID: "2", Assignment: 3, Serial: 4}, time.Now())
		}, 0, 1},
		{"Vitals of one", func(ctx context.Context) error { return second(s.Vitals(ctx, nil, principal)) }, 2, 0},
		{"Status ready", status(statemachine.Fulfil), 0, 1},
		{"Release", func(ctx context.Context) error { return second(s.Release(ctx, "2", 1, store.ReleaseDrain)) }, 1, 1},
	} {
		read.Store(0)
		write.Store(0)
		if err := op.do(ctx); err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
		r, w := float64(read.Load())/1000, float64(write.Load())/1000
		t.Logf("%-28s %4.1f read units, %4.1f write units", op.name, r, w)
		if r != op.read || w != op.write {
			t.Errorf("%s: %.1f read units and %.1f write units, want %.1f and %.1f", op.name, r, w, op.read, op.write)
		}
	}
}
