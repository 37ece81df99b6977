package dynamostore

import (
	"bytes"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/remuda-run/remuda/store"
)

// wireJSON returns an item as DynamoDB sends it.
func wireJSON(in attributes) []byte {
	members := map[string]any{}
	for name, v := range in {
		members[name] = wireOf(v)
	}
	out, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return out
}

func wireOf(v types.AttributeValue) any {
	one := func(kind string, value any) any { return map[string]any{kind: value} }
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return one("S", v.Value)
	case *types.AttributeValueMemberN:
		return one("N", v.Value)
	case *types.AttributeValueMemberBOOL:
		return one("BOOL", v.Value)
	case *types.AttributeValueMemberNULL:
		return one("NULL", v.Value)
	case *types.AttributeValueMemberB:
		return one("B", v.Value)
	case *types.AttributeValueMemberBS:
		return one("BS", v.Value)
	case *types.AttributeValueMemberSS:
		return one("SS", v.Value)
	case *types.AttributeValueMemberNS:
		return one("NS", v.Value)
	case *types.AttributeValueMemberL:
		list := []any{}
		for _, e := range v.Value {
			list = append(list, wireOf(e))
		}
		return one("L", list)
	case *types.AttributeValueMemberM:
		m := map[string]any{}
		for name, e := range v.Value {
			m[name] = wireOf(e)
		}
		return one("M", m)
	case *types.UnknownUnionMember:
		return one(v.Tag, "")
	}
	return one("NULL", true)
}

// decode returns the item that is read from a wire form.
func decode(in attributes) store.Item {
	var a answer
	if _, err := a.read(bytes.NewReader([]byte(`{"Item":` + string(wireJSON(in)) + `}`))); err != nil {
		panic(err)
	}
	return a.items[0]
}
