package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/remuda-run/remuda/internal/config"
)

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
	fs.StringVar(&g.config, "config", "", "configuration `file` ("+config.EnvFile+")")
	fs.StringArrayVar(&g.set, "set", nil, "any other setting, as `key=value`, such as limits.idle=5m")
	docs := map[string]string{}
	for _, s := range config.Settings() {
		docs[s.Key] = s.Doc
	}
	for _, f := range flagSettings {
		fs.String(f.flag, "", docs[f.key])
	}
	g.pflags = fs
}

// settings lists what the flags set.
func (g *globalFlags) settings() ([]config.Flag, error) {
	var out []config.Flag
	var errs []error
	for _, pair := range g.set {
		key, text, ok := strings.Cut(pair, "=")
		if !ok {
			errs = append(errs, fmt.Errorf("--set: must be key=value, got %q", pair))
			continue
		}
		out = append(out, config.Flag{Name: "--set", Key: key, Text: text})
	}
	for _, f := range flagSettings {
		if given := g.pflags.Lookup(f.flag); given != nil && given.Changed {
			out = append(out, config.Flag{Name: "--" + f.flag, Key: f.key, Text: given.Value.String()})
		}
	}
	return out, errors.Join(errs...)
}

// loadConfig reads the configuration and validates it. All its errors are usage errors.
func (a *app) loadConfig() (config.Loaded, error) {
	l, err := a.readConfig()
	if err != nil {
		return l, err
	}
	return l, asUsage(l.Validate())
}

// readConfig reads the configuration without judging its values.
func (a *app) readConfig() (config.Loaded, error) {
	flags, wrong := a.global.settings()
	l, err := config.Read(config.Source{File: a.global.config, ReadFile: a.readFile, Env: environment(a.environ()), Flags: flags})
	return l, asUsage(errors.Join(err, wrong))
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
