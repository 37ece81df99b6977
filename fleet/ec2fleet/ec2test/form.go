package ec2test

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
)

// node is a parameter of a request of the query protocol: A.1.B=x is a tree.
type node struct {
	value string
	kids  map[string]*node
}

func parse(form url.Values) *node {
	root := &node{}
	for key, values := range form {
		n := root
		for part := range strings.SplitSeq(key, ".") {
			n = n.kid(part)
		}
		n.value = values[0]
	}
	return root
}

func (n *node) kid(name string) *node {
	if n.kids == nil {
		n.kids = make(map[string]*node)
	}
	if n.kids[name] == nil {
		n.kids[name] = &node{}
	}
	return n.kids[name]
}

// at returns the node of a path, an empty one if there is none.
func (n *node) at(path ...string) *node {
	for _, name := range path {
		if n = n.kids[name]; n == nil {
			return &node{}
		}
	}
	return n
}

func (n *node) str(path ...string) string { return n.at(path...).value }

func (n *node) int(path ...string) int {
	i, _ := strconv.Atoi(n.str(path...)) // 0 if it is none
	return i
}

func (n *node) has(path ...string) bool {
	m := n.at(path...)
	return m.value != "" || len(m.kids) > 0
}

// list returns the members of a list, which have the numbers from 1.
func (n *node) list(path ...string) []*node {
	kids := n.at(path...).kids
	var out []*node
	for i := 1; kids[strconv.Itoa(i)] != nil; i++ {
		out = append(out, kids[strconv.Itoa(i)])
	}
	return out
}

func (n *node) strings(path ...string) []string {
	var out []string
	for _, m := range n.list(path...) {
		out = append(out, m.value)
	}
	return out
}

// tags returns the tags of one TagSpecification.
func (n *node) tags() map[string]string {
	out := make(map[string]string)
	for _, t := range n.list("Tag") {
		out[t.str("Key")] = t.str("Value")
	}
	return out
}

// filters returns the filters by name.
func (n *node) filters() map[string][]string {
	out := make(map[string][]string)
	for _, f := range n.list("Filter") {
		out[f.str("Name")] = f.strings("Value")
	}
	return out
}

// compareMem orders types by memory, which for one number of vCPUs is near enough to the price.
func compareMem(a, b Type) int { return cmp.Or(cmp.Compare(a.Mem, b.Mem), cmp.Compare(a.Name, b.Name)) }
