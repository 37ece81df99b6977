package faults

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// fresh knows the instances that were launched and not yet shown.
type fresh struct {
	calls int // for how many answers an instance stays hidden

	mu       sync.Mutex
	launched uint64
	hidden   map[string]*hidden // by instance id
}

type hidden struct {
	rule int
	left int // answers
}

func newFresh(calls int) *fresh { return &fresh{calls: calls, hidden: map[string]*hidden{}} }

// launchedID finds instances in the answers of RunInstances, as <instanceId>, and of CreateFleet, as items
// of <instanceIds>.
var launchedID = regexp.MustCompile(`<(?:instanceId|item)>(i-[0-9a-f]+)</`)

// ec2 looks at an answer of EC2. It returns another one if it has to be hidden what is new.
func (t *Transport) ec2(c *call, op string, status int, body []byte) *http.Response {
	if status != http.StatusOK {
		return nil
	}
	t.fresh.mu.Lock()
	defer t.fresh.mu.Unlock()
	switch c.operation {
	case "RunInstances", "CreateFleet":
		for _, m := range launchedID.FindAllSubmatch(body, -1) {
			t.launch(string(m[1]))
		}
	case "DescribeInstances":
		return t.describe(c, op, body)
	}
	return nil
}

// launch decides whether an instance can be seen at once.
func (t *Transport) launch(id string) {
	if t.fresh.hidden[id] != nil { // a repeated call with the same token
		return
	}
	n := t.fresh.launched
	t.fresh.launched++
	for i, r := range t.Rules {
		if r.Kind == Invisible && t.dice.strikes(i, describe, n) {
			t.fresh.hidden[id] = &hidden{rule: i, left: t.fresh.calls}
			return
		}
	}
}

// describe cuts hidden instances out of the answer. As EC2 does, a call that names one gets an error.
func (t *Transport) describe(c *call, op string, body []byte) *http.Response {
	hide := func(id string) bool {
		h := t.fresh.hidden[id]
		if h == nil || h.left == 0 || !t.dice.fire(h.rule, op) {
			return false
		}
		h.left--
		return true
	}
	var named []string
	for key, values := range c.form {
		if strings.HasPrefix(key, "InstanceId.") {
			named = append(named, values...)
		}
	}
	slices.Sort(named)
	if i := slices.IndexFunc(named, hide); i >= 0 {
		return c.fail(failure{http.StatusBadRequest, "InvalidInstanceID.NotFound", "The instance ID '" + named[i] + "' does not exist"})
	}
	cut, err := cutInstances(body, hide)
	if err != nil || len(cut) == len(body) {
		return nil
	}
	return c.answer(http.StatusOK, "text/xml;charset=UTF-8", cut)
}

// cutInstances removes the instances that hide says yes to from an answer of DescribeInstances:
// reservationSet > item > instancesSet > item > instanceId. A reservation stays, if empty.
func cutInstances(body []byte, hide func(id string) bool) ([]byte, error) {
	var (
		out    []byte
		kept   int64 // bytes of body that are in out, or cut
		start  int64 // of the instance's item
		names  []string
		cutNow bool
	)
	instance := []string{"reservationSet", "item", "instancesSet", "item"}
	in := func(path []string) bool { return len(names) > len(path) && slices.Equal(names[1:1+len(path)], path) }
	dec := xml.NewDecoder(bytes.NewReader(body))
	for {
		before := dec.InputOffset()
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return append(out, body[kept:]...), nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			names = append(names, token.Name.Local)
			if len(names) == 5 && in(instance) {
				start, cutNow = before, false
			}
		case xml.EndElement:
			if len(names) == 5 && in(instance) && cutNow {
				out = append(out, body[kept:start]...)
				kept = dec.InputOffset()
			}
			names = names[:len(names)-1]
		case xml.CharData:
			if len(names) == 6 && in(instance) && names[5] == "instanceId" && hide(string(token)) {
				cutNow = true
			}
		}
	}
}
