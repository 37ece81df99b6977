package store

import (
	"strings"
	"testing"
)

// What names no item that may exist is no key of ours, though one notifies of it.
func TestKey_OfForeignText_NamesNothing(t *testing.T) {
	long := strings.Repeat("9", 101)
	for _, k := range []Key{
		RequestKey(RequestID(long), KindRunRequest), RequestKey("", KindRunRequest), RequestKey("A", KindRunRequest),
		RequestKey("1\n2", KindRunRequest), InstanceKey("", KindSignal), InstanceKey(Principal(long+long), KindSignal),
		InstanceKey("a b", KindSignal), DrainKey(""), DrainKey(long + long), DrainKey("a\x1b"),
	} {
		_, request := k.RequestID()
		_, principal := k.Principal()
		_, drain := k.DrainID()
		if request || principal || drain {
			t.Errorf("%.40q names a record", k.Partition)
		}
	}
	if id, ok := RequestKey(RequestID(long[1:]), KindRunRequest).RequestID(); !ok || len(id) != 100 {
		t.Errorf("RequestID() of 100 characters = %q, %v", id, ok)
	}
	if p, ok := InstanceKey("AROAEXAMPLE:i-0123456789abcdef0", KindSignal).Principal(); !ok || p == "" {
		t.Errorf("Principal() = %q, %v", p, ok)
	}
	if id, ok := DrainKey("6b9c2a54-6d1e-4b44-9f4e-0d8f2b7a1c11").DrainID(); !ok || id == "" {
		t.Errorf("DrainID() = %q, %v", id, ok)
	}
}

// Every text of a request has a bound, and an error about one shows its beginning only.
func TestRunRequest_Check_BoundsEveryText(t *testing.T) {
	good := RunRequest{UsageClasses: []string{Spot}, AllowedInstanceTypes: []string{"*"}, ResourceClass: "small"}
	if err := good.Check(); err != nil {
		t.Errorf("Check() of a good one = %v", err)
	}
	giant := strings.Repeat("x", 390_000)
	many := make([]string, 401)
	for i := range many {
		many[i] = "c*"
	}
	for field, change := range map[string]func(*RunRequest){
		"usageClass: must hold":           func(r *RunRequest) { r.UsageClasses = nil },
		"usageClass: must hold one":       func(r *RunRequest) { r.UsageClasses = many },
		"usageClass: must be":             func(r *RunRequest) { r.UsageClasses = []string{giant} },
		"allowedInstanceTypes: must":      func(r *RunRequest) { r.AllowedInstanceTypes = many },
		"allowedInstanceTypes: a":         func(r *RunRequest) { r.AllowedInstanceTypes = []string{giant} },
		"allowedInstanceTypes: a pattern": func(r *RunRequest) { r.AllowedInstanceTypes = []string{""} },
		"resourceClass":                   func(r *RunRequest) { r.ResourceClass = giant },
	} {
		bad := good
		change(&bad)
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), field) || len(err.Error()) > 300 {
			t.Errorf("Check() = %.400v, want one about %s of at most 300 bytes", err, field)
		}
	}
}

// What agents and operators write is bounded too.
func TestValidate_BoundsTextsOfOthers(t *testing.T) {
	giant := strings.Repeat("\x1b", 390_000)
	for _, r := range []record{
		&Heartbeat{Principal: "p", Value: Ping, Beat: Beat{Runner: giant}}, &Heartbeat{Principal: "p", Value: Ping, Beat: Beat{AgentVersion: giant}},
		&Heartbeat{Principal: "p", Value: giant},
		&Signal{Principal: "p", Value: SignalValue{Signal: RegOK, RunID: RequestID(giant)}}, &Signal{Principal: "p", Value: SignalValue{Signal: RegOK, Cause: giant}},
		&Signal{Principal: "p", Value: SignalValue{Signal: SignalName(giant)}}, &Signal{Principal: "p", Value: SignalValue{Signal: RegOK, Detail: giant}},
		&DrainOrder{ID: "1", InstanceID: InstanceID(giant)}, &DrainOrder{ID: "1", ResourceClass: giant}, &DrainOrder{ID: giant},
		&RunRequest{ID: RequestID(giant), Attempt: 1}, &RunRequest{ID: "pool-small", Attempt: 1}, &RunClient{ID: "pool-"},
		&Floor{Class: giant}, &Floor{Class: "small", Reason: giant}, &Floor{Class: "small", Detail: giant}, &Floor{Class: "small", Wanted: -1},
	} {
		if err := r.validate(); err == nil || len(err.Error()) > 1000 {
			t.Errorf("validate() of a %T with a giant text: %.200v", r, err)
		}
	}
}

// A message is cut where a character begins.
func TestHead_CutsText(t *testing.T) {
	for _, text := range []string{strings.Repeat("é", 2000), "x" + strings.Repeat("€", 2000), strings.Repeat("\xff", 5000)} {
		got := Head(text, MaxMessage)
		if len(got) > MaxMessage || len(got) < MaxMessage-6 && len(got) > 1 || strings.ToValidUTF8(got, "") != got {
			t.Errorf("Head() has %d bytes, valid %v", len(got), strings.ToValidUTF8(got, "") == got)
		}
	}
	if got := Head("short", MaxMessage); got != "short" {
		t.Errorf("Head() = %q", got)
	}
}
