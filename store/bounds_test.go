package store

import (
	"strings"
	"testing"
)

// What names no item that may exist is no key of ours, whoever rings for it.
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
