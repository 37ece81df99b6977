package config

import (
	"reflect"
	"testing"
)

// A file of what differs reads as what it was made of, whatever differs, and holds nothing else.
func TestChanged_ReadsAsItWas(t *testing.T) {
	if text, err := Changed(Default()); err != nil || string(text) != "{}\n" {
		t.Errorf("Changed(Default()) = %q, %v, want nothing", text, err)
	}
	for _, s := range settings {
		want := Default()
		_, value := sample(s)
		s.in(&want).Set(reflect.ValueOf(value))
		text, err := Changed(want)
		if err != nil {
			t.Errorf("%s: %v", s.Key, err)
			continue
		}
		got, err := Read(inFile(string(text)))
		if err != nil || !reflect.DeepEqual(got.Config, want) || len(got.origins) != 1 {
			t.Errorf("%s: read %v of\n%s, %v, want it alone as it was", s.Key, got.origins, text, err)
		}
	}
}
