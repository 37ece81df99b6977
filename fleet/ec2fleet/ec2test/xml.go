package ec2test

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
)

// el returns an element; its content is XML or, by text, escaped.
func el(name string, content ...string) string {
	return "<" + name + ">" + strings.Join(content, "") + "</" + name + ">"
}

func text(name string, value any) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(fmt.Sprint(value))); err != nil {
		panic(err) // a strings.Builder takes everything
	}
	return el(name, b.String())
}

// set returns a list as EC2 writes it.
func set[T any](name string, all []T, item func(T) string) string {
	var items []string
	for _, one := range all {
		items = append(items, el("item", item(one)))
	}
	return el(name, items...)
}

func tagSet(tags map[string]string) string {
	return set("tagSet", sortedKeys(tags), func(key string) string { return text("key", key) + text("value", tags[key]) })
}

// failure is an error answer.
type failure struct {
	status  int
	code    string
	message string
}

func bad(code, format string, args ...any) *failure {
	return &failure{http.StatusBadRequest, code, fmt.Sprintf(format, args...)}
}

const requestID = "11111111-2222-3333-4444-555555555555"

func answer(w http.ResponseWriter, action, content string) {
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	fmt.Fprint(w, el(action+"Response", text("requestId", requestID), content))
}

func (f *failure) answer(w http.ResponseWriter, isIAM bool) {
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.WriteHeader(f.status)
	told := el("Error", text("Type", "Sender"), text("Code", f.code), text("Message", f.message))
	if isIAM {
		fmt.Fprint(w, el("ErrorResponse", told, text("RequestId", requestID)))
		return
	}
	fmt.Fprint(w, el("Response", el("Errors", told), text("RequestID", requestID)))
}

// lower is the name of a request's member as answers have it.
func lower(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// sets are the names that lists of a launch template's data have in answers.
var sets = map[string]string{
	"BlockDeviceMapping": "blockDeviceMappingSet", "SecurityGroupId": "securityGroupIdSet",
	"SecurityGroup": "securityGroupSet", "TagSpecification": "tagSpecificationSet", "Tag": "tagSet",
	"NetworkInterface": "networkInterfaceSet",
}

// echo writes a tree of a request as answers show it.
func echo(name string, n *node) string {
	if as, ok := sets[name]; ok {
		return set(as, n.list(), inner)
	}
	return el(lower(name), inner(n))
}

func inner(n *node) string {
	if len(n.kids) == 0 {
		return strings.TrimSuffix(strings.TrimPrefix(text("x", n.value), "<x>"), "</x>")
	}
	var parts []string
	for name, kid := range n.kids {
		parts = append(parts, echo(name, kid))
	}
	return strings.Join(parts, "")
}
