package costs_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/remuda-run/remuda/internal/costs"
	"github.com/remuda-run/remuda/statemachine"
	"github.com/remuda-run/remuda/store"
)

var launched = time.Date(2026, 11, 26, 23, 50, 0, 0, time.UTC)

// machine is an instance that lives by the state table, as its record tells it.
type machine struct{ store.Instance }

func launch(t testing.TB, run store.RequestID) *machine {
	t.Helper()
	in := store.Instance{
		Principal: "i-1", ID: "i-1", State: statemachine.Created, RunID: run, Attempt: 1, Assignment: 1, ResourceClass: "large", UsageClass: store.Spot,
		InstanceType: "c6i.large", Price: 0.36, CreatedAt: store.At(launched), Since: store.At(launched), ChangedAt: store.At(launched),
		Threshold: store.At(launched.Add(time.Hour)),
	}
	in.History = in.History.With(in.CreatedAt, store.Entry{At: launched, Code: store.CodeLaunched, Detail: string(run)})
	return &machine{in}
}

// do makes an event happen so long after the launch.
func (m *machine) do(t testing.TB, after time.Duration, event statemachine.Event, run store.RequestID) {
	t.Helper()
	out, err := m.After(store.Transition{Event: event, Now: launched.Add(after), Limit: 24 * time.Hour, RunID: run, Attempt: 1, Reason: "gone"})
	if err != nil {
		t.Fatal(err)
	}
	m.Instance = out
}

// A machine boots for one run, serves it, is idle, serves another and ends: each second is in one phase, and a run's are its own.
func TestSegments_OfALife(t *testing.T) {
	m := launch(t, "4711")
	m.do(t, 30*time.Second, statemachine.HandedOver, "")
	m.do(t, 90*time.Second, statemachine.Released, "")
	m.do(t, 95*time.Second, statemachine.Pooled, "")
	m.do(t, 200*time.Second, statemachine.Claim, "4712")
	m.do(t, 203*time.Second, statemachine.HandedOver, "")
	m.do(t, 300*time.Second, statemachine.Released, "")
	m.do(t, 720*time.Second, statemachine.Expired, "")
	at := func(s int) time.Time { return launched.Add(time.Duration(s) * time.Second) }
	want := []costs.Segment{
		{at(0), at(30), costs.Booting, "4711"}, {at(30), at(90), costs.Busy, "4711"}, {at(90), at(200), costs.Idle, ""},
		{at(200), at(300), costs.Busy, "4712"}, {at(300), at(720), costs.Idle, ""},
	}
	if got := costs.Segments(m.Instance, at(5000)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Segments() =\n%v, want\n%v", got, want)
	}
	if got := costs.Segments(m.Instance, at(210)); len(got) != 4 || !got[3].To.Equal(at(210)) {
		t.Errorf("Segments() until 210 s = %v, want an end there", got)
	}
	// 0.36 dollars an hour are a ten-thousandth of a dollar a second.
	first := costs.OfRun("4711", []store.Instance{m.Instance}, launched, at(5000))
	if want := (store.Spent{Booting: 30, Busy: 60, BootingDollars: 0.003, BusyDollars: 0.006}); first != want {
		t.Errorf("OfRun(4711) = %+v, want %+v", first, want)
	}
	second := costs.OfRun("4712", []store.Instance{m.Instance}, launched, at(5000))
	l := costs.NewLedger(nil)
	l.Machine(m.Instance, launched, at(5000), func(run string) string { return "octo/" + run })
	rows := l.Rows()
	if len(rows) != 3 || rows[0].Spent.Idle != 530 || rows[1].Spent != first || rows[2].Spent != second || rows[2].Repository != "octo/4712" {
		t.Errorf("Rows() = %+v, want idle time of no repository, and each run's own", rows)
	}
}

// A claimed machine that is given back unused was its request's; one without a price costs seconds, and no dollars.
func TestLedger_Unpriced(t *testing.T) {
	m := launch(t, "4711")
	m.Price = 0
	m.do(t, 10*time.Second, statemachine.Unclaimed, "")
	m.do(t, 15*time.Second, statemachine.Pooled, "")
	m.do(t, 20*time.Second, statemachine.Claim, "4712")
	m.do(t, 25*time.Second, statemachine.Unclaimed, "")
	got := costs.OfRun("4712", []store.Instance{m.Instance}, launched, launched.Add(time.Minute))
	if want := (store.Spent{Busy: 5, Unpriced: 5}); got != want {
		t.Errorf("OfRun() = %+v, want %+v", got, want)
	}
}

// However a time is cut into steps, and whatever order machines come in, the sums are the same: what a controller has counted
// need not be counted again by the next. All that lives is in some phase.
func TestLedger_AddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var machines []store.Instance
		for i := range rapid.IntRange(1, 4).Draw(t, "machines") {
			machines = append(machines, randomLife(t, i))
		}
		const length = 30 * time.Minute
		cuts := []time.Duration{0}
		for range rapid.IntRange(0, 6).Draw(t, "cuts") {
			cuts = append(cuts, cuts[len(cuts)-1]+time.Duration(rapid.IntRange(0, 300_000).Draw(t, "cut"))*time.Millisecond)
		}
		cuts = append(cuts, length)
		whose := func(run string) string { return "octo/" + run }
		whole, steps := costs.NewLedger(nil), []store.CostRow(nil)
		for _, in := range machines {
			whole.Machine(in, launched, launched.Add(length), whose)
		}
		for i := 1; i < len(cuts); i++ {
			l := costs.NewLedger(steps)
			for j := range machines {
				l.Machine(machines[(i+j)%len(machines)], launched.Add(cuts[i-1]), launched.Add(cuts[i]), whose)
			}
			steps = l.Rows()
		}
		var alive float64
		for _, in := range machines {
			end := launched.Add(length)
			if in.State == statemachine.Terminated {
				end = in.Since.Time
			}
			alive += end.Sub(in.CreatedAt.Time).Seconds()
		}
		want, got := total(whole.Rows()), total(steps)
		if math.Abs(got.Dollars()-want.Dollars()) > 1e-7 || got.Seconds() != want.Seconds() || len(steps) != len(whole.Rows()) {
			t.Fatalf("in steps %+v, at once %+v", got, want)
		}
		if math.Abs(float64(want.Seconds())/1000-alive) > 0.01 {
			t.Fatalf("%v seconds are counted, machines lived %v", want.Seconds()/1000, alive)
		}
	})
}

func total(rows []store.CostRow) store.Spent {
	var sum store.Spent
	for _, r := range rows {
		sum = sum.Plus(r.Spent)
	}
	sum.Booting, sum.Busy, sum.Idle = round(sum.Booting), round(sum.Busy), round(sum.Idle)
	return sum
}

func round(s store.Seconds) store.Seconds { return store.Seconds(math.Round(float64(s) * 1000)) }

// randomLife is a machine after some events that the table allows.
func randomLife(t *rapid.T, n int) store.Instance {
	at := launched
	in := store.Instance{
		Principal: "i-1", ID: "i-1", State: statemachine.Created, RunID: "4711", Attempt: 1, Assignment: 1, ResourceClass: "large", UsageClass: store.OnDemand,
		Price: float64(n) * 0.0123, CreatedAt: store.At(at), Since: store.At(at), ChangedAt: store.At(at), Threshold: store.At(at.Add(time.Hour)),
	}
	in.History = in.History.With(in.CreatedAt, store.Entry{At: at, Code: store.CodeLaunched, Detail: "4711"})
	for range rapid.IntRange(0, 12).Draw(t, "events") {
		event := rapid.SampledFrom(statemachine.Events()).Draw(t, "event")
		at = at.Add(time.Duration(rapid.IntRange(1, 120_000).Draw(t, "pause")) * time.Millisecond)
		run := store.RequestID(rapid.SampledFrom([]string{"4711", "4712"}).Draw(t, "run"))
		out, err := in.After(store.Transition{Event: event, Now: at, Limit: time.Hour, RunID: run, Attempt: 1, Reason: "gone"})
		if err == nil {
			in = out
		}
	}
	return in
}

// Rows have a bound: what finds no room is in one row of its own.
func TestLedger_OtherRow(t *testing.T) {
	l := costs.NewLedger(nil)
	st := store.RunStatus{PendingAt: store.At(launched), ReadyAt: store.At(launched.Add(time.Second)), Instances: []store.Seat{
		{InstanceID: "i-1", UsageClass: store.Spot, Warm: true}, {InstanceID: "i-2", UsageClass: store.Spot},
	}}
	const n = 300
	for i := range n {
		l.Ready(store.RunRequest{ResourceClass: "large", Repository: fmt.Sprintf("octo/r%03d", i)}, st)
	}
	rows := costs.NewLedger(l.Rows()).Rows()
	requests, warm, cold := 0, 0, 0
	for _, r := range rows {
		requests, warm, cold = requests+r.Requests, warm+r.Warm, cold+r.Cold
	}
	if len(rows) != store.MaxCostRows || requests != n || warm != n || cold != n {
		t.Errorf("%d rows with %d requests, %d warm and %d cold starts, want %d with %d of each", len(rows), requests, warm, cold, store.MaxCostRows, n)
	}
	if other := rows[len(rows)-1]; other.Class != store.OtherCosts || other.Requests != n-store.MaxCostRows+1 {
		t.Errorf("the last row is %+v, want that of all others", other)
	}
}
