package config

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Changed returns a configuration file of what differs from the defaults, which a later version may mend.
func Changed(c Config) ([]byte, error) {
	root, defaults := map[string]any{}, Default()
	for _, s := range settings {
		if reflect.DeepEqual(s.Value(c), s.Value(defaults)) {
			continue
		}
		section := root
		keys := strings.Split(s.Key, ".")
		for _, key := range keys[:len(keys)-1] {
			inner, ok := section[key].(map[string]any)
			if !ok {
				inner = map[string]any{}
				section[key] = inner
			}
			section = inner
		}
		section[keys[len(keys)-1]] = s.Value(c)
	}
	out, err := yaml.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return out, nil
}
