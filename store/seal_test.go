package store

import (
	"bytes"
	"strings"
	"testing"
)

func machineKey(t *testing.T, fill byte) MachineKey {
	t.Helper()
	key, err := NewMachineKey(bytes.Repeat([]byte{fill}, 32))
	if err != nil {
		t.Fatalf("NewMachineKey() error = %v", err)
	}
	return key
}

// H43: what is sealed to a machine is opened by it alone, as the registration it was made for.
func TestSeal_OpenedByItsMachineOnly_H43(t *testing.T) {
	mine, other := machineKey(t, 1), machineKey(t, 2)
	reg := Registration{Serial: 4, Name: "i-1-4", Secret: strings.Repeat("jit ", 1000)}
	sealed, err := reg.Seal(mine.Public())
	if err != nil {
		t.Fatalf("Seal() error = %v", err)
	}
	if !sealed.Sealed() || strings.Contains(sealed.Secret, "jit ") || reg.Sealed() {
		t.Errorf("Seal() = %.40q, want nothing of the secret", sealed.Secret)
	}
	if again, _ := reg.Seal(mine.Public()); again.Secret == sealed.Secret {
		t.Error("sealed twice alike")
	}
	if got, err := mine.Open(sealed); err != nil || got != reg {
		t.Errorf("Open() = %.60v, %v, want what was sealed", got, err)
	}
	if got, err := mine.Open(reg); err != nil || got != reg {
		t.Errorf("Open() of one in the clear = %.60v, %v", got, err)
	}
	renamed, renumbered, cut := sealed, sealed, sealed
	renamed.Name, renumbered.Serial, cut.Secret = "i-1-5", 5, sealed.Secret[:60]
	for name, r := range map[string]Registration{"renamed": renamed, "renumbered": renumbered, "cut": cut, "nonsense": {Secret: sealedMark + "!"}} {
		if got, err := mine.Open(r); err == nil {
			t.Errorf("Open() of one %s = %.60v", name, got)
		}
	}
	if got, err := other.Open(sealed); err == nil {
		t.Errorf("Open() by another machine = %.60v", got)
	}
}

// A key that is none is a bad heartbeat, and nothing is sealed to it.
func TestSeal_ToNoKey(t *testing.T) {
	for _, key := range []string{"x", "!", strings.Repeat("A", 44), strings.Repeat("A", 10_000)} {
		if _, err := (Registration{}).Seal(key); err == nil {
			t.Errorf("Seal(%.20q) was done", key)
		}
		if err := (&Heartbeat{Principal: "p", Value: Ping, Beat: Beat{Key: key}}).validate(); err == nil || len(err.Error()) > 300 {
			t.Errorf("validate() of a heartbeat with key %.20q: %.300v", key, err)
		}
	}
}
