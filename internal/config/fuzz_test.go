package config

import "testing"

// No text makes the reader of configurations panic, and one that it takes, it takes again.
func FuzzReadConfig(f *testing.F) {
	for _, seed := range []string{
		"", Example(), "limits: {idle: 5m}", "classes: {small: {cpu: 2, mem: 4096}}", "a: &a [*a]", "? {a: b} : c",
		"limits: !!null", "name: !!binary aGk=", "process: {types: [{name: a}, 3, null]}", "<<: {name: x}", "--- \n---\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := Read(inFile(text))
		if err != nil {
			return
		}
		_ = first.Validate() // must not panic either
		for _, s := range settings {
			copied := Default()
			if err := s.set(&copied, s.Text(first.Config)); err != nil && s.Text(first.Config) != "" {
				t.Fatalf("%s: own text %q is refused: %v", s.Key, s.Text(first.Config), err)
			}
		}
	})
}
