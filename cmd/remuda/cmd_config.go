package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/remuda-run/remuda/agent/host"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/reference"
)

const configLong = `Shows every setting with its value and where that comes from: default, file, env or flag.

Later sources win. Lists all problems on standard error, including problems of scripts and credentials in
files of this host. Calls neither GitHub nor AWS, unless the configuration file is on AWS.
With --changed, omits settings that have their default. With --example, prints a file with all settings
commented out at their defaults.`

// configOptions are the flags of `remuda config`.
type configOptions struct {
	output           string
	example, changed bool
}

func newConfigCmd(a *app) *cobra.Command {
	o := &configOptions{}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show every setting and its origin",
		Long:  configLong,
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if o.example && (o.output != formatTable || o.changed) {
				return usagef("--example: prints YAML and cannot be combined with --output or --changed")
			}
			if err := checkFormat(o.output, formatTable, formatJSON); err != nil {
				return err
			}
			if o.example {
				_, err := fmt.Fprint(a.out, config.Example())
				return err
			}
			cfg, err := a.readConfig(func(name string) ([]byte, error) { return readSource(a, name) })
			problems := cfg.Validate()
			if reference.Remote(cfg.File) {
				fmt.Fprintf(a.err, "remuda: scripts and credential files: not checked here, because %s configures another host\n", cfg.File)
			} else {
				problems = errors.Join(problems, inputs(a, cfg.Config))
			}
			for _, why := range host.Refusals(cfg.Config, a.environ()) {
				fmt.Fprintf(a.err, "remuda: %v\n", why)
			}
			if err != nil { // after a read error the values are incomplete; report the problems only
				return errors.Join(err, asUsage(problems))
			}
			return errors.Join(o.run(a.streams, cfg), asUsage(problems))
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.output, "output", "o", formatTable, "table or json")
	fs.BoolVar(&o.changed, "changed", false, "only what a file, the environment or a flag sets")
	fs.BoolVar(&o.example, "example", false, "print a commented configuration file")
	completes(cmd, "output", formatTable, formatJSON)
	return exits(cmd)
}

// configView is what `remuda config -o json` prints. Its shape is documented in docs/cli.md.
type configView struct {
	File     string        `json:"file"` // "" if none was read
	Settings []settingView `json:"settings"`
}

// settingView is one setting. Durations are Go duration strings.
type settingView struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin string `json:"origin"` // default, file, env or flag
	Where  string `json:"where"`  // file:line, the variable or the flag
	Env    string `json:"env"`
	Doc    string `json:"doc"`
}

func newConfigView(l config.Loaded, shown []config.Setting) configView {
	v := configView{File: l.File, Settings: []settingView{}}
	for _, s := range shown {
		o := l.Origin(s.Key)
		v.Settings = append(v.Settings, settingView{s.Key, plain(s.Value(l.Config)), o.Kind, o.Where, s.Env(), s.Doc})
	}
	return v
}

// plain makes a value fit for JSON, without credentials that someone put into a URL.
func plain(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return config.DurationText(v)
	case string:
		return config.Redact(v)
	case config.PerArch:
		return v.Redacted()
	case map[string]string:
		return config.PerArch(v).Redacted()
	case map[string]config.Class:
		return asInFile(v)
	default:
		return v
	}
}

// asInFile returns classes with the names and texts of the file.
func asInFile(classes map[string]config.Class) any {
	var out any
	text, err := yaml.Marshal(classes)
	if err == nil {
		err = yaml.Unmarshal(text, &out)
	}
	if err != nil {
		return err.Error() // of what was read from YAML
	}
	return out
}

func (o *configOptions) run(s streams, l config.Loaded) error {
	t := &table{header: []string{"KEY", "ORIGIN", "VALUE"}}
	shown := slices.DeleteFunc(slices.Clone(config.Settings()), func(s config.Setting) bool {
		return o.changed && l.Origin(s.Key).Kind == "default"
	})
	for _, setting := range shown {
		t.add(setting.Key, l.Origin(setting.Key).String(), orNone(config.Redact(setting.Text(l.Config))))
	}
	return printAs(s.out, o.output, newConfigView(l, shown), t.String(0))
}
