package store

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// MaxForeign bounds the attributes of an item that a workflow or an instance can write, in bytes of JSON. The largest valid request has
// 400 patterns of 30 bytes and takes 14 kB. A larger item is a bad record, and nothing of it is decoded.
const MaxForeign = 16 << 10

// maxLine bounds a foreign text within a line, in bytes. No key of ours is longer.
const maxLine = 240

// kinds returns an empty record of each kind.
var kinds = map[string]func() record{
	KindRunRequest: func() record { return new(RunRequest) },
	KindRunClient:  func() record { return new(RunClient) },
	KindRunStatus:  func() record { return new(RunStatus) },
	KindInstance:   func() record { return new(Instance) },
	KindHeartbeat:  func() record { return new(Heartbeat) },
	KindSignal:     func() record { return new(Signal) },
	KindLaunch:     func() record { return new(Launch) },
	KindLease:      func() record { return new(Lease) },
	KindDrain:      func() record { return new(DrainOrder) },
	KindDemand:     func() record { return new(Demand) },
	KindFloor:      func() record { return new(Floor) },
	KindCosts:      func() record { return new(Costs) },
}

// KnownKind reports whether a sort key is one of ours.
func KnownKind(sort string) bool { return kinds[sort] != nil }

// OwnKinds are the kinds that only the controller writes.
var OwnKinds = []string{KindRunStatus, KindInstance, KindLaunch, KindLease, KindDemand, KindFloor, KindCosts}

// attributes returns the names of the attributes that the records of each kind have.
var attributes = sync.OnceValue(func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for kind, empty := range kinds {
		names := map[string]bool{}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(empty()).Elem()) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names[name] = true
		}
		out[kind] = names
	}
	return out
})

// Has reports whether records of the key's kind have an attribute. An item of an unknown kind may have any.
func (k Key) Has(attribute string) bool {
	return !KnownKind(k.Sort) || attributes()[k.Sort][attribute]
}

// Bounded reports whether MaxForeign applies to the item. It applies to all items except the controller's own records.
func (k Key) Bounded() bool {
	if !slices.Contains(OwnKinds, k.Sort) {
		return true
	}
	r := kinds[k.Sort]()
	r.setKey(k)
	return r.key() != k
}

var ownAttributes = sync.OnceValue(func() map[string]bool {
	own := map[string]bool{}
	for _, kind := range OwnKinds {
		maps.Copy(own, attributes()[kind])
	}
	for kind, names := range attributes() {
		if !slices.Contains(OwnKinds, kind) {
			maps.DeleteFunc(own, func(name string, _ bool) bool { return names[name] })
		}
	}
	return own
})

// OwnAttribute reports whether only the controller can write an attribute of this name. The policies in deploy/iam list the attributes
// that workflows and instances can write. These are the attributes of the records that workflows and instances write.
func OwnAttribute(name string) bool { return ownAttributes()[name] }

// TooLarge returns the error of a foreign item of size bytes.
func TooLarge(size int) error {
	return fmt.Errorf("size: must be at most %d bytes, got %d", MaxForeign, size)
}

// bound returns the item as broken and without attributes if it is too large.
func (i Item) bound() Item {
	if size := len(i.Attributes); size > MaxForeign && i.Broken == nil && i.Key.Bounded() {
		return Item{Key: i.Key, Broken: TooLarge(size)}
	}
	return i
}

// String returns the key as a part of a line. Workflows write keys too.
func (k Key) String() string { return Line(k.Partition + " " + k.Sort) }

// Line returns the beginning of a foreign text as a part of a line. It quotes a text that has characters which are not printable, for
// example line breaks or bidirectional controls.
func Line(text string) string {
	text = Head(text, maxLine)
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
		text = Head(strconv.Quote(text), maxLine)
	}
	return text
}
