package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/store"
)

const requestLong = `Asks for runners and waits until all of them are ready.

The id is the run id of the workflow; it is also the label that jobs name in runs-on.
The same id, attempt and spec is the same request, so that a repeated call only waits again;
a higher attempt replaces a lower one. While it waits the command says on standard error what
for, in the controller's words, and for how long. Interrupted, or without an answer, it gives
back what it asked for.

With --repository the request names its run at GitHub: the controller watches that, gives the
runners back when it is over, and asks again when its failed jobs are run again. With --no-wait
the command ends once the request is stored; jobs queue at GitHub until their runner listens.`

// requestOptions are the flags of `remuda request`, as given; validate turns them into a RunRequest.
type requestOptions struct {
	*app
	id, attempt, count  string
	repository          string
	runID, runAttempt   string
	usage, types, class string
	maxRuntime, timeout string
	noWait              bool
	output              string
	want                store.RunRequest
	audit               audit.Options
}

func newRequestCmd(a *app) *cobra.Command {
	o := &requestOptions{app: a}
	cmd := &cobra.Command{
		Use:   "request --id ID --resource-class CLASS [--count N] [--repository OWNER/NAME]",
		Short: "Ask for runners and wait until they are ready",
		Long:  requestLong,
		Example: `  remuda request --id 4711 --count 3 --resource-class medium --allowed-instance-types "c* m*"
  remuda request --id 4711-build --repository octo/app --run-attempt 2 --resource-class large --no-wait`,
		Args: noArgs,
		RunE: a.onStore(false, o.validate, o.run),
	}
	fs := cmd.Flags()
	fs.StringVar(&o.id, "id", "", "request `id`: the run id, or <run id>-<suffix>, at most 100 of a-z, 0-9 and -; also the runner label")
	fs.StringVar(&o.attempt, "attempt", "", "attempt of the run, `N` from 1 (default --run-attempt, or 1)")
	fs.StringVar(&o.count, "count", "1", "how many runners, `N` from 1 to requests.maxCount")
	fs.StringVar(&o.usage, "usage-class", store.Spot, "spot, on-demand, or both in order of preference: spot,on-demand")
	fs.StringVar(&o.types, "allowed-instance-types", "*", "`patterns` of instance types, such as \"c* m6i.large\"; * is any text")
	fs.StringVar(&o.class, "resource-class", "", "resource `class`, as configured under classes (required)")
	fs.StringVar(&o.maxRuntime, "max-runtime", "", "longest `duration` of the run, from 1s to requests.maxRuntime; then its machines end (default limits.running)")
	fs.StringVar(&o.timeout, "timeout", "", "longest `duration` until all are ready, from 1s to requests.maxRuntime; the controller's answer is waited for 30s longer (default requests.timeout)")
	fs.StringVar(&o.repository, "repository", "", "repository of the run at GitHub, `owner/name`, within github.url (default none: the run is not watched)")
	fs.StringVar(&o.runID, "run-id", "", "`id` of the run, with --repository (default the digits that --id begins with)")
	fs.StringVar(&o.runAttempt, "run-attempt", "", "attempt of the run at GitHub, `N` from 1, with --repository (default --attempt)")
	fs.BoolVar(&o.noWait, "no-wait", false, "end once the request is stored")
	fs.StringVarP(&o.output, "output", "o", formatTable, "table or json")
	completes(cmd, "usage-class", store.Spot, store.OnDemand, store.Spot+","+store.OnDemand)
	completes(cmd, "output", formatTable, formatJSON)
	completesClass(a, cmd, "resource-class")
	return exits(cmd, exitNotFound, exitConflict, exitTimedOut, exitFailed, exitInterrupted)
}

// validate checks every flag against cfg before anything is opened or written (S89, H34).
func (o *requestOptions) validate(cfg config.Config) error {
	var errs [10]error
	var runtime, timeout time.Duration
	r := &o.want
	r.ID, errs[0] = parseID("--id", o.id)
	r.Attempt, errs[1] = parseWhole("--attempt", cmp.Or(o.attempt, "1"), 1, math.MaxInt32)
	r.Count, errs[2] = parseWhole("--count", o.count, 1, cfg.Requests.MaxCount)
	r.UsageClasses, errs[3] = parseUsage("--usage-class", o.usage)
	r.AllowedInstanceTypes, errs[4] = parsePatterns("--allowed-instance-types", o.types)
	r.ResourceClass, errs[5] = o.class, oneOf("--resource-class", o.class, slices.Sorted(maps.Keys(cfg.Classes)))
	runtime, errs[6] = parseDuration("--max-runtime", cmp.Or(o.maxRuntime, cfg.UsualRuntime().String()), cfg.Requests.MaxRuntime)
	timeout, errs[7] = parseDuration("--timeout", cmp.Or(o.timeout, cfg.Requests.Timeout.String()), cfg.Requests.MaxRuntime)
	errs[8] = checkFormat(o.output, formatTable, formatJSON)
	errs[9] = o.namesRun(cfg.GitHub)
	r.NoWait, o.audit = o.noWait, auditConfig(cfg)
	r.MaxRuntime, r.Timeout = store.SecondsOf(runtime), store.SecondsOf(timeout)
	return errors.Join(errs[:]...)
}

// giveUpMargin is how much longer than the request's own timeout a client waits for the
// controller's answer: a fail-over (3 s) and the writes around it, generously.
const giveUpMargin = 30 * time.Second

// giveBackLimit bounds the release after an interruption: a cancelled workflow step is killed
// 7.5 s after its first signal (docs.github.com, workflow cancellation).
const giveBackLimit = 5 * time.Second

func (o *requestOptions) run(ctx context.Context, st *store.Store) error {
	limit := o.want.Timeout.Duration() + giveUpMargin
	wait, cancel := waitLimit(ctx, limit, fmt.Sprintf("request %s", o.want.ID))
	defer cancel()
	w := &requestWait{app: o.app, store: st, want: o.want, audit: o.audit, start: o.clock.Now(), progress: newProgress(o.streams)}
	w.want.CreatedAt = store.At(w.start)
	err := w.run(wait)
	w.progress.clear()
	refused := errors.Is(err, store.ErrRefused) && !w.asked.IsZero()
	if wait.Err() != nil && err != nil || refused { // interrupted, no controller answered in time, or the answer may not be read
		err = w.giveBack(ctx, err)
	}
	if err != nil {
		return err
	}
	if !w.waits() {
		return printAs(o.out, o.output, newRunResult(store.RunStatus{ID: w.stored.ID, Attempt: w.stored.Attempt}), renderAsked(w.stored))
	}
	if text := unwatched(w.want, w.status); text != "" {
		w.progress.note("%s", text)
	}
	result := newRunResult(w.status)
	return printAs(o.out, o.output, result, renderReady(result))
}
