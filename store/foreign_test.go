package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"
)

// largest is the largest request that Check accepts.
func largest() RunRequest {
	r := RunRequest{
		ID: RequestID(strings.Repeat("9", 100)), Attempt: 1, Count: MaxSeats, UsageClasses: []string{OnDemand, Spot}, ResourceClass: strings.Repeat("c", maxClass),
		Repository: strings.Repeat("r", 99) + "/" + strings.Repeat("r", 100), WorkflowRun: 1 << 60, WorkflowAttempt: 1, Release: ReleaseDrain, ReleaseReason: RunWaits,
	}
	for i := range MaxPatterns {
		r.AllowedInstanceTypes = append(r.AllowedInstanceTypes, fmt.Sprintf("c%029d", i))
	}
	return r
}

func TestRunRequest_LargestIsRead(t *testing.T) {
	want := largest()
	item, err := encode(&want, 1)
	if err != nil || want.Check() != nil {
		t.Fatal(err, want.Check())
	}
	var got RunRequest
	if err := decode(item, &got); err != nil || !got.SameSpec(want) || got.Repository != want.Repository {
		t.Errorf("decode() of %d bytes = %v", len(item.Attributes), err)
	}
	t.Logf("%d bytes of %d", len(item.Attributes), MaxForeign)
}

// A large item of a workflow or an instance is a bad record. The controller's own records can be large.
func TestDecode_BoundsForeignItems_Review_S2(t *testing.T) {
	large := []byte(`{"attempt":1,"phase":"Ready","x":"` + strings.Repeat("x", MaxForeign) + `"}`)
	for _, r := range []record{&RunRequest{ID: "1"}, &RunClient{ID: "1"}, &Heartbeat{Principal: "i-1"}, &Signal{Principal: "i-1"}, &DrainOrder{ID: "1"}} {
		err := decode(Item{Key: r.key(), Attributes: large}, r)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "size: must be at most 16384 bytes, got 16") {
			t.Errorf("decode() of a large %T = %v, want that its size is wrong", r, err)
		}
	}
	if err := decode(Item{Key: RequestKey("1", KindRunStatus), Version: 1, Attributes: large}, new(RunStatus)); err != nil {
		t.Errorf("decode() of a large status = %v", err)
	}
	for key, want := range map[Key]bool{
		RequestKey("1", KindRunStatus): false, InstanceKey("i-1", KindInstance): false, LaunchKey("1"): false, LeaseKey: false,
		DemandKey("2026-01-02"): false, CostsKey("2026-01-02"): false, FloorKey("small"): false,
		RequestKey("1", KindInstance): true, InstanceKey("i-1", KindRunStatus): true, RequestKey("1", KindLease): true, RequestKey("1", KindDemand): true,
		RequestKey("1", KindLaunch): true, InstanceKey("i-1", KindCosts): true, RequestKey("1", "TYPE#Note"): true, DrainKey("1"): true,
	} {
		if got := key.Bounded(); got != want {
			t.Errorf("%s is bounded: %t, want %t", key, got, want)
		}
	}
}

// A request in memory has a maximum size, also if a check failed. The error names the field.
func TestDecode_KeepsLittleOfARequest_Review_S2(t *testing.T) {
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	list := func(n int, element string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	for name, tt := range map[string]struct{ value, problem string }{
		"allowedInstanceTypes": {list(4000, `"c"`), "allowedInstanceTypes: must hold at most 400 patterns, got 4000"},
		"usageClass":           {list(3000, `"s"`), "usageClass: must hold one or two of spot and on-demand, got 3000"},
		"resourceClass":        {text(15_000), "resourceClass: must be at most 200 bytes, got 15000"},
		"release":              {text(15_000), "release: must be at most 200 bytes, got 15000"},
		"count":                {list(3000, "1"), "count: must be of type int, got a array"},
		"timeout":              {text(15_000), "timeout: must be of type float64, got a string"},
		"repository":           {text(15_000), ""},
		"releaseReason":        {text(15_000), ""},
		"createdAt":            {text(15_000), ""},
		"workflowRun":          {list(3000, "[]"), ""},
	} {
		var members map[string]json.RawMessage
		body, err := json.Marshal(RunRequest{Attempt: 7, UsageClasses: []string{Spot}, ResourceClass: "small"})
		if err == nil {
			err = json.Unmarshal(body, &members)
		}
		members[name] = json.RawMessage(tt.value)
		body, _ = json.Marshal(members)
		var r RunRequest
		err = errors.Join(err, decode(Item{Key: RequestKey("1", KindRunRequest), Version: 1, Attributes: body}, &r))
		if (err != nil) != (tt.problem != "") || err != nil && (!strings.Contains(err.Error(), tt.problem) || len(err.Error()) > 800) {
			t.Errorf("%s: decode() = %.900v, want %q", name, err, tt.problem)
		}
		kept := unsafe.Sizeof(r) + uintptr(len(r.ResourceClass)+len(r.Release)+len(r.Repository)+len(r.ReleaseReason)) + uintptr(cap(r.AllowedInstanceTypes)+cap(r.UsageClasses))*16
		if kept > 2000 || r.Attempt != 7 {
			t.Errorf("%s: %d bytes are kept of attempt %d", name, kept, r.Attempt)
		}
	}
}

// A foreign key in an error is short and does not break the line.
func TestKey_IsAPartOfALine_Review_S3(t *testing.T) {
	for _, k := range []Key{
		{"RUN#a\n\n0 instances\ncontroller  none leads", KindRunRequest}, {"RUN#1", "TYPE#a\nlevel=ERROR"}, {"RUN#\u202egnp", "\x1b[2J"},
		{"RUN#" + strings.Repeat("x", 2000), strings.Repeat("\x01", 1000)}, {"RUN#\xff", "\u2028"},
	} {
		got := k.String()
		if strings.ContainsAny(got, "\n\r\x1b\u202e\u2028\x01") || !utf8.ValidString(got) || len(got) > maxLine {
			t.Errorf("String() = %q", got)
		}
		if err := decode(Item{Key: k, Attributes: []byte(`{}`)}, new(RunRequest)); err == nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 800 {
			t.Errorf("decode() = %v", err)
		}
	}
	long := InstanceKey(Principal(strings.Repeat("p", 200)), KindHeartbeat)
	if got := long.String(); got != long.Partition+" "+long.Sort {
		t.Errorf("String() of a long key of ours = %s", got)
	}
}

// Few bad records are kept in memory, and all bad instances.
func TestFound_KeepsFewBadRecords_Review_S3(t *testing.T) {
	var f Found
	v := f.Visitor()
	for n := range 1000 {
		v.Bad(Key{fmt.Sprint("RUN#", n), strings.Repeat("x", 1000)}, ErrInvalid)
	}
	in := InstanceKey("i-1", KindInstance)
	v.Bad(in, ErrInvalid)
	if len(f.Bad) != maxBad+1 || f.MoreBad != 1000-maxBad || f.Bad[in] == nil {
		t.Errorf("%d are kept and %d counted", len(f.Bad), f.MoreBad)
	}
}
