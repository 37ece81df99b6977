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
			if text := s.Text(first.Config); text != "" {
				if _, err := Read(Source{Flags: []Flag{{"--set", s.Key, text}}}); err != nil {
					t.Fatalf("own text is refused: %v", err)
				}
			}
		}
	})
}
