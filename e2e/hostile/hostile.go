// Package hostile makes items with which the role of a workflow attacks a controller, and starts a controller with little memory.
package hostile

import (
	"fmt"
	"strings"

	"github.com/remuda-run/remuda/store"
)

// size is the size of the large items in bytes, as DynamoDB counts them. DynamoDB allows 400 KB.
const size = 390_000

// request is a valid request with one attribute replaced.
func request(name, value string) string {
	attributes := map[string]string{
		"attempt": "1", "count": "1", "usageClass": `["spot"]`, "allowedInstanceTypes": `["*"]`, "resourceClass": `"small"`, "maxRuntime": "600",
		"timeout": "600", "releasedAttempt": "0", "release": `""`, "createdAt": `"2026-11-22T08:00:00.000Z"`,
	}
	attributes[name] = value
	var members []string
	for name, value := range attributes {
		members = append(members, fmt.Sprintf("%q:%s", name, value))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func list(element string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
}

func text(s string) string { return `"` + strings.Repeat(s, size/len(s)) + `"` }

// kinds are the sort keys and the attributes of the large items.
var kinds = []struct{ sort, attributes string }{
	{store.KindRunRequest, request("allowedInstanceTypes", list(`"c"`, size/2))},
	{store.KindRunRequest, request("allowedInstanceTypes", list("1E125", size/3))},
	{store.KindRunRequest, request("resourceClass", text("c"))},
	{store.KindRunRequest, request("count", list("[[[[1]]]]", size/20))},
	{store.KindRunRequest, request("allowedInstanceTypes", "["+list(`"c"`, size/2)+"]")},
	{store.KindRunRequest, request("repository", text(`\u2028`))},
	{store.KindRunClient, `{"attempt":1,"seenAt":` + list(`"x"`, size/2) + `}`},
	{store.KindRunStatus, request("attempt", list(`"x"`, size/2))},
	{store.KindRunStatus, request("allowedInstanceTypes", list("0", size/3))},
	{store.KindHeartbeat, request("usageClass", list("{}", size/4))},
	{"TYPE#Note", request("usageClass", list(`"c"`, size/2))},
	{"TYPE#" + strings.Repeat("x\n\u202e\x1b[2J", 80), request("release", text("r"))},
	{store.KindLease, request("release", text("r"))},
	{store.KindInstance, request("createdAt", text("r"))},
}

// Items returns n large items of a run. The session policy of a workflow allows their keys. Some keys break lines.
func Items(run string, n int) []store.Item {
	var out []store.Item
	for i := range n {
		k := kinds[i%len(kinds)]
		partition := fmt.Sprintf("RUN#%s-%d", run, i)
		if i%len(kinds) == len(kinds)-3 {
			partition += "\n\n0 instances; 0 open requests\ncontroller  none leads" + strings.Repeat("\u202e", 300)
		}
		out = append(out, store.Item{Key: store.Key{Partition: partition, Sort: k.sort}, Attributes: []byte(k.attributes)})
	}
	return out
}

// Texts returns n large requests of a run, each with one long text. DynamoDB Local stalls with many large lists.
func Texts(run string, n int) []store.Item {
	var out []store.Item
	for i := range n {
		key := store.RequestKey(store.RequestID(fmt.Sprintf("%s-text-%d", run, i)), store.KindRunRequest)
		out = append(out, store.Item{Key: key, Attributes: []byte(request("resourceClass", text("c")))})
	}
	return out
}

// Small returns n valid requests of a run. No instance type matches their patterns.
func Small(run string, n int) []store.Item {
	var out []store.Item
	patterns := list(`"c6i.metal-and-thirty-bytes-xx"`, store.MaxPatterns)
	for i := range n {
		body := request("allowedInstanceTypes", patterns)
		out = append(out, store.Item{Key: store.RequestKey(store.RequestID(fmt.Sprintf("%s-small-%d", run, i)), store.KindRunRequest), Version: 1, Attributes: []byte(body)})
	}
	return out
}
