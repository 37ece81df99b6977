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
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

const statusLong = `Shows the fleet, or one request, or one instance.

Without an argument it lists instances and open requests: LEFT is the time until an instance's
threshold, BEAT the age of its heartbeat (marked ! once it is too old to be healthy). An ID is
looked up among the instances and then among the requests; a word before it says which.`

// statusOptions are the flags of `remuda status`.
type statusOptions struct {
	*app
	output string
	watch  bool
	all    bool

	kind string // "", request or instance
	id   string // "": the fleet

	window time.Duration // of a healthy heartbeat
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
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.output, "output", "o", formatTable, "table, wide or json")
	fs.BoolVarP(&o.watch, "watch", "w", false, "show it again every second, until interrupted; then exit 0")
	fs.BoolVar(&o.all, "all", false, "also terminated instances and requests that are over")
	completes(cmd, "output", formatTable, formatWide, formatJSON)
	return exits(cmd, exitNotFound, exitInterrupted)
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
	o.window = statemachine.Limits(cfg.Limits).Window()
	return checkFormat(o.output, formatTable, formatWide, formatJSON)
}

// watchEvery is the period of --watch: thresholds and ages are shown in seconds.
const watchEvery = time.Second

func (o *statusOptions) run(ctx context.Context, st *store.Store) error {
	if !o.watch {
		return o.once(ctx, st)
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
	width, height := 0, 0
	if o.outTTY {
		width, height = o.size()
	}
	var b bytes.Buffer
	if err := o.draw(ctx, &b, st, o.clock.Now(), width); err != nil {
		return err
	}
	text := b.String()
	if o.watch && o.outTTY {
		text = homeAndClear + clip(text, height-1)
	}
	_, err := fmt.Fprint(o.out, text)
	return err
}

func (o *statusOptions) draw(ctx context.Context, b *bytes.Buffer, st *store.Store, now time.Time, width int) error {
	if o.kind == kindRequest {
		return o.drawRequest(ctx, b, st, now, width)
	}
	view, err := readFleet(ctx, st, now, o.window)
	if err != nil {
		return err
	}
	if o.id == "" {
		if !o.all {
			view.hideOver()
		}
		return printAs(b, o.output, view, renderFleet(view, o.output == formatWide, width))
	}
	in, err := view.instance(o.id)
	if err != nil && o.kind == "" {
		err = o.drawRequest(ctx, b, st, now, width)
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("%s: %w: neither an instance nor a request", o.id, store.ErrNotFound)
		}
		return err
	}
	if err != nil {
		return err
	}
	return printAs(b, o.output, in, renderInstance(in, store.At(now)))
}

func (o *statusOptions) drawRequest(ctx context.Context, b *bytes.Buffer, st *store.Store, now time.Time, width int) error {
	v, err := readRequest(ctx, st, o.id, now)
	if err != nil {
		return err
	}
	return printAs(b, o.output, v, renderRequest(v, store.At(now), width))
}

// clip keeps the first lines of text, so that a picture never scrolls its own beginning away.
func clip(text string, lines int) string {
	all := strings.SplitAfter(text, "\n")
	if len(all) <= lines || lines < 2 {
		return text
	}
	return strings.Join(all[:lines-1], "") + fmt.Sprintf("… %d more lines\n", len(all)-lines)
}
