package page_test

import (
	"strings"
	"testing"

	"github.com/remuda-run/remuda/store"
)

func TestPage_Costs(t *testing.T) {
	r := led()
	_, body := get(t, serve(r, nil), "/")
	inOrder(t, body, "Costs, last 7 days", "Nothing was counted.")
	r.Costs = []store.Costs{
		{Day: "2026-02-27", Rows: []store.CostRow{{Class: "small", Spent: store.Spent{Busy: 600, Booting: 0.1, Idle: 0.2, Unpriced: 600.2999}, Requests: 1}}},
		{Day: "2026-02-28", Rows: []store.CostRow{
			{Class: "large", Repository: "<b>", Spent: store.Spent{Busy: 7200, Booting: 60, BusyDollars: 1.5, BootingDollars: 0.25}, Requests: 2},
			{Class: "large", Spent: store.Spent{Idle: 3600, IdleDollars: 0.25}},
		}},
		{Day: "2026-03-01", Rows: []store.CostRow{{Class: "large", Spent: store.Spent{Busy: 3600, BusyDollars: 0.5}, Requests: 1}}},
	}
	_, body = get(t, serve(r, nil), "/")
	inOrder(t, body, "Costs, last 7 days",
		">2026-03-01<", ">1<", ">1h00m<", ">0s<", ">0s<", ">0.50<", `value="0.250"`,
		">2026-02-28<", ">2<", ">2h00m<", ">1m00s<", ">1h00m<", ">2.00<", `value="1.000"`,
		">2026-02-27<", ">10m00s<", ">–<", `value="0.000"`,
		"Estimates by list prices", "Not in them: 10m00s of machines whose price is not known.")
	r.Costs = r.Costs[:1]
	if _, body = get(t, serve(r, nil), "/"); strings.Contains(body, "<meter") {
		t.Error("dollars are drawn where none are known")
	}
}
