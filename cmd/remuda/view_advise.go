package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/remuda-run/remuda/internal/advisor"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/timeline"
	"github.com/remuda-run/remuda/store"
)

// adviceView is what `remuda advise -o json` prints. Its shape is documented in docs/operating.md.
type adviceView struct {
	From         store.Time `json:"from"` // later than requested if there is too much to replay
	To           store.Time `json:"to"`
	LeftOut      int        `json:"leftOut"` // at least so many requests are missing: the record was full, or a row was unreadable
	Unconfigured []string   `json:"unconfigured,omitempty"`

	Reuse   timeline.Reuse `json:"reuse"` // of the last runs
	Classes []classAdvice  `json:"classes"`
}

// classAdvice is about one class.
type classAdvice struct {
	Class    string      `json:"class"`
	Really   figuresView `json:"really"`
	Replayed figuresView `json:"replayed"`
	Agrees   bool        `json:"agrees"`
	Price    float64     `json:"price,omitempty"` // dollars an hour of a machine, as given or recorded
	Frontier []rowView   `json:"frontier"`
}

// rowView is one setting of a frontier.
type rowView struct {
	Present       bool   `json:"present"`
	Configuration string `json:"configuration"` // YAML
	figuresView
	Dollars float64 `json:"dollars,omitempty"` // of all machines' time; absent without a price

	idle, warm string // the same, for a table
}

// figuresView are figures. Machines' seconds are known of replays only.
type figuresView struct {
	Requests       int     `json:"requests"`
	Failed         int     `json:"failed"`
	Machines       int     `json:"machines"`
	HitRate        float64 `json:"hitRate"`
	WaitedP50      float64 `json:"waitedP50"` // seconds
	WaitedP95      float64 `json:"waitedP95"`
	WaitedSeconds  float64 `json:"waitedSeconds"` // of all requests
	IdleSeconds    float64 `json:"idleSeconds"`
	BootingSeconds float64 `json:"bootingSeconds"`
	BusySeconds    float64 `json:"busySeconds"`
}

func newFiguresView(f *advisor.Figures) figuresView {
	round := func(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }
	return figuresView{
		Requests: f.Requests, Failed: f.Failed, Machines: f.Machines, HitRate: math.Round(f.HitRate()*10_000) / 10_000,
		WaitedP50: round(f.Quantile(0.5)), WaitedP95: round(f.Quantile(0.95)), WaitedSeconds: round(f.Waited()),
		IdleSeconds: round(f.Idle), BootingSeconds: round(f.Booting), BusySeconds: round(f.Busy),
	}
}

func newClassAdvice(name string, really *advisor.Figures, tried []setting, rows []advisor.Row, price float64) classAdvice {
	out := classAdvice{Class: name, Really: newFiguresView(really), Price: price, Frontier: []rowView{}}
	for _, r := range rows {
		s := tried[r.Setting]
		out.Frontier = append(out.Frontier, rowView{
			Present: r.Setting == 0, Configuration: s.lines(name), figuresView: newFiguresView(&r.Figures), idle: config.DurationText(s.idle), warm: s.warm,
			Dollars: math.Round(r.MachineTime().Hours()*price*100) / 100,
		})
		if r.Setting == 0 {
			out.Replayed, out.Agrees = newFiguresView(&r.Figures), r.Agrees(really)
		}
	}
	return out
}

// renderAdvice writes a view for people.
func renderAdvice(v adviceView, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The figures cover the requests from %s\nto %s.\n", v.From, v.To)
	if v.LeftOut > 0 {
		fmt.Fprintf(&b, "All figures lack at least %s:\nthe record was full, or a row was unreadable.\n", plural(v.LeftOut, "request"))
	}
	if v.Reuse.Lost > 0 {
		fmt.Fprintf(&b, "%s.\n", v.Reuse)
	}
	for _, name := range v.Unconfigured {
		fmt.Fprintf(&b, "Class %s is not configured any more.\n", line(name, maxCell))
	}
	for _, c := range v.Classes {
		fmt.Fprintf(&b, "\nClass %s: %s for %s, and %d that failed\n", c.Class, plural(c.Really.Requests, "request"), plural(c.Really.Machines, "machine"), c.Really.Failed)
		was := &table{header: []string{"", "HIT RATE", "P50", "P95", "WAITED"}}
		was.add(append([]string{"really"}, c.Really.waits()...)...)
		was.add(append([]string{"replayed"}, c.Replayed.waits()...)...)
		b.WriteString(was.String(width))
		off := fmt.Sprintf("%.1f points of hit rate and %.1f %% of the time waited",
			100*math.Abs(c.Replayed.HitRate-c.Really.HitRate), 100*min(9.99, advisor.Off(c.Replayed.WaitedSeconds, c.Really.WaitedSeconds)))
		if c.Agrees {
			fmt.Fprintf(&b, "They differ by %s.\n", off)
		} else {
			fmt.Fprintf(&b, "They differ by %s:\nmore than 5 %%, so the rest is worth little. Machines that failed, were replaced\nor waited for capacity, or a setting that changed meanwhile, may be why.\n", off)
		}
		last := "BOOTING"
		if c.Price > 0 {
			last = "DOLLARS"
		}
		rows := &table{header: []string{"", "HIT RATE", "P50", "P95", "WAITED", "IDLE", last, "classes." + c.Class}}
		var floors []string
		for _, r := range c.Frontier {
			setting := "idle: " + r.idle
			if r.warm != "" {
				if !slices.Contains(floors, r.warm) {
					floors = append(floors, r.warm)
				}
				setting += fmt.Sprintf(", warm [%d]", slices.Index(floors, r.warm)+1)
			}
			mark := ""
			if r.Present {
				mark = "now"
			}
			cost := hours(r.BootingSeconds)
			if c.Price > 0 {
				cost = fmt.Sprintf("%.2f", r.Dollars)
			}
			rows.add(append(append([]string{mark}, r.waits()...), hours(r.IdleSeconds), cost, setting)...)
		}
		b.WriteString("\n" + rows.String(width))
		for i, floor := range floors {
			fmt.Fprintf(&b, "[%d] warm: %s\n", i+1, floor)
		}
		if c.Price > 0 {
			fmt.Fprintf(&b, "Dollars are an estimate: %g for each hour of a machine, whatever it does.\n", c.Price)
		}
	}
	return b.String()
}

// waits are the cells of a table.
func (f figuresView) waits() []string {
	took := func(seconds float64) string { return timeline.Took(time.Duration(seconds * float64(time.Second))) }
	return []string{fmt.Sprintf("%.1f %%", 100*f.HitRate), took(f.WaitedP50), took(f.WaitedP95), took(f.WaitedSeconds)}
}

func hours(seconds float64) string { return fmt.Sprintf("%.1f h", seconds/3600) }
