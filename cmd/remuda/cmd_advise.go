package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/remuda-run/remuda/internal/advisor"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/store"
)

const adviseLong = `Shows how long requests would have waited, and for how long instances would have lived, under other idle
limits and other minimum idle. The command replays the requests of the last days under each of them. The
table keeps these requests for 35 days. The replay has its own short rules for the pool, idle limits,
minimum idle and caps.

For each class the command prints the recorded figures, and the figures of the replay under the present
settings. If they differ by more than 5 %, do not rely on the rest. Then the command prints a frontier: no
setting of it is worse than another one in both waiting and instance time. Each row has the lines of the
configuration for it. The command tries minimum idle at all times, and in the busiest hours of --timezone.
In a replay, no instance fails, is replaced or is interrupted.

Dollars are an estimate and no bill: the time of all instances, at their average price in "remuda costs",
or at --price.`

// adviseOptions are the flags of `remuda advise`.
type adviseOptions struct {
	*app
	output, since, class, timezone string
	price                          []string
	back                           time.Duration
	place                          *time.Location
	prices                         map[string]float64 // dollars an hour, by class
	cfg                            config.Config
}

func newAdviseCmd(a *app) *cobra.Command {
	o := &adviseOptions{app: a}
	cmd := &cobra.Command{
		Use:   "advise",
		Short: "Show what other idle limits and minimum idle would have changed",
		Long:  adviseLong,
		Example: `  remuda advise --since 14d
  remuda advise --class large --timezone Europe/Berlin --price large=0.085
  remuda advise -o json`,
		Args: noArgs,
		RunE: a.onStore(true, o.validate, o.run),
	}
	fs := cmd.Flags()
	fs.StringVarP(&o.output, "output", "o", formatTable, "table or json")
	fs.StringVar(&o.since, "since", "7d", "how far to look back, at most 35d")
	fs.StringVar(&o.class, "class", "", "of one resource class only")
	fs.StringVar(&o.timezone, "timezone", "UTC", "time zone of the hours of minimum idle: a `ZONE` of the IANA time zone database such as Europe/Berlin")
	fs.StringSliceVar(&o.price, "price", nil, "`CLASS=DOLLARS` an hour of one machine; may be repeated")
	completes(cmd, "output", formatTable, formatJSON)
	return exits(cmd, exitNotFound, exitInterrupted)
}

func (o *adviseOptions) validate(cfg config.Config) error {
	o.cfg = cfg
	errs := []error{checkFormat(o.output, formatTable, formatJSON)}
	var err error
	o.back, err = parseDays("--since", o.since)
	errs = append(errs, err)
	classes := slices.Sorted(maps.Keys(cfg.Classes))
	if o.class != "" {
		errs = append(errs, oneOf("--class", o.class, classes))
	}
	if o.place, err = time.LoadLocation(o.timezone); err != nil || o.timezone == "Local" || o.timezone == "" {
		errs = append(errs, fmt.Errorf("--timezone: must be a zone of the IANA time zone database such as Europe/Berlin, got %.40q", o.timezone))
	}
	o.prices = map[string]float64{}
	for _, text := range o.price {
		class, dollars, _ := strings.Cut(text, "=")
		price, err := strconv.ParseFloat(dollars, 64)
		if err != nil || !(price > 0 && price <= mostDollars) {
			errs = append(errs, fmt.Errorf("--price: must be a class, = and more than 0 to %d dollars an hour, such as small=0.085, got %q", mostDollars, text))
			continue
		}
		errs = append(errs, oneOf("--price", class, classes))
		o.prices[class] = price
	}
	return errors.Join(errs...)
}

// mostDollars bounds the price of a machine's hour; the dearest of EC2 is some 700.
const mostDollars = 1000

// parseDays reads a time to look back: days such as 7d, or a duration.
func parseDays(field, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(max(-1, min(n, 1000))) * 24 * time.Hour
	}
	if err != nil || d < time.Hour || d > store.DemandLife {
		return 0, fmt.Errorf("%s: must be days or a duration from 1h to 35d, such as 7d or 12h, got %q", field, text)
	}
	return d, nil
}

func (o *adviseOptions) run(ctx context.Context, st *store.Store) error {
	now := o.clock.Now()
	from := now.Add(-o.back)
	v := adviceView{From: store.At(from), To: store.At(now), Classes: []classAdvice{}}
	requests, err := o.read(ctx, st, from, now, &v)
	if err != nil {
		return err
	}
	cfg := o.cfg.Controller("")
	demand := advisor.NewDemand(requests, o.cfg.Requests.Timeout, from, now)
	really := advisor.Really(demand)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(really)) {
		if _, configured := cfg.Classes[name]; !configured {
			v.Unconfigured = append(v.Unconfigured, name)
		} else if o.class == "" || o.class == name {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return notFound("no finished requests since %s", store.At(from))
	}
	tries, replays := map[string][]setting{}, 0
	for _, name := range names {
		tries[name] = settingsOf(o.cfg, name, demand, o.place)
		replays += len(tries[name])
	}
	demand = advisor.Bound(demand, replays)
	v.From, really = store.At(demand.From), advisor.Really(demand)
	var instances []store.Instance
	if err := st.Scan(ctx, store.Visitor{Instance: func(in store.Instance) { instances = append(instances, in) }, Bad: func(store.Key, error) {}}); err != nil {
		return err
	}
	v.Reuse = timeline.ReuseOf(instances)
	if err := o.recordedPrices(ctx, st, v.From.Time, now); err != nil {
		return err
	}
	for _, name := range names {
		classes := make([]reconciler.Class, len(tries[name]))
		for i, t := range tries[name] {
			classes[i] = t.Class
		}
		rows := advisor.Frontier(cfg, name, demand, classes)
		v.Classes = append(v.Classes, newClassAdvice(name, cmp.Or(really[name], new(advisor.Figures)), tries[name], rows, o.prices[name]))
	}
	width := 0
	if o.outTTY {
		width, _ = o.size()
	}
	return printAs(o.out, o.output, v, renderAdvice(v, width))
}

// recordedPrices takes for classes whose price is not given what an hour of their machines came to, where that was counted.
func (o *adviseOptions) recordedPrices(ctx context.Context, st *store.Store, from, to time.Time) error {
	costs, _, err := readCosts(ctx, o.app, st, o.cfg.Log, store.DaysOf(from, to))
	if err != nil {
		return err
	}
	spent := map[string]store.Spent{}
	for _, day := range costs {
		for _, row := range day.Rows {
			spent[row.Class] = spent[row.Class].Plus(row.Spent)
		}
	}
	for class, s := range spent {
		if hours := float64(s.Seconds()-s.Unpriced) / 3600; o.prices[class] == 0 && hours > 0 {
			o.prices[class] = math.Round(s.Dollars()/hours*10_000) / 10_000
		}
	}
	return nil
}

// warmUp is how much is read of what came before: what it left in the pool is there when the time that counts begins.
const warmUp = 24 * time.Hour

// read returns what is recorded, and notes what is not.
func (o *adviseOptions) read(ctx context.Context, st *store.Store, from, now time.Time, v *adviceView) ([]store.PastRequest, error) {
	var bad error
	all, err := store.ReadDemands(ctx, st, func(_ store.Key, err error) { bad = errors.Join(bad, err) }, store.DaysOf(from.Add(-warmUp), now)...)
	var requests []store.PastRequest
	for _, d := range all {
		requests = append(requests, d.Requests()...)
		if d.Day >= store.DayOf(from) {
			v.LeftOut += d.LeftOut
		}
	}
	return requests, errors.Join(err, bad)
}
