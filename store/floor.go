package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// KindFloor is the kind of the record of a floor.
const KindFloor = "TYPE#Floor"

const (
	floorPrefix = "META#pool-"
	floorOwner  = "pool-" // begins the id by which a floor owns the instances that it launched; no request has such a one
)

// Floor is how the floor of a class stands. Nothing is decided by it: the controller writes it for people, when it changes.
type Floor struct {
	Class     string    `json:"-"`
	Wanted    int       `json:"wanted"`           // idle machines wanted at present
	Have      int       `json:"have"`             // of them are there, or on their way to the pool
	Reason    string    `json:"reason,omitempty"` // why it is short, one word for programs; "": it is not
	Detail    string    `json:"detail,omitempty"` // the same for people, at most MaxMessage bytes
	Since     Time      `json:"since"`            // since when Wanted and Reason are these
	ChangedAt Time      `json:"changedAt"`
	Version   int64     `json:"-"`
	ExpiresAt time.Time `json:"-"` // set once no floor is configured
}

// FloorKey returns the key of the record of a class's floor.
func FloorKey(class string) Key { return Key{floorPrefix + class, KindFloor} }

// FloorOwner returns the id by which the floor of a class owns what it launches, as a request would.
func FloorOwner(class string) RequestID { return RequestID(floorOwner + class) }

// Floor returns the class whose floor has this id, and whether it is a floor's: no request's then.
func (id RequestID) Floor() (class string, is bool) { return strings.CutPrefix(string(id), floorOwner) }

func (r *Floor) key() Key                   { return FloorKey(r.Class) }
func (r *Floor) meta() (*int64, *time.Time) { return &r.Version, &r.ExpiresAt }
func (r *Floor) setKey(k Key)               { r.Class = strings.TrimPrefix(k.Partition, floorPrefix) }
func (r *Floor) validate() error {
	if r.Wanted < 0 || r.Have < 0 {
		return fmt.Errorf("wanted, have: must be at least 0, got %d, %d", r.Wanted, r.Have)
	}
	if len(r.Detail) > MaxMessage {
		return fmt.Errorf("detail: must be at most %d bytes, got %d", MaxMessage, len(r.Detail))
	}
	if err := short("reason", r.Reason); err != nil {
		return err
	}
	return validName("class", r.Class)
}

// PutFloor stores f over whatever of an earlier controller is there: it is for people, and the next change tells them again.
func (s *Store) PutFloor(ctx context.Context, f Floor) (Floor, error) {
	out, err := stored(ctx, s, "floor", f, f)
	current, conflict := conflicting(err)
	if !conflict {
		return out, err
	}
	f.Version = current.Version
	return stored(ctx, s, "floor", f, f)
}

var errFloor = errors.New("request id: must not begin with " + floorOwner + ", which is kept for the floors of classes")
