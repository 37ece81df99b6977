package pool_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/pool"
)

// The body is a public form: other programs may read the queue. S45.
func TestEncode_S45_BodyShowsEveryAttribute(t *testing.T) {
	in := spot(1)
	in.Threshold = in.Threshold.In(time.FixedZone("", 7200)).Add(123*time.Millisecond + 456*time.Microsecond)
	got, err := pool.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"instanceId":"i-001","usageClass":"spot","instanceType":"c6i.large","cpu":2,"mem":4096,` +
		`"resourceClass":"medium","threshold":"2031-05-06T07:09:10.123Z"}`
	if got != want {
		t.Errorf("Encode = %s\nwant %s", got, want)
	}
}

func TestEncode_Refuses(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*pool.Ticket)
	}{
		{"no instance", func(t *pool.Ticket) { t.InstanceID = "" }},
		{"year that RFC 3339 cannot say", func(t *pool.Ticket) { t.Threshold = t.Threshold.AddDate(9000, 0, 0) }},
	} {
		in := spot(1)
		c.edit(&in)
		if body, err := pool.Encode(in); err == nil {
			t.Errorf("%s: Encode = %s, want an error", c.name, body)
		}
	}
}

// What Decode accepts names an instance and survives another journey, if it can be said at all. H21, H22.
func FuzzDecode(f *testing.F) {
	good, err := pool.Encode(spot(1))
	if err != nil {
		f.Fatal(err)
	}
	for _, body := range []string{good, "", "{}", "null", "[]", `"i-1"`, `{"instanceId":"i-1"}`, `{"instanceId":""}`,
		`{"instanceId":"i-1","cpu":1e9,"new":{}}`, `{"instanceId":"i-1","threshold":"2031-05-06T07:08:09+02:00"}`, good + good} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		first, err := pool.Decode(body)
		if err != nil {
			if first != (pool.Ticket{}) {
				t.Errorf("Decode(%q) = %+v and error %v", body, first, err)
			}
			return
		}
		if first.InstanceID == "" {
			t.Errorf("Decode(%q) names no instance", body)
		}
		again, err := pool.Encode(first)
		if err != nil {
			return
		}
		second, err := pool.Decode(again)
		first.Threshold = first.Threshold.UTC().Truncate(time.Millisecond)
		if diff := cmp.Diff(first, second); err != nil || diff != "" {
			t.Errorf("Decode(Encode(%+v)): error %v, diff\n%s", first, err, diff)
		}
	})
}
