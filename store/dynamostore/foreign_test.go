package dynamostore

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/remuda-run/remuda/store"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Reading a large foreign item takes little memory. DynamoDB sends numbers with all their zeros.
func TestRead_ForeignItems_TakeLittleMemory_Review_S2_S7(t *testing.T) {
	const request, own = store.KindRunRequest, "TYPE#Instance"
	expanded := `{"N":"1` + strings.Repeat("0", 125) + `"}`
	for name, tt := range map[string]struct {
		item string
		most uint64 // kB
		want string // of what is wrong; "": it is read
	}{
		"Strings":          {wireList(request, "allowedInstanceTypes", `{"S":"c"}`, 190_000), 500, "size: must be at most 16384 bytes"},
		"Numbers":          {wireList(request, "allowedInstanceTypes", expanded, 130_000), 500, "size: must be at most 16384 bytes"},
		"NumbersInCount":   {wireList(request, "count", expanded, 130_000), 500, "size: must be at most 16384 bytes"},
		"Unknown":          {wireList(request, "later", expanded, 130_000), 500, "size: must be at most 16384 bytes"},
		"Nested":           {wireList(request, "release", `{"L":[{"M":{"x":{"L":[]}}}]}`, 30_000), 500, "size: must be at most 16384 bytes"},
		"Kind":             {wireList("TYPE#Note", "x", `{"S":"c"}`, 190_000), 500, "size: must be at most 16384 bytes"},
		"AttemptOfStatus":  {wireList(store.KindRunStatus, "attempt", `{"S":"c"}`, 190_000), 500, "attempt: must be at most"},
		"VersionIsAList":   {wireList(request, "version", `{"S":"c"}`, 190_000), 500, "version: must be a whole number"},
		"ExpiryIsAList":    {wireList(request, "expiresAt", `{"S":"c"}`, 190_000), 500, "expiresAt: store: no expiry"},
		"TypesOfStatus":    {wireList(store.KindRunStatus, "allowedInstanceTypes", `{"S":"c"}`, 190_000), 500, ""},
		"BeatOfAnInstance": {strings.Replace(wireList(own, "beat", `{"S":"c"}`, 190_000), "RUN#", "INSTANCE#", 1), 500, ""},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.NewReader(`{"Count":2,"Items":[` + tt.item + `,{"PK":{"S":"RUN#2"},"SK":{"S":"TYPE#RunRequest"},"count":{"N":"1"}}],"ScannedCount":2}`)
			var a answer
			var rest []byte
			var err error
			used := allocated(func() { rest, err = a.read(body) })
			if err != nil || string(rest) != `{"Count":2,"ScannedCount":2}` || len(a.items) != 2 {
				t.Fatalf("read() = %d items, %.200s, %v", len(a.items), rest, err)
			}
			if used > tt.most<<10 {
				t.Errorf("%d kB were allocated, want at most %d", used>>10, tt.most)
			}
			item := a.items[0]
			if (item.Broken == nil) != (tt.want == "") || item.Broken != nil && !strings.HasPrefix(item.Broken.Error(), tt.want) {
				t.Errorf("the item is broken by %v, want %q", item.Broken, tt.want)
			}
			if errors.Is(item.Broken, store.ErrExpiry) != (name == "ExpiryIsAList") {
				t.Errorf("the item is broken by %v", item.Broken)
			}
			if len(item.Attributes) > 100 || item.Key.Sort == "" {
				t.Errorf("the item has %s and %d bytes", item.Key, len(item.Attributes))
			}
			if next := a.items[1]; string(next.Attributes) != `{"count":1}` {
				t.Errorf("the next item = %+v", next)
			}
		})
	}
}

// The controller's own records are read up to the 400 KB that DynamoDB takes.
func TestRead_OwnLargeItems(t *testing.T) {
	for name, item := range map[string]string{
		"Status": wireList(store.KindRunStatus, "instances", `{"M":{"instanceId":{"S":"i-1"},"warm":{"BOOL":true}}}`, store.MaxSeats),
		"Demand": `{"PK":{"S":"META#demand-2026-01-02"},"SK":{"S":"TYPE#Demand"},"version":{"N":"1"},"rows":{"L":[{"M":{"hour":{"N":"3"},"requests":{"L":[` +
			strings.Repeat(`{"L":[{"N":"3599999999999"},{"N":"86400000"},{"N":"86400000"},{"N":"3000"},{"N":"3000"}]},`, 6000) + `{"L":[]}]}}}]}}`,
	} {
		var a answer
		if _, err := a.read(strings.NewReader(`{"Item":` + item + `}`)); err != nil || a.items[0].Broken != nil || len(a.items[0].Attributes) < 50_000 {
			t.Errorf("%s: read() = %d bytes, %v, %v", name, len(a.items[0].Attributes), a.items[0].Broken, err)
		}
	}
}

// An item of a version before, whose demand was one large text, is read without the text. It is no bad record.
func TestRead_DemandOfAnEarlierVersion(t *testing.T) {
	item := `{"PK":{"S":"META#demand-2026-01-02"},"SK":{"S":"TYPE#Demand"},"version":{"N":"7"},"entries":{"S":"` + strings.Repeat("x", 300_000) + `"},"leftOut":{"N":"3"}}`
	var a answer
	if _, err := a.read(strings.NewReader(`{"Item":` + item + `}`)); err != nil || a.items[0].Broken != nil || a.items[0].Version != 7 || string(a.items[0].Attributes) != `{"leftOut":3}` {
		t.Errorf("read() = %+v, %v", a.items, err)
	}
}

// A long name costs its own item alone. In JSON, a name of 6,000 control characters is that long.
func TestRead_LongName_Review_S7(t *testing.T) {
	key := fmt.Sprintf(`"PK":{"S":"RUN#1"},"SK":{"S":%q}`, store.KindRunRequest)
	for _, name := range []string{strings.Repeat("n", 40_000), strings.Repeat(`\u0001`, 6000)} {
		var a answer
		_, err := a.read(strings.NewReader(`{"Items":[{"` + name + `":{"L":[{"S":"x"}]},` + key + `},{` + key + `,"attempt":{"N":"1"}}],"Count":2}`))
		if err != nil || len(a.items) != 2 || a.items[0].Broken == nil || a.items[1].Broken != nil {
			t.Errorf("read() of a name of %d bytes = %d items, %v, want the first one broken alone", len(name), len(a.items), err)
		}
	}
}

// A truncated answer is an error. An answer that is not an object goes to the SDK.
func TestRead_BadAnswers(t *testing.T) {
	whole := `{"Items":[` + wireList(store.KindRunRequest, "usageClass", `{"S":"\"}"}`, 3) + `],"Count":1}`
	for n := range len(whole) - 1 {
		if n == 0 {
			continue
		}
		var a answer
		if _, err := a.read(strings.NewReader(whole[:n])); err == nil {
			t.Errorf("read() of %s: no error", whole[:n])
		}
	}
	for _, body := range []string{"", "<html>503</html>", "[]"} {
		var a answer
		if rest, err := a.read(strings.NewReader(body)); err != nil || string(rest) != body {
			t.Errorf("read() of %q = %q, %v, want it as it is", body, rest, err)
		}
	}
	for _, body := range []string{`{"Items":3}`, `{"Item":[]}`, `{"Items":[{"PK" {"S":"x"}}]}`} {
		var a answer
		if _, err := a.read(strings.NewReader(body)); err == nil {
			t.Errorf("read() of %s: no error", body)
		}
	}
}
