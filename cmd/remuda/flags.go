package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/reference"
)

// globalFlags are the flags of every verb. Those that are settings are listed in flagSettings.
type globalFlags struct {
	config string
	set    []string
	pflags *pflag.FlagSet
}

// flagSettings are the settings with a flag of their own. All others are set by --set.
var flagSettings = []string{"store", "pool", "fleet", "log.level", "log.format"}

// flagOf is the name of the flag of a setting.
func flagOf(key string) string { return strings.ReplaceAll(key, ".", "-") }

func (g *globalFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&g.config, "config", "", "configuration `file`, or ssm:NAME of a parameter that holds one ("+config.EnvFile+")")
	fs.StringArrayVar(&g.set, "set", nil, "any other setting, as `key=value`, such as limits.idle=5m")
	for _, s := range config.Settings() {
		if slices.Contains(flagSettings, s.Key) {
			fs.String(flagOf(s.Key), "", s.Doc)
		}
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
	for _, key := range flagSettings {
		if given := g.pflags.Lookup(flagOf(key)); given != nil && given.Changed {
			out = append(out, config.Flag{Name: "--" + given.Name, Key: key, Text: given.Value.String()})
		}
	}
	return out, errors.Join(errs...)
}

// loadConfig reads the configuration and validates it. All its errors are usage errors.
func (a *app) loadConfig() (config.Loaded, error) {
	l, err := a.readConfig(func(name string) ([]byte, error) { return readSource(a, name) })
	if err != nil {
		return l, err
	}
	return l, asUsage(l.Validate())
}

// readSource reads a file, or what a reference names.
func readSource(a *app, name string) ([]byte, error) {
	if reference.Remote(name) {
		return a.references.Read(context.Background(), name)
	}
	return a.readFile(name)
}

// readConfig reads the configuration, its file by readFile, without judging its values.
func (a *app) readConfig(readFile func(name string) ([]byte, error)) (config.Loaded, error) {
	flags, wrong := a.global.settings()
	l, err := config.Read(config.Source{File: a.global.config, ReadFile: readFile, Env: environment(a.environ()), Flags: flags})
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
