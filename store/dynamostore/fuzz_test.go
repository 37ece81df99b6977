package dynamostore

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/remuda-run/remuda/store"
)

// FuzzDecode reads items of every kind of attribute, also of kinds we never write. What is accepted has a
// key, a version and an expiry that package store knows, and one JSON object without those; of what is
// not, nothing but the key is left. H70
func FuzzDecode_H70(f *testing.F) {
	f.Add("RUN#1", "TYPE#RunRequest", "1", "1767409445", "phase", "ready", []byte("snlb"))
	f.Add("", "", "0", "253402300800", "version", "1e400", []byte("NMLB"))
	f.Add("P", "S", "-1", "1.5", "x", " 1 ", []byte("NCD"))
	f.Add("P\xff", "S\x00", "9223372036854775808", "", "PK", "\xff", []byte("LLLLLL"))
	f.Fuzz(func(t *testing.T, partition, sort, version, expires, name, value string, kinds []byte) {
		in := attributes{attrPartition: text(partition), attrSort: text(sort)}
		if version != "" {
			in[attrVersion] = &types.AttributeValueMemberN{Value: version}
		}
		if expires != "" {
			in[attrExpires] = &types.AttributeValueMemberN{Value: expires}
		}
		in[name] = attributeOf(kinds, value)
		item := decode(in)
		if err := item.Broken; err != nil {
			if item.Attributes != nil || item.Version != 0 || !item.ExpiresAt.IsZero() || len(err.Error()) > 500 {
				t.Errorf("decode(%v) = %+v, %v", in, item, err)
			}
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(item.Attributes, &members); err != nil || members == nil {
			t.Fatalf("attributes %s: %v", item.Attributes, err)
		}
		for _, own := range reserved {
			if _, found := members[own]; found {
				t.Errorf("attributes %s hold %s", item.Attributes, own)
			}
		}
		if item.Key.Partition == "" || item.Key.Sort == "" || item.Version < 0 || !item.ExpiresAt.IsZero() && item.ExpiresAt.Unix() > lastExpiry {
			t.Errorf("decode(%v) = %+v", in, item)
		}
		if _, err := encode(item); err != nil {
			t.Errorf("encode(%+v) = %v", item, err)
		}
	})
}

// attributeOf nests a value as deep as there are kinds, up to the 32 levels that DynamoDB takes.
func attributeOf(kinds []byte, value string) types.AttributeValue {
	if len(kinds) == 0 || len(kinds) > 32 {
		return text(value)
	}
	switch kinds[0] {
	case 'n':
		return &types.AttributeValueMemberN{Value: value}
	case 'N':
		return &types.AttributeValueMemberNS{Value: []string{value, "1"}}
	case 'b':
		return &types.AttributeValueMemberB{Value: []byte(value)}
	case 'B':
		return &types.AttributeValueMemberBS{Value: [][]byte{[]byte(value), nil}}
	case 'S':
		return &types.AttributeValueMemberSS{Value: []string{value}}
	case 'l':
		return &types.AttributeValueMemberBOOL{Value: true}
	case '0':
		return &types.AttributeValueMemberNULL{Value: true}
	case '?':
		return &types.UnknownUnionMember{Tag: value}
	case 'L':
		return &types.AttributeValueMemberL{Value: []types.AttributeValue{attributeOf(kinds[1:], value), text(value)}}
	case 'M':
		return &types.AttributeValueMemberM{Value: attributes{value: attributeOf(kinds[1:], value), "": nil}}
	}
	return text(value)
}

// FuzzNotification: of any body, either a key with both parts is read, or none; what we send is read.
func FuzzNotification(f *testing.F) {
	f.Add(`{"PK":"RUN#1","SK":"TYPE#RunRequest"}`, "RUN#1", "TYPE#RunStatus")
	f.Add(`{"PK":"RUN#1"}`, "", "")
	f.Add("\x00\xff", "a\"b", "\u2028<")
	f.Fuzz(func(t *testing.T, body, partition, sort string) {
		if k, ok := keyOfNotification(body); ok != (k.Partition != "" && k.Sort != "") || !ok && k != (store.Key{}) {
			t.Errorf("keyOfNotification(%q) = %+v, %t", body, k, ok)
		}
		sent, err := json.Marshal(message{partition, sort})
		if err != nil {
			t.Fatal(err)
		}
		want := store.Key{Partition: strings.ToValidUTF8(partition, ""), Sort: strings.ToValidUTF8(sort, "")}
		if want.Partition != partition || want.Sort != sort || partition == "" || sort == "" {
			return // no key of ours
		}
		if k, ok := keyOfNotification(string(sent)); !ok || k != want {
			t.Errorf("keyOfNotification(%s) = %+v, %t, want %+v", sent, k, ok, want)
		}
	})
}
