package dynamostore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/store"
)

// Items of 300 KB fill a page of 1 MB with three and an answer of 16 MB with 54: every page and every
// unprocessed key is followed. H05
func TestReads_FollowEveryPage_H05(t *testing.T) {
	t.Parallel()
	var scans, batches atomic.Int32
	cfg := local(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			switch target(r) {
			case "DynamoDB_20120810.Scan":
				scans.Add(1)
			case "DynamoDB_20120810.BatchGetItem":
				batches.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	table := fresh(t, cfg)
	defer table.Close()
	const items = 60
	want := map[store.Key]bool{}
	var keys []store.Key
	for n := range items {
		want[key(n)] = true
		keys = append(keys, key(n))
		item := store.Item{Key: key(n), Version: 1, Attributes: fmt.Appendf(nil, `{"n":%d,"text":%q}`, n, strings.Repeat("x", 300_000))}
		if err := table.Put(t.Context(), item, 0); err != nil {
			t.Fatal(err)
		}
	}
	got := map[store.Key]bool{}
	err := table.Scan(t.Context(), func(item store.Item) error {
		if got[item.Key] {
			t.Errorf("Scan() yields %v twice", item.Key)
		}
		got[item.Key] = true
		return nil
	})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Scan() error = %v, items (-want +got):\n%s", err, diff)
	}
	if scans.Load() < items/4 {
		t.Errorf("%d pages were read: they are larger than a page may be", scans.Load())
	}
	found, err := table.Get(t.Context(), store.Consistent, keys...)
	if err != nil || len(found) != items {
		t.Errorf("Get() = %d items, %v, want %d", len(found), err, items)
	}
	if batches.Load() < 2 {
		t.Errorf("%d batches were read: the answer is larger than one may be", batches.Load())
	}
	if _, err := table.Get(t.Context(), store.Consistent, key(1), key(items+1), store.Key{Partition: "", Sort: "x"}); err != nil {
		t.Errorf("Get() of an impossible key: error = %v, want none", err)
	}
}

// batchOf is a request or, with the same form, what an answer leaves unprocessed.
type batchOf map[string]struct {
	Keys           []map[string]map[string]string
	ConsistentRead bool
}

// A table under load answers some keys, then others, then none: what is left is asked for again, nothing
// twice, and at last the caller learns that it is unavailable.
func TestGet_UnprocessedKeys_H05(t *testing.T) {
	answered := map[string]int{}
	var calls, each atomic.Int32
	cfg := config(t, "http://127.0.0.1:1", "http://127.0.0.1:1", func(http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			calls.Add(1)
			var in struct{ RequestItems batchOf }
			if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
				return nil, err
			}
			asked := in.RequestItems["remuda"]
			if !asked.ConsistentRead {
				t.Error("the read is not consistent")
			}
			n := min(int(each.Load()), len(asked.Keys))
			items := []map[string]map[string]string{}
			for _, k := range asked.Keys[:n] {
				answered[k["PK"]["S"]]++
				items = append(items, k)
			}
			left := batchOf{}
			if asked.Keys = asked.Keys[n:]; len(asked.Keys) > 0 {
				left["remuda"] = asked
			}
			out, err := json.Marshal(map[string]any{"Responses": map[string]any{"remuda": items}, "UnprocessedKeys": left})
			return answer(r, 200, string(out)), err
		})
	})
	table := open(t, tableURL("remuda"), cfg, clock.RealClock{})
	defer table.Close()
	var keys []store.Key
	for n := range 90 {
		keys = append(keys, key(n))
	}
	each.Store(15)
	items, err := table.Get(t.Context(), store.Consistent, keys...)
	if err != nil || len(items) != len(keys) || calls.Load() != 6 {
		t.Errorf("Get() = %d items, %v after %d calls, want %d after 6", len(items), err, calls.Load(), len(keys))
	}
	for k, n := range answered {
		if n != 1 {
			t.Errorf("%s was answered %d times", k, n)
		}
	}
	each.Store(0)
	calls.Store(0)
	if _, err := table.Get(t.Context(), store.Consistent, keys...); !errors.Is(err, store.ErrUnavailable) || calls.Load() != 4 {
		t.Errorf("Get() error = %v after %d calls, want %v after 4", err, calls.Load(), store.ErrUnavailable)
	}
}

// A scan outlasts a table that is throttled for a while, and reports one that stays refused.
func TestScan_Throttled(t *testing.T) {
	var fail atomic.Int32
	var code atomic.Value
	code.Store("ThrottlingException")
	cfg := local(t, func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(target(r), ".Scan") && fail.Add(-1) >= 0 {
				return coded(r, 400, fmt.Sprint(code.Load())), nil
			}
			return next.RoundTrip(r)
		})
	})
	table := fresh(t, cfg)
	defer table.Close()
	if err := table.Put(t.Context(), store.Item{Key: key(1), Attributes: []byte(`{}`)}, store.Unconditional); err != nil {
		t.Fatal(err)
	}
	fail.Store(20)
	seen := 0
	if err := table.Scan(t.Context(), func(store.Item) error { seen++; return nil }); err != nil || seen != 1 {
		t.Errorf("Scan() = %d items, %v, want 1", seen, err)
	}
	fail.Store(1)
	code.Store("AccessDeniedException")
	err := table.Scan(t.Context(), func(store.Item) error { return nil })
	if !errors.Is(err, store.ErrRefused) || !strings.Contains(err.Error(), "dynamodb:Scan") {
		t.Errorf("Scan() error = %v, want %v that names the call", err, store.ErrRefused)
	}
}

// The injected clock judges expiry, in reads and in conditions alike; the instant of expiry is past it.
func TestTable_ExpiryByTheInjectedClock(t *testing.T) {
	// Ahead of the real clock: DynamoDB Local deletes in the background what has expired by its own.
	at := time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)
	cfg := local(t, nil)
	clk := clocktesting.NewFakeClock(at)
	table := open(t, create(t, cfg), cfg, clk)
	defer table.Close()
	for n, tt := range []struct {
		name string
		now  time.Time
		want int
	}{{"OneMillisecondBefore", at.Add(-time.Millisecond), 1}, {"Exactly", at, 0}, {"After", at.Add(time.Hour), 0}} {
		t.Run(tt.name, func(t *testing.T) {
			k := key(n)
			clk.SetTime(at.Add(-time.Hour))
			if err := table.Put(t.Context(), store.Item{Key: k, Version: 1, ExpiresAt: at, Attributes: []byte(`{}`)}, 0); err != nil {
				t.Fatal(err)
			}
			clk.SetTime(tt.now)
			one, err := table.Get(t.Context(), store.Consistent, k)
			if err != nil || len(one) != tt.want {
				t.Errorf("Get(one key) = %v, %v, want %d items", one, err, tt.want)
			}
			many, err := table.Get(t.Context(), store.Consistent, k, key(99))
			if err != nil || len(many) != tt.want {
				t.Errorf("Get(two keys) = %v, %v, want %d items", many, err, tt.want)
			}
			seen := 0
			err = table.Scan(t.Context(), func(item store.Item) error {
				if item.Key == k {
					seen++
				}
				return nil
			})
			if err != nil || seen != tt.want {
				t.Errorf("Scan() = %d items, %v, want %d", seen, err, tt.want)
			}
			err = table.Put(t.Context(), store.Item{Key: k, Version: 2, Attributes: []byte(`{}`)}, 1)
			if errors.Is(err, store.ErrConflict) != (tt.want == 0) {
				t.Errorf("Put(expect 1) error = %v, want a conflict = %t", err, tt.want == 0)
			}
			if tt.want == 1 {
				return
			}
			if err := table.Put(t.Context(), store.Item{Key: k, Version: 1, Attributes: []byte(`{}`)}, 0); err != nil {
				t.Errorf("Put(expect 0) error = %v, want none: the old one has expired", err)
			}
		})
	}
}

// raw writes an item past the codec.
func raw(t *testing.T, cfg aws.Config, table string, item map[string]types.AttributeValue) {
	t.Helper()
	if _, err := dynamodb.NewFromConfig(cfg).PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item}); err != nil {
		t.Fatal(err)
	}
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

// Items that another program wrote are read as far as they can be; bad ones are named and hide nothing, in
// every kind of read. H70
func TestTable_ForeignItems_H70(t *testing.T) {
	cfg := local(t, nil)
	u := create(t, cfg)
	table := open(t, u, cfg, clock.RealClock{})
	defer table.Close()
	st := store.New(table)
	good, err := st.Register(t.Context(), store.Instance{Principal: "i-good", ID: "i-good", RunID: "1"}, now, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dynamodb.NewFromConfig(cfg).UpdateItem(t.Context(), &dynamodb.UpdateItemInput{ // an operator's note
		TableName: &u.Host, Key: map[string]types.AttributeValue{"PK": s("INSTANCE#i-good"), "SK": s(store.KindInstance)},
		UpdateExpression: aws.String("SET note = :b, seen = :s"), ExpressionAttributeValues: map[string]types.AttributeValue{
			":b": &types.AttributeValueMemberB{Value: []byte{0xff}}, ":s": &types.AttributeValueMemberSS{Value: []string{"x"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	raw(t, cfg, u.Host, map[string]types.AttributeValue{"PK": s("INSTANCE#i-text"), "SK": s(store.KindInstance), "version": s("one")})
	raw(t, cfg, u.Host, map[string]types.AttributeValue{"PK": s("INSTANCE#i-expiry"), "SK": s(store.KindHeartbeat), "expiresAt": s("never")})
	raw(t, cfg, u.Host, map[string]types.AttributeValue{"PK": s("Zebra"), "SK": s("Crossing")})

	var instances []store.Instance
	bad := map[store.Key]bool{}
	err = st.Scan(t.Context(), store.Visitor{
		Instance:  func(in store.Instance) { instances = append(instances, in) },
		Heartbeat: func(h store.Heartbeat) { t.Errorf("Heartbeat(%+v), want none", h) },
		Bad:       func(k store.Key, _ error) { bad[k] = true },
	})
	if diff := cmp.Diff([]store.Instance{good}, instances); err != nil || diff != "" {
		t.Errorf("Scan() error = %v, instances (-want +got):\n%s", err, diff)
	}
	wantBad := map[store.Key]bool{
		store.InstanceKey("i-text", store.KindInstance): true, store.InstanceKey("i-expiry", store.KindHeartbeat): true, {Partition: "Zebra", Sort: "Crossing"}: true,
	}
	if diff := cmp.Diff(wantBad, bad); diff != "" {
		t.Errorf("bad records (-want +got):\n%s", diff)
	}
	if _, err := st.Instance(t.Context(), store.Consistent, "i-text"); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("Instance() error = %v, want %v", err, store.ErrInvalid)
	}
	badVitals := 0
	if _, err := st.Vitals(t.Context(), func(store.Key, error) { badVitals++ }, "i-good", "i-expiry"); err != nil || badVitals != 1 {
		t.Errorf("Vitals() error = %v with %d bad records, want 1", err, badVitals)
	}
	if _, err := st.Register(t.Context(), store.Instance{Principal: "i-text", ID: "i-text", RunID: "1"}, now, time.Hour); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Register() over a bad record: error = %v, want %v", err, store.ErrConflict)
	}
	if _, err := st.SetRegistration(t.Context(), good, store.Registration{Serial: 1}, now); err != nil {
		t.Errorf("SetRegistration() of the noted instance: error = %v", err)
	}
}
