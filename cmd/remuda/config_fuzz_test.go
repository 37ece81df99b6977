package main

import "testing"

// No text makes the reader of configurations panic, and one that it takes, it takes again.
func FuzzReadConfig(f *testing.F) {
	for _, seed := range []string{
		"", exampleConfig(), "limits: {idle: 5m}", "classes: {small: {cpu: 2, mem: 4096}}", "a: &a [*a]", "? {a: b} : c",
		"limits: !!null", "name: !!binary aGk=", "process: {types: [{name: a}, 3, null]}", "<<: {name: x}", "--- \n---\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := freshCLI()
		c.files["r.yaml"], c.global.config = text, "r.yaml"
		first, err := c.readConfig()
		if err != nil {
			if exitCode(err) != exitUsage {
				t.Fatalf("readConfig = %v, want a usage error", err)
			}
			return
		}
		_ = first.Validate() // must not panic either
		for _, s := range settings {
			copied := defaults()
			if err := s.set(&copied, s.text(first.Config)); err != nil && s.text(first.Config) != "" {
				t.Fatalf("%s: own text %q is refused: %v", s.key, s.text(first.Config), err)
			}
		}
	})
}
