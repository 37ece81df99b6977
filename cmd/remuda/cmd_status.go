package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

const statusLong = `Shows the fleet, or one request, or one instance.

Without an argument it shows who leads and what that last knew of itself, open requests, and the
instances: LEFT is the time until an instance's threshold, BEAT the age of its heartbeat (marked !
once it is too old to be healthy). Where a terminal has too few lines for all, instances are
counted by class; -o wide lists them still. An ID is looked up among the instances and then
among the requests; a word before it says which.

The list is bounded. It has at most 20 unreadable records, 100 failed requests, 100 requests of
one run, and 20 instance type patterns of each request. The output counts the rest.`

// statusOptions are the flags of `remuda status`.
type statusOptions struct {
	*app
	output string
	watch  bool
	all    bool

	kind string // "", request or instance
	id   string // "": the fleet

	cfg    config.Config
	audit  audit.Options       // says when a lease is dead, as `remuda audit` does
	limits statemachine.Limits // say which heartbeat is healthy
	found  error               // what is wrong with what was shown: there is work, and no controller leads
}

// Kinds of thing that may be asked for by name.
const (
	kindRequest  = "request"
	kindInstance = "instance"
)

func newStatusCmd(a *app) *cobra.Command {
	o := &statusOptions{app: a}
	cmd := &cobra.Command{
		Use:   "status [[request | instance] ID]",
		Short: "Show the fleet, a request or an instance",
		Long:  statusLong,
		Args:  func(_ *cobra.Command, args []string) error { return asUsage(o.parse(args)) },
		RunE:  a.onStore(true, o.validate, o.run),

		ValidArgsFunction: completesIDs(a, true, true),
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.output, "output", "o", formatTable, "table, wide or json")
	fs.BoolVarP(&o.watch, "watch", "w", false, "show it again every second, until interrupted; then exit 0")
	fs.BoolVar(&o.all, "all", false, "also terminated instances and requests that are over")
	completes(cmd, "output", formatTable, formatWide, formatJSON)
	return exits(cmd, exitNotFound, exitNoLeader, exitInterrupted)
}

// parse takes [kind] id.
func (o *statusOptions) parse(args []string) error {
	switch len(args) {
	case 0:
		return nil
	case 1:
		o.id = args[0]
	case 2:
		o.kind, o.id = args[0], args[1]
		if err := oneOf("argument", o.kind, []string{kindRequest, kindInstance}); err != nil {
			return err
		}
	default:
		return fmt.Errorf("arguments: at most two are allowed, got %d", len(args))
	}
	if o.id == "" {
		return errors.New("ID: must not be empty")
	}
	return nil
}

func (o *statusOptions) validate(cfg config.Config) error {
	o.cfg, o.audit = cfg, auditConfig(cfg)
	o.limits = statemachine.Limits(cfg.Limits)
	return checkFormat(o.output, formatTable, formatWide, formatJSON)
}

// watchEvery is the period of --watch: thresholds and ages are shown in seconds.
const watchEvery = time.Second

func (o *statusOptions) run(ctx context.Context, st *store.Store) error {
	if !o.watch {
		return errors.Join(o.once(ctx, st), o.found)
	}
	for {
		// Interrupted in the middle of a read is the proper end of a watch too.
		if err := o.once(ctx, st); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-o.clock.After(watchEvery):
		}
	}
}

// homeAndClear goes to the top left and clears from there (ECMA-48 CUP, ED).
const homeAndClear = "\x1b[H\x1b[J"

// once reads and prints one picture, in one write so that a watched one does not flicker.
func (o *statusOptions) once(ctx context.Context, st *store.Store) error {
	var s sheet
	if o.outTTY {
		s.columns, s.lines = o.size()
		s.lines-- // for the prompt, or the cursor
	}
	s.colour = o.colour(o.outTTY)
	var b bytes.Buffer
	if err := o.draw(ctx, &b, st, o.clock.Now(), s); err != nil {
		return err
	}
	text := b.String()
	if o.watch && o.outTTY {
		text = homeAndClear + clip(text, s.lines)
	}
	_, err := fmt.Fprint(o.out, text)
	return err
}

func (o *statusOptions) draw(ctx context.Context, b *bytes.Buffer, st *store.Store, now time.Time, s sheet) error {
	if o.kind == kindRequest {
		return o.drawRequest(ctx, b, st, now, s)
	}
	view, err := readFleet(ctx, st, now, o.limits)
	if err != nil {
		return err
	}
	if o.id == "" {
		if view.Controller, err = readController(ctx, st, now, o.audit); err != nil {
			return err
		}
		o.judge(view.Controller, view.work)
		if !o.all {
			view.hideOver()
		}
		view.bound()
		return printAs(b, o.output, view, renderFleet(view, o.output == formatWide, s))
	}
	in, err := view.instance(o.id)
	if err != nil && o.kind == "" {
		err = o.drawRequest(ctx, b, st, now, s)
		if errors.Is(err, store.ErrNotFound) {
			return notFound("%s: neither an instance nor a request", o.id)
		}
		return err
	}
	if err != nil {
		return err
	}
	return printAs(b, o.output, in, renderInstance(in, store.At(now)))
}

func (o *statusOptions) drawRequest(ctx context.Context, b *bytes.Buffer, st *store.Store, now time.Time, s sheet) error {
	v, err := readRequest(ctx, st, o.id, now)
	if err == nil {
		v.Controller, err = readController(ctx, st, now, o.audit)
	}
	if err != nil {
		return err
	}
	o.judge(v.Controller, !v.settled)
	return printAs(b, o.output, v, renderRequest(v, store.At(now), o.cfg, s))
}

// judge notes that there is work and none leads who would do it.
func (o *statusOptions) judge(controller *controllerView, work bool) {
	o.found = nil
	if work && controller.vacant() {
		o.found = controller.noLeader()
	}
}

// clip keeps the first lines of text, so that a picture never scrolls its own beginning away.
func clip(text string, lines int) string {
	all := strings.SplitAfter(text, "\n")
	if len(all) <= lines || lines < 2 {
		return text
	}
	return strings.Join(all[:lines-1], "") + fmt.Sprintf("… %d more lines\n", len(all)-lines)
}
