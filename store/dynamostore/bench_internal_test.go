package dynamostore

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// wireList returns the JSON of an item of which one attribute is a list of n equal elements.
func wireList(sort, name, element string, n int) string {
	return fmt.Sprintf(`{"PK":{"S":"RUN#1"},"SK":{"S":"%s"},"attempt":{"N":"1"},"%s":{"L":[%s]}}`, sort, name, strings.TrimSuffix(strings.Repeat(element+",", n), ","))
}

func BenchmarkRead(b *testing.B) {
	hostile := map[string]string{
		"Numbers": wireList("TYPE#RunRequest", "allowedInstanceTypes", `{"N":"1`+strings.Repeat("0", 125)+`"}`, 130_000),
		"Strings": wireList("TYPE#RunRequest", "allowedInstanceTypes", `{"S":"c"}`, 190_000),
		"Seats":   wireList("TYPE#RunStatus", "instances", `{"M":{"instanceId":{"S":"i-1"},"instanceType":{"S":"c6i.large"},"usageClass":{"S":"spot"},"warm":{"BOOL":true},"seconds":{"N":"1.5"}}}`, 3000),
	}
	for name, item := range hostile {
		b.Run(name, func(b *testing.B) {
			body := []byte(`{"Items":[` + item + `],"Count":1}`)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				var a answer
				if _, err := a.read(bytes.NewReader(body)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
