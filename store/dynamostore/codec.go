package dynamostore

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
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

// decode returns the item of a wire form, its JSON with sorted names. One that cannot be decoded has its key, as far as
// that can be read, and says itself that it is broken, so that package store takes it for a bad record and goes on (H70).
func decode(in attributes) store.Item {
	item := store.Item{Key: keyIn(in)}
	members := make(map[string]any, len(in))
	for name, v := range in {
		var err error
		switch name {
		case attrPartition, attrSort:
			_, err = stringOf(v)
		case attrVersion:
			item.Version, err = numberOf(v, 1, math.MaxInt64)
		case attrExpires:
			item.ExpiresAt, err = expiryOf(v)
		default:
			members[name], err = plain(v)
		}
		if err != nil {
			return store.Item{Key: item.Key, Broken: fmt.Errorf("%s: %w", name, err)}
		}
	}
	if item.Key.Partition == "" || item.Key.Sort == "" {
		return store.Item{Key: item.Key, Broken: errors.New("key: both parts must be set")}
	}
	body, err := json.Marshal(members)
	if err != nil {
		return store.Item{Key: item.Key, Broken: err}
	}
	item.Attributes = body
	return item
}

// expiryOf reads an expiry. Parts of a second, which DynamoDB itself ignores, are dropped.
func expiryOf(v types.AttributeValue) (time.Time, error) {
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil && f >= 0 && f <= lastExpiry {
			return time.Unix(int64(f), 0).UTC(), nil
		}
	}
	_, err := numberOf(v, 0, lastExpiry)
	return time.Time{}, fmt.Errorf("%w: %w", store.ErrExpiry, err)
}

// keyIn returns what can be read of the key.
func keyIn(in attributes) (k store.Key) {
	k.Partition, _ = stringOf(in[attrPartition])
	k.Sort, _ = stringOf(in[attrSort])
	return k
}

func stringOf(v types.AttributeValue) (string, error) {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value, nil
	}
	return "", fmt.Errorf("must be a string, got %T", v)
}

func numberOf(v types.AttributeValue, least, most int64) (int64, error) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("must be a number, got %T", v)
	}
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || i < least || i > most {
		return 0, fmt.Errorf("must be a whole number from %d to %d, got %.40s", least, most, n.Value)
	}
	return i, nil
}

// plain returns the JSON value of an attribute value. Kinds that we never write become what is nearest,
// so that an attribute of another writer does not hide the record.
func plain(v types.AttributeValue) (any, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value, nil
	case *types.AttributeValueMemberN:
		return number(v.Value)
	case *types.AttributeValueMemberBOOL:
		return v.Value, nil
	case *types.AttributeValueMemberNULL:
		return nil, nil //nolint:nilnil // JSON's null is a value
	case *types.AttributeValueMemberL:
		return list(v.Value, plain)
	case *types.AttributeValueMemberM:
		m := make(map[string]any, len(v.Value))
		for name, e := range v.Value {
			var err error
			if m[name], err = plain(e); err != nil {
				return nil, err
			}
		}
		return m, nil
	case *types.AttributeValueMemberB:
		return v.Value, nil // base64
	case *types.AttributeValueMemberBS:
		return v.Value, nil
	case *types.AttributeValueMemberSS:
		return v.Value, nil
	case *types.AttributeValueMemberNS:
		return list(v.Value, func(n string) (any, error) { return number(n) })
	}
	return nil, fmt.Errorf("unknown kind of attribute %T", v)
}

// list returns the JSON values of a list's elements.
func list[T any](elements []T, plain func(T) (any, error)) (any, error) {
	out := make([]any, len(elements))
	for i, e := range elements {
		var err error
		if out[i], err = plain(e); err != nil {
			return nil, err
		}
	}
	return out, nil
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
	if err != nil || !equal(n, string(short)) {
		return json.Number(n), nil //nolint:nilerr // it has more digits than a float64
	}
	return json.Number(short), nil
}

// equal reports whether two decimal texts mean the same number.
func equal(a, b string) bool {
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}
