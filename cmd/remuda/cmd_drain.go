package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

const drainLong = `Orders instances to go and waits until they are terminated.

Exactly one of INSTANCE, --class and --all says which. Instances that run a job end after it, or
with --now at once, and their jobs fail: nobody is asked again. A run that still wants its
machines is given others. Those launched after the order stay. The order stays in force when the
command ends early.`

// drainOptions are the flags of `remuda drain`.
type drainOptions struct {
	*app
	class, timeout string
	all, now       bool
	args           []string
	given          *pflag.FlagSet

	instance   string
	limit      time.Duration
	classKnown bool // it is configured
	audit      audit.Options
}

func newDrainCmd(a *app) *cobra.Command {
	o := &drainOptions{app: a}
	cmd := &cobra.Command{
		Use:   "drain (INSTANCE | --class CLASS | --all)",
		Short: "Drain instances and wait until they have ended",
		Long:  drainLong,
		Args: func(cmd *cobra.Command, args []string) error {
			o.args, o.given = args, cmd.Flags()
			return atMostOneArg(cmd, args)
		},
		RunE: a.onStore(true, o.validate, o.run),

		ValidArgsFunction: completesIDs(a, true, false),
	}
	fs := cmd.Flags()
	fs.StringVar(&o.class, "class", "", "every instance of this resource `class`")
	fs.BoolVar(&o.all, "all", false, "every instance")
	fs.BoolVar(&o.now, "now", false, "do not wait for jobs: those that run there fail")
	fs.StringVar(&o.timeout, "timeout", "", "longest `duration` to wait (default limits.running)")
	completesClass(a, cmd, "class")
	return exits(cmd, exitNotFound, exitTimedOut, exitInterrupted)
}

func (o *drainOptions) validate(cfg config.Config) error {
	o.audit = auditConfig(cfg)
	_, o.classKnown = cfg.Classes[o.class]
	o.instance = strings.Join(o.args, "") // at most one
	selectors := len(o.args)
	for _, chosen := range []bool{o.given.Changed("class"), o.all} {
		if chosen {
			selectors++
		}
	}
	var errs []error
	if selectors != 1 {
		errs = append(errs, fmt.Errorf("exactly one of INSTANCE, --class and --all must be given, got %d", selectors))
	}
	if len(o.args) == 1 && o.instance == "" || o.given.Changed("class") && o.class == "" {
		errs = append(errs, errors.New("INSTANCE and --class must not be empty: --all drains everything"))
	}
	limit, err := parseDuration("--timeout", cmp.Or(o.timeout, cfg.UsualRuntime().String()), cfg.Requests.MaxRuntime)
	o.limit = limit
	return errors.Join(append(errs, err)...)
}

func (o *drainOptions) run(ctx context.Context, st *store.Store) error {
	wait, cancel := waitLimit(ctx, o.limit, "drain")
	defer cancel()
	start := o.clock.Now()
	order := store.DrainOrder{
		ID: uuid.NewString(), InstanceID: store.InstanceID(o.instance), ResourceClass: o.class, Now: o.now, CreatedAt: store.At(start),
	}
	show := newProgress(o.streams)
	defer show.clear()
	var found []store.Instance
	err := settle(wait, o.clock, show, "drain", func(ctx context.Context) (err error) {
		found, err = matching(ctx, st, order.Covers)
		if err == nil {
			err = o.known(found)
		}
		if err == nil {
			err = st.OrderDrain(ctx, order)
		}
		return err
	})
	if err != nil {
		return err
	}
	if n := living(found); o.now && n > 0 {
		show.note("without waiting for jobs: %s to end now", plural(n, "instance"))
	}
	left, dismissed, err := o.wait(wait, st, order, found, show)
	if err != nil {
		return fmt.Errorf("%w: %d left (the order stays in force)", err, left)
	}
	show.clear()
	for _, id := range dismissed {
		if _, err := fmt.Fprintf(o.out, "%s dismissed\n", id); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(o.out, "drained %d after %s\n", len(dismissed), seconds(o.clock.Now().Sub(start)))
	return err
}

// known reports a selector that names nothing. A class without instances is known by configuration.
func (o *drainOptions) known(found []store.Instance) error {
	switch {
	case len(found) > 0 || o.all || o.classKnown:
		return nil
	case o.class != "":
		return notFound("class %s: neither configured nor of any instance", o.class)
	default:
		return notFound("instance %s: not found", o.instance)
	}
}

// wait polls until every instance that order covers has ended, those found when it was given and those
// launched until a controller took it up, and returns how many have not and the ids of those that were alive
// when it was given or later. A controller may have dismissed them all before the first look.
func (o *drainOptions) wait(ctx context.Context, st *store.Store, order store.DrainOrder, found []store.Instance, show *progress) (int, []store.InstanceID, error) {
	start := o.clock.Now()
	named, seen := map[store.InstanceID]bool{}, map[store.InstanceID]bool{}
	see := func(in store.Instance) {
		if in.State != statemachine.Terminated {
			seen[in.ID] = true
		}
	}
	for _, in := range found {
		named[in.ID] = true
		see(in)
	}
	hint := newControllerHint(st, o.clock, o.audit)
	notify := every{period: notifyEvery, next: start.Add(notifyEvery)}
	left := 0
	err := poll(ctx, o.clock, func(ctx context.Context) (bool, error) {
		now := o.clock.Now()
		if notify.due(now) {
			_ = st.Table().Notify(ctx, store.DrainKey(order.ID)) // a hint: the controller scans anyway
		}
		var bad error
		taken, err := st.DrainOrders(ctx, func(_ store.Key, err error) { bad = err }, order.ID)
		if err = errors.Join(err, bad); err == nil {
			found, err = matching(ctx, st, func(in store.Instance) bool {
				return named[in.ID] || len(taken) == 1 && taken[0].Taken() && taken[0].Matches(in)
			})
		}
		if err != nil {
			hint.look(ctx, show, false, now, err)
			show.show(storeTrouble("drain", err), "  "+short(now.Sub(start)))
			return false, nil
		}
		left = 0
		states := map[statemachine.State]int{}
		for _, in := range found {
			if in.Gone() {
				continue
			}
			see(in)
			states[in.State]++
			left++
		}
		if left > 0 {
			hint.look(ctx, show, false, now, nil)
			show.show(fmt.Sprintf("drain  %d left%s", left, stateCounts(states)), "  "+short(now.Sub(start)))
		}
		return left == 0, nil
	})
	return left, slices.Sorted(maps.Keys(seen)), err
}

// living counts the instances that are not gone.
func living(list []store.Instance) int {
	n := 0
	for i := range list {
		if !list[i].Gone() {
			n++
		}
	}
	return n
}

// matching returns every instance that is meant, terminated ones too.
func matching(ctx context.Context, st *store.Store, meant func(store.Instance) bool) ([]store.Instance, error) {
	var found []store.Instance
	err := st.Scan(ctx, store.Visitor{Instance: func(in store.Instance) {
		if meant(in) {
			found = append(found, in)
		}
	}})
	return found, err
}

// stateCounts writes ": 2 running, 1 idle" in the order of an instance's life, or nothing.
func stateCounts(counts map[statemachine.State]int) string {
	text, separator := "", ": "
	for _, s := range statemachine.States() {
		if counts[s] > 0 {
			text += fmt.Sprintf("%s%d %s", separator, counts[s], s)
			separator = ", "
		}
	}
	return text
}
