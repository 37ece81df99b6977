package store

import (
	"errors"
	"fmt"
)

// Error kinds. Callers test them with errors.Is.
var (
	ErrNotFound    = errors.New("store: not found")
	ErrConflict    = errors.New("store: version conflict")
	ErrInvalid     = errors.New("store: invalid record")
	ErrExpiry      = errors.New("store: no expiry") // of Item.Broken: what is stored as one is no instant
	ErrExpired     = errors.New("store: threshold passed")
	ErrOtherSpec   = errors.New("store: same attempt with another spec")
	ErrOldAttempt  = errors.New("store: attempt is older than the stored one")
	ErrNotLeader   = errors.New("store: not the leader")
	ErrSchema      = errors.New("store: schema of a later version")
	ErrUnavailable = errors.New("store: unavailable")
	ErrUnconfirmed = fmt.Errorf("%w: the write was not confirmed", ErrUnavailable) // the write may have been applied, or may still be
	ErrRefused     = errors.New("store: refused")                                  // permission, credentials or the table are missing: an operator must act
)

// ConflictError says that another writer came first. It wraps ErrConflict.
type ConflictError struct {
	Key     Key
	Expect  int64
	Current *Item // the stored item; nil if there is none
}

func (e *ConflictError) Error() string {
	have := "absent"
	if e.Current != nil {
		have = fmt.Sprintf("v%d", e.Current.Version)
	}
	return fmt.Sprintf("put %s %s over v%d, have %s: %v", e.Key.Partition, e.Key.Sort, e.Expect, have, ErrConflict)
}

// Unwrap makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Unwrap() error { return ErrConflict }
