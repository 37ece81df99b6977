package githubsim_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// description is an OpenAPI 3.0 description, of which what is not asked for stays as it is.
type description struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas    map[string]*schema      `json:"schemas"`
		Responses  map[string]response     `json:"responses"`
		Parameters map[string]apiParameter `json:"parameters"`
	} `json:"components"`
}

type operation struct {
	Parameters []apiParameter      `json:"parameters"`
	Responses  map[string]response `json:"responses"`
}

type apiParameter struct {
	Ref  string `json:"$ref"`
	Name string `json:"name"`
	In   string `json:"in"`
}

type response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct {
		Schema *schema `json:"schema"`
	} `json:"content"`
}

type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Format     string             `json:"format"`
	Nullable   bool               `json:"nullable"`
	Enum       []any              `json:"enum"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	AllOf      []*schema          `json:"allOf"`
	AnyOf      []*schema          `json:"anyOf"`
	OneOf      []*schema          `json:"oneOf"`
}

// describe reads one of openapiFiles.
func describe(t *testing.T, name string) *description {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(openapiFolder(t), name))
	check(t, err)
	var d description
	check(t, json.Unmarshal(raw, &d))
	return &d
}

var parameterName = regexp.MustCompile(`\{[^}]*\}`)

// anonymous is a path without the names of its parameters, in which GitHub and the simulation differ.
func anonymous(path string) string { return parameterName.ReplaceAllString(path, "{}") }

// operation returns the operation of a route such as GET /user, if it is described.
func (d *description) operation(t *testing.T, route string) (operation, bool) {
	t.Helper()
	method, path, _ := strings.Cut(route, " ")
	var op operation
	for described, item := range d.Paths {
		if raw, ok := item[strings.ToLower(method)]; ok && anonymous(described) == anonymous(path) {
			check(t, json.Unmarshal(raw, &op))
			return op, true
		}
	}
	return op, false
}

// last is the name that a reference ends with.
func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// takes reports whether an operation has a query parameter.
func (d *description) takes(op operation, query string) bool {
	return slices.ContainsFunc(op.Parameters, func(p apiParameter) bool {
		if p.Ref != "" {
			p = d.Components.Parameters[last(p.Ref)]
		}
		return p.In == "query" && p.Name == query
	})
}

// body returns the schema of the body of an operation's answer; nil: it has none.
func (d *description) body(op operation, status int) (*schema, bool) {
	r, ok := op.Responses[fmt.Sprint(status)]
	if r.Ref != "" {
		r, ok = d.Components.Responses[last(r.Ref)]
	}
	return r.Content["application/json"].Schema, ok
}

// wrong returns what of a value is not as described.
func (d *description) wrong(at string, v any, s *schema) []string {
	if s.Ref != "" {
		return d.wrong(at, v, d.Components.Schemas[last(s.Ref)])
	}
	if v == nil && s.Nullable {
		return nil
	}
	for _, choice := range [][]*schema{s.AnyOf, s.OneOf} {
		if len(choice) > 0 && !slices.ContainsFunc(choice, func(one *schema) bool { return len(d.wrong(at, v, one)) == 0 }) {
			return []string{fmt.Sprintf("%s: %v is none of what is described", at, v)}
		}
	}
	if s.Enum != nil && !slices.Contains(s.Enum, v) {
		return []string{fmt.Sprintf("%s: %v is none of %v", at, v, s.Enum)}
	}
	fields := d.fields(s)
	if s.Type == "" && len(fields) == 0 {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return d.wrongObject(at, v, fields, s.Type)
	case []any:
		var out []string
		if s.Type != "array" {
			return []string{fmt.Sprintf("%s: is a list, described as %s", at, s.Type)}
		}
		for i, one := range v {
			out = append(out, d.wrong(fmt.Sprintf("%s[%d]", at, i), one, s.Items)...)
		}
		return out
	}
	if !is(v, s) {
		return []string{fmt.Sprintf("%s: %v, described as %s %s", at, v, s.Type, s.Format)}
	}
	return nil
}

// is reports whether a plain value has the described type.
func is(v any, s *schema) bool {
	switch v := v.(type) {
	case string:
		_, err := time.Parse(time.RFC3339, v)
		return s.Type == "string" && (s.Format != "date-time" || err == nil)
	case bool:
		return s.Type == "boolean"
	case float64:
		return s.Type == "number" || s.Type == "integer" && v == math.Trunc(v)
	}
	return false
}

func (d *description) wrongObject(at string, v map[string]any, fields map[string]*schema, kind string) []string {
	if kind != "object" && kind != "" {
		return []string{fmt.Sprintf("%s: is an object, described as %s", at, kind)}
	}
	var out []string
	for name, value := range v {
		described, ok := fields[name]
		if !ok {
			out = append(out, fmt.Sprintf("%s.%s: is not described", at, name))
			continue
		}
		out = append(out, d.wrong(at+"."+name, value, described)...)
	}
	return out
}

// fields are those of an object, and of all that it consists of.
func (d *description) fields(s *schema) map[string]*schema {
	out := map[string]*schema{}
	if s.Ref != "" {
		return d.fields(d.Components.Schemas[last(s.Ref)])
	}
	for _, part := range s.AllOf {
		for name, one := range d.fields(part) {
			out[name] = one
		}
	}
	for name, one := range s.Properties {
		out[name] = one
	}
	return out
}
