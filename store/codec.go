package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kinds of record: the sort key of an item.
const (
	KindRunRequest = "TYPE#RunRequest"
	KindRunClient  = "TYPE#RunClient"
	KindRunStatus  = "TYPE#RunStatus"
	KindInstance   = "TYPE#Instance"
	KindHeartbeat  = "TYPE#Heartbeat"
	KindSignal     = "TYPE#WS"
	KindLaunch     = "TYPE#Launch"
	KindLease      = "TYPE#Lease"
	KindDrain      = "TYPE#Drain"
	KindDemand     = "TYPE#Demand"
	KindCosts      = "TYPE#Costs"
)

// Prefixes of partition keys.
const (
	runPrefix      = "RUN#"
	instancePrefix = "INSTANCE#"
	launchPrefix   = "LAUNCH#"
	drainPrefix    = "META#drain-"
)

// LeaseKey is the key of the lease.
var LeaseKey = Key{"META#lease", KindLease}

// RequestKey returns the key of a request's record of the given kind.
func RequestKey(id RequestID, kind string) Key { return Key{runPrefix + string(id), kind} }

// InstanceKey returns the key of an instance's record of the given kind.
func InstanceKey(p Principal, kind string) Key { return Key{instancePrefix + string(p), kind} }

// LaunchKey returns the key of a launch.
func LaunchKey(token string) Key { return Key{launchPrefix + token, KindLaunch} }

// DrainKey returns the key of a drain order.
func DrainKey(id string) Key { return Key{drainPrefix + id, KindDrain} }

// RequestID returns the request a key belongs to, if it belongs to one that may exist.
func (k Key) RequestID() (RequestID, bool) {
	id, ok := strings.CutPrefix(k.Partition, runPrefix)
	return RequestID(id), ok && RequestID(id).Valid() == nil
}

// Principal returns the instance a key belongs to, if it belongs to one that may exist.
func (k Key) Principal() (Principal, bool) {
	p, ok := strings.CutPrefix(k.Partition, instancePrefix)
	return Principal(p), ok && Principal(p).Valid() == nil
}

// DrainID returns the drain order a key belongs to, if it belongs to one that may exist.
func (k Key) DrainID() (string, bool) {
	id, ok := strings.CutPrefix(k.Partition, drainPrefix)
	return id, ok && validName("drain order", id) == nil
}

// record is what every type of record knows about its stored form.
type record interface {
	key() Key
	meta() (version *int64, expiresAt *time.Time)
	setKey(Key)
	validate() error
}

// encode returns the item of r with the given version.
func encode(r record, version int64) (Item, error) {
	if err := r.validate(); err != nil {
		return Item{}, fmt.Errorf("%s %s: %w: %v", r.key().Partition, r.key().Sort, ErrInvalid, err) //nolint:errorlint // the cause is text for people
	}
	body, err := json.Marshal(r)
	if err != nil {
		return Item{}, fmt.Errorf("encode %s %s: %w", r.key().Partition, r.key().Sort, err)
	}
	_, expires := r.meta()
	return Item{Key: r.key(), Version: version, ExpiresAt: *expires, Attributes: body}, nil
}

// maxCause bounds the cause of an error about a record, in bytes. Errors of package json quote the text that they could not read.
const maxCause = 500

// decode fills r from item. Attributes it does not know are ignored, so that an older binary can
// read what a newer one wrote.
func decode(item Item, r record) error {
	if item = item.bound(); item.Broken != nil {
		return fmt.Errorf("decode %s: %w: %w", item.Key, ErrInvalid, item.Broken)
	}
	if err := json.Unmarshal(item.Attributes, r); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			err = fmt.Errorf("%s: must be of type %s, got a %s", wrong.Field, wrong.Type.Kind(), wrong.Value)
		}
		return fmt.Errorf("decode %s: %w: %s", item.Key, ErrInvalid, Head(err.Error(), maxCause))
	}
	r.setKey(item.Key)
	if r.key() != item.Key {
		return fmt.Errorf("%s: %w: no record of this kind has this key", item.Key, ErrInvalid)
	}
	version, expires := r.meta()
	if version != nil {
		*version = item.Version
	}
	*expires = item.ExpiresAt
	if err := r.validate(); err != nil {
		return fmt.Errorf("%s: %w: %s", item.Key, ErrInvalid, Head(err.Error(), maxCause))
	}
	return nil
}

// canonical returns the JSON object with sorted keys, as every back end may order them anew.
func canonical(object []byte) []byte {
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return object
	}
	out, err := json.Marshal(v)
	if err != nil {
		return object
	}
	return out
}
