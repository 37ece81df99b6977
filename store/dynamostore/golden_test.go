package dynamostore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/store"
	"github.com/remuda-run/remuda/store/dynamostore"
)

// golden is an item as testdata of package store holds it.
type golden struct {
	PK         string
	SK         string
	Version    int64           `json:"version"`
	ExpiresAt  int64           `json:"expiresAt"`
	Attributes json.RawMessage `json:"attributes"`
}

func goldens(t *testing.T) map[string]store.Item {
	t.Helper()
	files, err := filepath.Glob("../testdata/*.json")
	if err != nil || len(files) < 9 {
		t.Fatalf("golden items: %v, %v", files, err)
	}
	out := map[string]store.Item{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var g golden
		if err := json.Unmarshal(body, &g); err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, g.Attributes); err != nil {
			t.Fatal(err)
		}
		item := store.Item{Key: store.Key{Partition: g.PK, Sort: g.SK}, Version: g.Version, Attributes: compact.Bytes()}
		if g.ExpiresAt != 0 {
			item.ExpiresAt = time.Unix(g.ExpiresAt, 0).UTC()
		}
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = item
	}
	return out
}

// The golden items come back byte for byte, and each is one write unit: 1 KB.
func TestTable_GoldenItems(t *testing.T) {
	cfg := local(t, nil)
	u := create(t, cfg)
	table := open(t, u, cfg, clocktesting.NewFakeClock(now))
	defer table.Close()
	for name, want := range goldens(t) {
		t.Run(name, func(t *testing.T) {
			expect := store.Unconditional
			if want.Version > 0 { // climb to its version
				for v := int64(1); v < want.Version; v++ {
					if err := table.Put(t.Context(), store.Item{Key: want.Key, Version: v, Attributes: []byte(`{}`)}, v-1); err != nil {
						t.Fatal(err)
					}
				}
				expect = want.Version - 1
			}
			if err := table.Put(t.Context(), want, expect); err != nil {
				t.Fatal(err)
			}
			got, err := table.Get(t.Context(), store.Consistent, want.Key)
			if err != nil || len(got) != 1 {
				t.Fatalf("Get() = %v, %v", got, err)
			}
			if diff := cmp.Diff(want, got[0]); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
			out, err := dynamodb.NewFromConfig(cfg).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &u.Host,
				Key: map[string]types.AttributeValue{"PK": s(want.Key.Partition), "SK": s(want.Key.Sort)}})
			if err != nil {
				t.Fatal(err)
			}
			size := dynamostore.SizeOf(out.Item)
			t.Logf("%s: %d bytes", name, size)
			if size > 1024 {
				t.Errorf("%d bytes, want at most 1,024: one write unit", size)
			}
		})
	}
}

// An agent's writes name its own attributes and nothing else, so that a policy can say so; all others are
// whole.
func TestPut_AgentNamesItsAttributes(t *testing.T) {
	type call struct {
		Names  map[string]string `json:"ExpressionAttributeNames"`
		Update string            `json:"UpdateExpression"`
		Key    map[string]map[string]string
		target string
	}
	var calls []call
	cfg := local(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(target(r), "Item") && strings.HasPrefix(target(r), "DynamoDB") {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				c := call{target: strings.TrimPrefix(target(r), "DynamoDB_20120810.")}
				if err := json.Unmarshal(body, &c); err != nil {
					return nil, err
				}
				calls = append(calls, c)
			}
			return next.RoundTrip(r)
		})
	})
	table := fresh(t, cfg)
	defer table.Close()
	st := store.New(table)
	if err := errors.Join(
		st.Beat(t.Context(), "i-1", store.Beat{Assignment: 1}, time.Now()),
		st.Beat(t.Context(), "i-1", store.Beat{Assignment: 2}, time.Now()),
		st.Signal(t.Context(), "i-1", store.SignalValue{Signal: store.RegOK}, time.Now()),
	); err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		names := map[string]bool{}
		for _, n := range c.Names {
			names[n] = true
		}
		want := map[string]bool{"value": true, "updatedAt": true, "beat": true, "expiresAt": true}
		if diff := cmp.Diff(want, names); c.target != "UpdateItem" || diff != "" || len(c.Key) != 2 {
			t.Errorf("%s %s names (-want +got):\n%s", c.target, c.Update, diff)
		}
	}
	calls = nil
	if err := errors.Join(st.Seen(t.Context(), "1", 1, time.Now()), st.OrderDrain(t.Context(), store.DrainOrder{ID: "d", CreatedAt: store.At(time.Now())})); err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		if c.target != "PutItem" {
			t.Errorf("%s of %v, want a whole put", c.target, c.Key)
		}
	}
	vitals, err := st.Vitals(t.Context(), func(k store.Key, err error) { t.Errorf("%v: %v", k, err) }, "i-1")
	if err != nil || vitals["i-1"].Heartbeat.Beat.Assignment != 2 || vitals["i-1"].Signal.Value.Signal != store.RegOK {
		t.Errorf("Vitals() = %+v, %v", vitals, err)
	}
}
