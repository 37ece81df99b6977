package reconciler

import (
	"fmt"

	"github.com/remuda-run/remuda/store"
)

// reasonKey is why a machine is rejected whose registrations it cannot open any more.
const reasonKey = "lost the key its registrations are sealed to"

// unknownKey reports whether the key that a machine's first registration is to be sealed to is not known yet: its first
// heartbeat names it, before any job can have run there. An agent of the version before names none.
func unknownKey(s snapshot) bool {
	return s.Registration.Serial == 0 && s.SealKey == "" && s.vitals.beat.UpdatedAt.IsZero()
}

// sealKey returns the key that a machine's registrations are sealed to: the one in its record, which the machine cannot
// write, or that of its heartbeat for its very first. "": it has none, and had none when it first ran a job; what it
// says later may be said by a job.
func sealKey(s snapshot) string {
	if s.SealKey != "" || s.Registration.Serial > 0 {
		return s.SealKey
	}
	return s.vitals.beat.Beat.Key
}

// sealFor returns the record that carries the machine's key and the registration that only the machine can open.
func sealFor(s snapshot, reg store.Registration) (store.Instance, store.Registration, error) {
	in := s.Instance
	in.SealKey = sealKey(s)
	if in.SealKey == "" {
		return in, reg, nil
	}
	out, err := reg.Seal(in.SealKey)
	if err != nil {
		return s.Instance, reg, fmt.Errorf("register %s: %w: %w", s.ID, store.ErrInvalid, err)
	}
	return in, out, nil
}

// otherKey reports whether a machine has another key than its record: what is sealed for it is lost.
func otherKey(s snapshot) bool {
	said := s.vitals.beat.Beat.Key
	return s.SealKey != "" && said != "" && said != s.SealKey
}
