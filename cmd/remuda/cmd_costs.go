package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/store"
)

const costsLong = `Shows what machines cost: how long they served runs, booted and were idle, and the dollars that
comes to by their list prices. The controller counts every minute, and keeps 396 days.

Dollars are estimates: machines alone, without disks, traffic, and what an account has negotiated.
WARM is the share of machines that were in the pool, WAITED what a request waited on average. Idle
machines are no repository's. -o json prints the same with stable keys; docs/operating.md lists them.`

// costsOptions are the flags of `remuda costs`.
type costsOptions struct {
	*app
	output, since, by string
	days              int
	log               config.Log
}

// mostDays is for how long costs are kept.
const mostDays = int(store.CostsLife / (24 * 60 * 60 * 1e9))

func newCostsCmd(a *app) *cobra.Command {
	o := &costsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "costs",
		Short: "Show what machines cost, by class, repository or day",
		Long:  costsLong,
		Example: `  remuda costs --since 7d
  remuda costs --by repository -o json`,
		Args: noArgs,
		RunE: a.onStore(true, o.validate, o.run),
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.output, "output", "o", formatTable, "table or json")
	fs.StringVar(&o.since, "since", "30d", "how many `days` back, today included, such as 7d")
	fs.StringVar(&o.by, "by", byClass, "class, repository or day")
	completes(cmd, "output", formatTable, formatJSON)
	completes(cmd, "by", byClass, byRepository, byDay)
	return exits(cmd, exitInterrupted)
}

func (o *costsOptions) validate(cfg config.Config) error {
	o.log = cfg.Log
	if err := checkFormat(o.output, formatTable, formatJSON); err != nil {
		return err
	}
	if err := asUsage(oneOf("--by", o.by, []string{byClass, byRepository, byDay})); err != nil {
		return err
	}
	number, isDays := strings.CutSuffix(o.since, "d")
	days, err := strconv.Atoi(number)
	if !isDays || err != nil || days < 1 || days > mostDays {
		return usagef("--since: must be 1d to %dd, got %q", mostDays, o.since)
	}
	o.days = days
	return nil
}

func (o *costsOptions) run(ctx context.Context, st *store.Store) error {
	now := o.clock.Now().UTC()
	days := store.DaysOf(now.AddDate(0, 0, 1-o.days), now)
	costs, unreadable, err := readCosts(ctx, o.app, st, o.log, days)
	if err != nil {
		return err
	}
	width := 0
	if o.outTTY {
		width, _ = o.size()
	}
	v := newCostsView(costs, o.by, days[0], days[len(days)-1], unreadable...)
	if err := printAs(o.out, o.output, v, renderCosts(v, width)); err != nil {
		return fmt.Errorf("show costs: %w", err)
	}
	return nil
}

// readCosts returns the recorded costs of days, and the days that cannot be read.
func readCosts(ctx context.Context, a *app, st *store.Store, log config.Log, days []string) (list []store.Costs, unreadable []string, err error) {
	list, err = store.ReadCostsOf(ctx, st, func(k store.Key, err error) {
		a.logger(log).Warn("costs omitted: item unreadable", logkey.Key, k.Partition, logkey.Error, err)
		if !errors.Is(err, store.ErrRow) {
			unreadable = append(unreadable, store.DayOfCosts(k))
		}
	}, days...)
	slices.Sort(unreadable)
	return list, unreadable, err
}
