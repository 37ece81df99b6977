package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

// completes makes the shell complete the values of a flag.
func completes(cmd *cobra.Command, flag string, values ...string) {
	completesWith(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completionLimit bounds what a shell waits for.
const completionLimit = 2 * time.Second

// completesIDs returns a completion with the ids of instances that live and of requests that are not over, as wanted.
func completesIDs(a *app, instances, requests bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		cfg, err := a.loadConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
		defer cancel()
		err = a.withStore(ctx, cfg.Config, true, func(st *store.Store) error {
			view, err := readFleet(ctx, st, a.clock.Now(), statemachine.Limits{})
			view.hideOver()
			for _, in := range view.Instances {
				if instances {
					ids = append(ids, string(in.ID))
				}
			}
			for _, r := range view.Requests {
				if requests {
					ids = append(ids, string(r.ID))
				}
			}
			return err
		})
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// completesWith makes the shell complete the values of a flag by a function.
func completesWith(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic("completion: " + err.Error()) // the flag does not exist; every test builds the tree
	}
}

// settingKeys completes the keys of --set.
func settingKeys(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var keys []string
	for _, s := range config.Settings() {
		keys = append(keys, s.Key+"=")
	}
	return keys, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// completesClass makes the shell complete the names of the configured resource classes.
func completesClass(a *app, cmd *cobra.Command, flag string) {
	completesWith(cmd, flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		cfg, err := a.loadConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.Sorted(maps.Keys(cfg.Classes)), cobra.ShellCompDirectiveNoFileComp
	})
}
