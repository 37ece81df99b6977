package dynamostore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/remuda-run/remuda/store"
)

// Attributes that are not part of a record's JSON.
const (
	attrPartition = "PK"
	attrSort      = "SK"
	attrVersion   = "version"   // number from 1; absent on items written unconditionally
	attrExpires   = "expiresAt" // epoch seconds, which TTL of DynamoDB wants; absent: never
)

var reserved = []string{attrPartition, attrSort, attrVersion, attrExpires}

// lastExpiry is the end of the year 9999, the last that the records' own times can hold.
const lastExpiry = 253402300799

// attributes is an item as the SDK has it.
type attributes = map[string]types.AttributeValue

// keyOf returns the primary key.
func keyOf(k store.Key) attributes {
	return attributes{attrPartition: text(k.Partition), attrSort: text(k.Sort)}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func integer(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// encode returns the wire form of a valid item: its JSON's members as attributes of their own beside the key,
// the version and the expiry. Errors are texts.
func encode(item store.Item) (attributes, error) {
	var members map[string]any
	d := json.NewDecoder(bytes.NewReader(item.Attributes))
	d.UseNumber() // an int64 does not fit a float64
	if err := d.Decode(&members); err != nil {
		return nil, fmt.Errorf("attributes: %w", err)
	}
	out := keyOf(item.Key)
	for name, v := range members {
		if slices.Contains(reserved, name) {
			return nil, fmt.Errorf("attributes: %s is the item's own", name)
		}
		out[name] = wire(v)
	}
	if item.Version != 0 {
		out[attrVersion] = integer(item.Version)
	}
	if !item.ExpiresAt.IsZero() {
		at := item.ExpiresAt.Unix()
		if at < 0 || at > lastExpiry {
			return nil, fmt.Errorf("expiresAt must be in the years 1970 to 9999, got %s", item.ExpiresAt.UTC())
		}
		out[attrExpires] = integer(at)
	}
	return out, nil
}

// wire returns the attribute value of a JSON value.
func wire(v any) types.AttributeValue {
	switch v := v.(type) {
	case string:
		return text(v)
	case json.Number:
		return &types.AttributeValueMemberN{Value: v.String()}
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}
	case []any:
		list := make([]types.AttributeValue, len(v))
		for i, e := range v {
			list[i] = wire(e)
		}
		return &types.AttributeValueMemberL{Value: list}
	case map[string]any:
		m := make(attributes, len(v))
		for name, e := range v {
			m[name] = wire(e)
		}
		return &types.AttributeValueMemberM{Value: m}
	}
	return &types.AttributeValueMemberNULL{Value: true}
}

// wireItem is an item as DynamoDB sends it: the JSON of each attribute, without white space. An attribute that is too large is nil.
type wireItem map[string]json.RawMessage

// decode returns the item, whose wire form has size bytes. Its JSON has sorted names, and only the attributes that a record of its kind
// has. An item that cannot be decoded is Broken and has its key, so that package store reports a bad record and continues (H70).
func (in wireItem) decode(size int) store.Item {
	item := store.Item{Key: in.key()}
	broken := func(err error) store.Item { return store.Item{Key: item.Key, Broken: err} }
	if item.Key.Partition == "" || item.Key.Sort == "" {
		return broken(errors.New("key: both parts must be strings that are set"))
	}
	var err error
	if v, found := in[attrExpires]; found {
		if item.ExpiresAt, err = expiryOf(v); err != nil {
			return broken(fmt.Errorf("%s: %w", attrExpires, err))
		}
	}
	if v, found := in[attrVersion]; found {
		if item.Version, err = numberOf(v, 1, math.MaxInt64); err != nil {
			return broken(fmt.Errorf("%s: %w", attrVersion, err))
		}
	}
	if size > maxWire && item.Key.Bounded() {
		return broken(store.TooLarge(size))
	}
	members := make(map[string]any, len(in))
	for name, v := range in {
		if slices.Contains(reserved, name) || !item.Key.Has(name) {
			continue
		}
		if members[name], err = plain(v); err != nil {
			return broken(fmt.Errorf("%s: %w", store.Line(name), err))
		}
	}
	if item.Attributes, err = json.Marshal(members); err != nil {
		return broken(err)
	}
	return item
}

// expiryOf reads an expiry. Parts of a second, which DynamoDB itself ignores, are dropped.
func expiryOf(v json.RawMessage) (time.Time, error) {
	if kind, n := typed(v); kind == "N" {
		if f, err := strconv.ParseFloat(n, 64); err == nil && f >= 0 && f <= lastExpiry {
			return time.Unix(int64(f), 0).UTC(), nil
		}
	}
	_, err := numberOf(v, 0, lastExpiry)
	return time.Time{}, fmt.Errorf("%w: %w", store.ErrExpiry, err)
}

// key returns the parts of the key that can be read.
func (in wireItem) key() store.Key {
	return store.Key{Partition: stringOf(in[attrPartition]), Sort: stringOf(in[attrSort])}
}

// typed returns the type and the JSON of an attribute's value. The JSON of a number has no quotes.
func typed(v json.RawMessage) (kind, value string) {
	kind, value, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(string(v), `{"`), "}"), `":`)
	if kind == "N" {
		value = strings.Trim(value, `"`)
	}
	return kind, value
}

func stringOf(v json.RawMessage) (s string) {
	if kind, value := typed(v); kind == "S" {
		_ = json.Unmarshal([]byte(value), &s) // an invalid text counts as empty
	}
	return s
}

func numberOf(v json.RawMessage, least, most int64) (int64, error) {
	kind, n := typed(v)
	i, err := strconv.ParseInt(n, 10, 64)
	if kind != "N" || err != nil || i < least || i > most {
		return 0, fmt.Errorf("must be a whole number from %d to %d, got %.40s", least, most, v)
	}
	return i, nil
}

// plain returns the JSON value of an attribute value. Kinds that we never write become what is nearest,
// so that an attribute of another writer does not hide the record.
func plain(v json.RawMessage) (any, error) {
	kind, value := typed(v)
	switch kind {
	case "N":
		return number(value)
	case "NULL":
		return nil, nil //nolint:nilnil // JSON's null is a value
	case "S", "BOOL", "B", "BS", "SS":
		var out any
		err := json.Unmarshal([]byte(value), &out)
		return out, err
	case "L":
		return list(value, plain)
	case "NS":
		return list(value, func(n string) (any, error) { return number(n) })
	case "M":
		var in map[string]json.RawMessage
		err := json.Unmarshal([]byte(value), &in)
		m := make(map[string]any, len(in))
		for name, e := range in {
			if err == nil {
				m[name], err = plain(e)
			}
		}
		return m, err
	case "":
		return nil, fmt.Errorf("must be at most %d bytes", maxWire)
	}
	return nil, fmt.Errorf("unknown type of attribute %.40q", kind)
}

// list returns the JSON values of a list's elements.
func list[T any](value string, plain func(T) (any, error)) (any, error) {
	var in []T
	err := json.Unmarshal([]byte(value), &in)
	out := make([]any, len(in))
	for i, e := range in {
		if err == nil {
			out[i], err = plain(e)
		}
	}
	return out, err
}

// maxDigits is more than any number of DynamoDB has (38 digits, a sign, a point, an exponent or up to
// 130 zeros), and maxInteger what an int64 or uint64 has at most.
const (
	maxDigits  = 200
	maxInteger = 20
)

// number returns n as encoding/json would write it. DynamoDB keeps the value and not the text: what was
// written as 1e+21 comes back with all its zeros, and package store compares texts.
func number(n string) (json.Number, error) {
	if len(n) > maxDigits || !json.Valid([]byte(n)) || !strings.ContainsAny(n[:1], "-0123456789") {
		return "", fmt.Errorf("no number: %.40q", n)
	}
	if len(n) <= maxInteger && !strings.ContainsAny(n, ".eE") {
		return json.Number(n), nil
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil || f == 0 {
		return json.Number(n), nil //nolint:nilerr // no float64, but a number
	}
	short, err := json.Marshal(f)
	if err != nil || decimal(n) != decimal(string(short)) {
		return json.Number(n), nil //nolint:nilerr // it has more digits than a float64
	}
	return json.Number(short), nil
}

// decimal returns the same text for all forms of a number that is not zero: sign, digits without zeros at both ends, power of ten.
func decimal(n string) string {
	mantissa, power, _ := strings.Cut(strings.ToLower(n), "e")
	exponent, _ := strconv.Atoi(power) // none is 0
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(strings.TrimPrefix(whole, "-")+fraction, "0")
	short := strings.TrimRight(digits, "0")
	return fmt.Sprintf("%t%se%d", strings.HasPrefix(n, "-"), short, exponent-len(fraction)+len(digits)-len(short))
}
