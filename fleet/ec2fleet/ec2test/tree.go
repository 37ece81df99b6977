package ec2test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// element is one of an XML answer, without namespaces and attributes.
type element struct {
	name string
	text string
	kids []*element
}

func parseXML(raw []byte) (*element, error) {
	root := &element{}
	stack := []*element{root}
	for d := xml.NewDecoder(bytes.NewReader(raw)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		top := stack[len(stack)-1]
		switch token := token.(type) {
		case xml.StartElement:
			kid := &element{name: token.Name.Local}
			top.kids = append(top.kids, kid)
			stack = append(stack, kid)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(token)
		}
	}
	if len(root.kids) != 1 {
		return nil, errors.New("not one root element")
	}
	return root.kids[0], nil
}

func (e *element) String() string {
	if len(e.kids) == 0 {
		return text(e.name, e.text)
	}
	var parts []string
	for _, kid := range e.kids {
		parts = append(parts, kid.String())
	}
	return el(e.name, parts...)
}

// content is an answer without its name and id.
func (e *element) content() string {
	var out []string
	for _, part := range e.kids {
		if part.name != "requestId" {
			out = append(out, part.String())
		}
	}
	return strings.Join(out, "")
}

// all returns every element of a path below e.
func (e *element) all(path ...string) []*element {
	found := []*element{e}
	for _, name := range path {
		var next []*element
		for _, f := range found {
			for _, kid := range f.kids {
				if kid.name == name {
					next = append(next, kid)
				}
			}
		}
		found = next
	}
	return found
}

// get returns the text of the first element of a path.
func (e *element) get(path ...string) string {
	if found := e.all(path...); len(found) > 0 {
		return strings.TrimSpace(found[0].text)
	}
	return ""
}
