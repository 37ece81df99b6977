package dynamostore

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/remuda-run/remuda/store"
)

func num(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }

// Whatever DynamoDB makes of a number's text, it is read as encoding/json would have written it.
func TestNumber(t *testing.T) {
	for _, tt := range []struct{ name, stored, want string }{
		{"Zero", "0", "0"},
		{"Int64", "9223372036854775807", "9223372036854775807"},
		{"Int64Least", "-9223372036854775808", "-9223372036854775808"},
		{"Uint64", "18446744073709551615", "18446744073709551615"},
		{"Fraction", "0.164", "0.164"},
		{"FractionWithZeros", "1.500", "1.5"},
		{"Power", "1000000000000000000000", "1e+21"},
		{"SmallPower", "0.0000001", "1e-7"},
		{"SmallPowerWithExponent", "1E-7", "1e-7"},
		{"MoreThanAFloat", "0.12345678901234567890123456789012345678", "0.12345678901234567890123456789012345678"},
		{"IntegerOf38Digits", "12345678901234567890123456789012345678", "12345678901234567890123456789012345678"},
		{"Largest", "9.9999999999999999999999999999999999999E+125", "9.9999999999999999999999999999999999999E+125"},
		{"NoFloat", "1e400", "1e400"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := number(tt.stored)
			if err != nil || got.String() != tt.want {
				t.Errorf("number(%s) = %s, %v, want %s", tt.stored, got, err, tt.want)
			}
		})
	}
	for _, bad := range []string{"", " 1", "+1", ".5", "NaN", "true", `"1"`, "1 2", strings.Repeat("1", 1000)} {
		if got, err := number(bad); err == nil {
			t.Errorf("number(%.20q) = %s, want an error", bad, got)
		}
	}
}

// What others put into the table is read as far as it can be, and named otherwise. H70
func TestDecode_ForeignItems_H70(t *testing.T) {
	base := func(more attributes) attributes {
		out := keyOf(store.Key{Partition: "P", Sort: "S"})
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	for _, tt := range []struct {
		name string
		in   attributes
		want string
	}{
		{"Nothing", base(nil), `{}`},
		{"Binary", base(attributes{"b": &types.AttributeValueMemberB{Value: []byte("hi")}}), `{"b":"aGk="}`},
		{"Sets", base(attributes{
			"ss": &types.AttributeValueMemberSS{Value: []string{"a"}},
			"ns": &types.AttributeValueMemberNS{Value: []string{"1", "1E-7"}},
			"bs": &types.AttributeValueMemberBS{Value: [][]byte{[]byte("hi")}},
		}), `{"bs":["aGk="],"ns":[1,1e-7],"ss":["a"]}`},
		{"InvalidText", base(attributes{"s": text("\xff")}), `{"s":"�"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if item := decode(tt.in); item.Broken != nil || string(item.Attributes) != tt.want {
				t.Errorf("decode() = %s, %v, want %s", item.Attributes, item.Broken, tt.want)
			}
		})
	}
	for _, tt := range []struct {
		name string
		in   attributes
		want string
	}{
		{"VersionIsText", base(attributes{"version": text("1")}), "version"},
		{"VersionZero", base(attributes{"version": num("0")}), "version"},
		{"VersionFraction", base(attributes{"version": num("1.5")}), "version"},
		{"VersionTooLarge", base(attributes{"version": num("9223372036854775808")}), "version"},
		{"ExpiryIsText", base(attributes{"expiresAt": text("2026-01-01")}), "expiresAt"},
		{"ExpiryNegative", base(attributes{"expiresAt": num("-1")}), "expiresAt"},
		{"ExpiryInMilliseconds", base(attributes{"expiresAt": num("1767409445000")}), "expiresAt"},
		{"NoNumber", base(attributes{"n": num("NaN")}), "n"},
		{"NoNumberInside", base(attributes{"m": &types.AttributeValueMemberM{Value: attributes{
			"l": &types.AttributeValueMemberL{Value: []types.AttributeValue{num("x")}}}}}), "m"},
		{"UnknownKind", base(attributes{"u": &types.UnknownUnionMember{Tag: "X"}}), "u"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			item := decode(tt.in)
			if item.Broken == nil || !strings.HasPrefix(item.Broken.Error(), tt.want+":") || errors.Is(item.Broken, store.ErrExpiry) != (tt.want == "expiresAt") {
				t.Errorf("decode() says that the item is broken by %v, want it to name %s", item.Broken, tt.want)
			}
			item.Broken = nil
			if diff := cmp.Diff(store.Item{Key: store.Key{Partition: "P", Sort: "S"}}, item); diff != "" {
				t.Errorf("decode() with an error (-want +got):\n%s", diff)
			}
		})
	}
	for _, in := range []attributes{nil, {"PK": text("P")}, {"PK": num("1"), "SK": text("S")}} {
		if decode(in).Broken == nil {
			t.Errorf("decode(%v) succeeded without a key", in)
		}
	}
}

func TestEncode_Refuses(t *testing.T) {
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		name string
		item store.Item
	}{
		{"OwnAttributePK", store.Item{Attributes: []byte(`{"PK":"x"}`)}},
		{"OwnAttributeVersion", store.Item{Attributes: []byte(`{"version":1}`)}},
		{"OwnAttributeExpiry", store.Item{Attributes: []byte(`{"expiresAt":1}`)}},
		{"ExpiryBefore1970", store.Item{Attributes: []byte(`{}`), ExpiresAt: year(1969)}},
		{"ExpiryAfter9999", store.Item{Attributes: []byte(`{}`), ExpiresAt: year(10000)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if wire, err := encode(tt.item); err == nil {
				t.Errorf("encode() = %v, want an error", wire)
			}
		})
	}
}

// FuzzCodec checks that whatever can be written is read back as it was: same version, same expiry, and the
// JSON that package store compares, numbers by their texts as encoding/json writes them.
func FuzzCodec(f *testing.F) {
	f.Add([]byte(`{"n":9007199254740993,"f":0.164,"l":[1,"two",null,{"t":true}],"e":"","o":{}}`), int64(math.MaxInt64), int64(1767409445))
	f.Add([]byte(`{"a":1e21,"b":1e-7,"c":-0.5,"ä€😀":"\u0000\ud800"}`), int64(1), int64(0))
	f.Add([]byte(`{"version":1}`), int64(1), int64(0))
	f.Add([]byte(`{"x":1E400,"y":123456789012345678901234567890}`), int64(0), int64(lastExpiry))
	f.Fuzz(func(t *testing.T, body []byte, version, expires int64) {
		in := store.Item{Key: store.Key{Partition: "P", Sort: "S"}, Version: max(version, 0), Attributes: body}
		if expires > 0 && expires <= lastExpiry {
			in.ExpiresAt = time.Unix(expires, 0).UTC()
		}
		if in.Valid(in.Version-1) != nil {
			return
		}
		wire, err := encode(in)
		if err != nil {
			return
		}
		out := decode(wire)
		if err := out.Broken; err != nil {
			if strings.Contains(err.Error(), "no number") {
				return // more digits than DynamoDB takes
			}
			t.Fatalf("decode(encode(%s)) error = %v", body, err)
		}
		want := in
		want.Attributes = normal(t, body)
		out.Attributes = normal(t, out.Attributes)
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("decode(encode(%s)) (-want +got):\n%s", body, diff)
		}
		again, err := encode(out)
		if err != nil {
			t.Fatalf("encode() of what was read: %v", err)
		}
		if twice := decode(again); twice.Broken != nil || !bytes.Equal(normal(t, twice.Attributes), out.Attributes) {
			t.Errorf("read twice = %s, %v, want %s", twice.Attributes, twice.Broken, out.Attributes)
		}
	})
}

// normal returns a JSON object with sorted names and every number in its one form.
func normal(t *testing.T, object []byte) []byte {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", object, err)
	}
	out, err := json.Marshal(withNumbers(v))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func withNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := number(v.String()); err == nil {
			return n
		}
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = withNumbers(v[k])
		}
	}
	return v
}
