package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/httpserver"
	"github.com/remuda-run/remuda/internal/page"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

const consoleLong = `Serves the page that a controller serves at http.listen, from the store alone, until interrupted: what
waits and why, the machines, each run and each machine, what the pool saves and machines cost, and whether a controller leads.

It needs read access to the store and no controller. It opens a browser if there is a display, and prints the
address. The records are read once a second while somebody looks, and less often where that takes longer
than 0.2 s; on DynamoDB each reading is billed as a scan of the table.`

// consoleOptions are the flags of `remuda console`.
type consoleOptions struct {
	*app
	listen    string
	noBrowser bool
}

func newConsoleCmd(a *app) *cobra.Command {
	o := &consoleOptions{app: a}
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Serve the live page from the store",
		Long:  consoleLong,
		Args:  noArgs,
		RunE:  a.configured(o.validate, o.run),
	}
	cmd.Flags().StringVar(&o.listen, "listen", "127.0.0.1:0", "loopback `address` to serve at; port 0: a free one")
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false, "only print the address")
	return exits(cmd, exitNotFound, exitInterrupted)
}

// validate takes loopback addresses alone: the page asks for no token here.
func (o *consoleOptions) validate(config.Config) error {
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return fmt.Errorf("--listen: must be host:port: %w", err)
	}
	if !httpserver.Loopback(host) {
		return fmt.Errorf("--listen: must be a loopback address, such as 127.0.0.1:0, got %q; use http.listen of a controller for others", o.listen)
	}
	return nil
}

func (o *consoleOptions) run(ctx context.Context, cfg config.Config) error {
	return o.withStore(ctx, cfg, true, func(st *store.Store) error {
		ln, err := net.Listen("tcp", o.listen)
		if err != nil {
			return fmt.Errorf("--listen: %w", err)
		}
		address := "http://" + ln.Addr().String() + "/"
		fmt.Fprintf(o.out, "%s\n", address)
		if !o.noBrowser {
			browse(o.app, address)
		}
		log := o.logger(cfg.Log)
		return httpserver.Serve(ctx, ln, httpserver.New(httpserver.Options{
			Handlers: map[string]http.Handler{"/": newPage(o.clock, cfg, st, fromStore(st))}, Alive: well, Ready: well, Clock: o.clock, Log: log,
		}), log)
	})
}

// well is the word of a console to probes: it has no other part than to answer.
func well() string { return "" }

// pageEvery is from one reading of the records to the next: a change is seen within two seconds.
const pageEvery = time.Second

// newPage returns the live page of an installation.
func newPage(clk clock.WithTicker, cfg config.Config, st *store.Store, source page.Source) *page.Page {
	return page.New(page.Options{
		Source: withCosts(source, st, clk), Clock: clk, Every: pageEvery, Vacancy: auditConfig(cfg).Vacancy, Limits: statemachine.Limits(cfg.Limits),
		Stale: cfg.Intervals.WarmPoll, Scan: cfg.Intervals.Scan, Sweep: cfg.Intervals.Sweep,
	})
}

// fromStore reads the records of a page from the store.
func fromStore(st *store.Store) page.Source {
	return func(ctx context.Context) (page.Records, error) {
		var records page.Records
		visitor := records.Visitor()
		visitor.Launch, visitor.Drain = nil, nil // not shown, so neither is what is wrong with them
		err := st.Scan(ctx, visitor)
		if err == nil {
			records.Lease, err = st.Lease(ctx)
		}
		return records, err
	}
}

// fromOperator reads the records of a page from a controller's memory, and from the store while another controller leads.
// Only the lease is read in any case: it says what a leader tells everybody of itself.
func fromOperator(op *reconciler.Operator, st *store.Store) page.Source {
	scan := fromStore(st)
	return func(ctx context.Context) (page.Records, error) {
		found, known := op.Records()
		if !known {
			records, err := scan(ctx)
			records.Standby = !op.Leadership().Leads
			return records, err
		}
		lease, err := st.Lease(ctx)
		return page.Records{Found: found, Lease: lease}, err
	}
}

// browse opens an address in a browser if there is a display. The address was printed, so a failure is only reported. All users of the
// machine can read the command line of a browser: an address with a secret does not belong there.
func browse(a *app, address string) {
	opener := "xdg-open"
	if env := environment(a.environ()); runtime.GOOS == "darwin" {
		opener = "open"
	} else if env["DISPLAY"] == "" && env["WAYLAND_DISPLAY"] == "" {
		return
	}
	if err := exec.Command(opener, address).Start(); err != nil { // not waited for: it may be the browser itself
		fmt.Fprintf(a.err, "remuda: no browser was opened: %v\n", err)
	}
}
