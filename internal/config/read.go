package config

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Origin says where the value of a setting comes from.
type Origin struct {
	Kind  string // default, file, env or flag
	Where string // file:line, the variable's or the flag's name; "" for default
}

func (o Origin) String() string {
	if o.Where == "" {
		return o.Kind
	}
	return o.Kind + " " + o.Where
}

// envPrefix begins the name of every variable of ours.
const envPrefix = "REMUDA_"

// EnvFile names the configuration file if no flag does.
const EnvFile = envPrefix + "CONFIG"

// Flag sets one setting.
type Flag struct{ Name, Key, Text string }

// Source is what a configuration is read from. A later field wins over an earlier one.
type Source struct {
	File     string // "": what EnvFile says, if it does
	ReadFile func(name string) ([]byte, error)
	Env      map[string]string
	Flags    []Flag
}

// Loaded is a Config and where each of its values comes from.
type Loaded struct {
	Config
	File    string // "" if none was read
	origins map[string]Origin
}

// Origin returns where the value of a setting comes from.
func (l Loaded) Origin(key string) Origin {
	if o, ok := l.origins[key]; ok {
		return o
	}
	return Origin{Kind: "default"}
}

// Read reads a configuration without validation: defaults, then the file, then the environment, then the flags. It returns all problems,
// joined, and the readable settings.
func Read(from Source) (Loaded, error) {
	l := Loaded{Config: Default(), File: from.File, origins: map[string]Origin{}}
	if l.File == "" {
		l.File = from.Env[EnvFile]
	}
	var errs []error
	if l.File != "" {
		text, err := from.ReadFile(l.File)
		if err != nil {
			return l, fmt.Errorf("read configuration: %w", err)
		}
		errs = append(errs, l.readFile(text))
	}
	for _, s := range settings {
		if text := from.Env[s.Env()]; text != "" { // workflow files cannot unset a variable, only empty it
			errs = append(errs, l.take(s, text, Origin{"env", s.Env()}))
		}
	}
	for _, f := range from.Flags {
		s, ok := settingFor(f.Key)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: unknown key %q: %s", f.Name, f.Key, suggest(f.Key)))
			continue
		}
		errs = append(errs, l.take(s, f.Text, Origin{"flag", f.Name}))
	}
	errs = append(errs, mistypedVariables(from.Env, EnvFile, l.GitHub.TokenEnv, Default().GitHub.TokenEnv)...)
	return l, errors.Join(errs...)
}

// take sets s to what the environment or a flag says, in which lists and maps are YAML.
func (l *Loaded) take(s Setting, text string, from Origin) error {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if s.composed() && !s.perArch() {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			return fmt.Errorf("%s: %s: must be YAML on one line, got %q: %w", from.Where, s.Key, text, err)
		}
		if n = &doc; len(doc.Content) > 0 {
			n = doc.Content[0]
		}
	}
	l.origins[s.Key] = from
	var errs []error
	for _, p := range s.set(&l.Config, n) {
		errs = append(errs, fmt.Errorf("%s: %w", from.Where, p.err))
	}
	return errors.Join(errs...)
}
