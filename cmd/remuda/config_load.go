package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// origin says where the value of a setting comes from.
type origin struct {
	kind  string // default, file, env or flag
	where string // file:line, the variable's or the flag's name; empty for default
}

func (o origin) String() string {
	if o.where == "" {
		return o.kind
	}
	return o.kind + " " + o.where
}

// loadedConfig is a Config and where each of its values comes from, by key.
type loadedConfig struct {
	Config
	file    string // "" if none was read
	origins map[string]origin
}

// configEnv names the configuration file if --config does not.
const configEnv = "REMUDA_CONFIG"

// globalFlags are the flags of every verb. Those that are settings are listed in flagSettings.
type globalFlags struct {
	config string
	set    []string
	pflags *pflag.FlagSet
}

// flagSettings are the settings with a flag of their own. All others are set by --set.
var flagSettings = []struct{ flag, key string }{
	{"store", "store"}, {"pool", "pool"}, {"fleet", "fleet"},
	{"log-level", "log.level"}, {"log-format", "log.format"},
}

func (g *globalFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&g.config, "config", "", "configuration `file` ("+configEnv+")")
	fs.StringArrayVar(&g.set, "set", nil, "any other setting, as `key=value`, such as limits.idle=5m")
	for _, f := range flagSettings {
		s, ok := settingFor(f.key)
		if !ok {
			panic("config: flag of unknown setting " + f.key) // every test builds the tree
		}
		fs.String(f.flag, "", s.doc)
	}
	g.pflags = fs
}

// loadConfig reads the configuration and validates it. All its errors are usage errors.
func (a *app) loadConfig() (loadedConfig, error) {
	l, err := a.readConfig()
	if err != nil {
		return l, err
	}
	return l, asUsage(l.Validate())
}

// readConfig reads the configuration without judging its values: defaults, then the file, then the
// environment, then the flags.
func (a *app) readConfig() (loadedConfig, error) {
	l := loadedConfig{Config: defaults(), origins: map[string]origin{}}
	env := environment(a.environ())
	l.file = a.global.config
	if l.file == "" {
		l.file = env[configEnv]
	}
	if l.file != "" {
		if err := l.readFile(a.readFile); err != nil {
			return l, asUsage(err)
		}
	}
	return l, asUsage(errors.Join(l.readEnv(env), l.readFlags(a.global)))
}

func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok {
			env[name] = value
		}
	}
	return env
}

func (l *loadedConfig) readFile(read func(string) ([]byte, error)) error {
	text, err := read(l.file)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	docs := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	switch err := docs.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil // empty, or all comments
	case err != nil:
		return fmt.Errorf("%s: %w", l.file, err)
	}
	if err := docs.Decode(&more); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s:%d: must hold one YAML document only", l.file, more.Line)
	}
	d := decoder{file: l.file, seen: func(key string, line int) {
		l.origins[key] = origin{"file", fmt.Sprintf("%s:%d", l.file, line)}
	}}
	d.value(reflect.ValueOf(&l.Config).Elem(), doc.Content[0], "")
	return d.err()
}

func (l *loadedConfig) readEnv(env map[string]string) error {
	var errs []error
	for _, s := range settings {
		text := env[s.env()]
		if text == "" {
			continue // workflow files cannot unset a variable, only empty it
		}
		if err := s.set(&l.Config, text); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.env(), err))
			continue
		}
		l.origins[s.key] = origin{"env", s.env()}
	}
	return errors.Join(errs...)
}

func (l *loadedConfig) readFlags(g globalFlags) error {
	var errs []error
	apply := func(flag, key, text string) {
		s, ok := settingFor(key)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: unknown key %q: %s", flag, key, suggest("", key, settingKeys())))
			return
		}
		if err := s.set(&l.Config, text); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", flag, err))
			return
		}
		l.origins[key] = origin{"flag", flag}
	}
	for _, pair := range g.set {
		key, text, ok := strings.Cut(pair, "=")
		if !ok {
			errs = append(errs, fmt.Errorf("--set: must be key=value, got %q", pair))
			continue
		}
		apply("--set", key, text)
	}
	for _, f := range flagSettings {
		if given := g.pflags.Lookup(f.flag); given != nil && given.Changed {
			apply("--"+f.flag, f.key, given.Value.String())
		}
	}
	return errors.Join(errs...)
}

// origin returns where the value of key comes from.
func (l loadedConfig) origin(key string) origin {
	if o, ok := l.origins[key]; ok {
		return o
	}
	return origin{kind: "default"}
}
