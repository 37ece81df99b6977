package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/reconciler"
	"github.com/remuda-run/remuda/reconciler/audit"
	"github.com/remuda-run/remuda/store"
)

// controllerView is what the lease shows of the controllers: whether one leads, and what it last knew of itself.
type controllerView struct {
	Leads     bool       `json:"leads"`
	Holder    string     `json:"holder"` // "": the lease is given up, or none ever led
	Term      int64      `json:"term"`
	RenewedAt store.Time `json:"renewedAt"`
	store.Health

	vacancy string // why none leads; "" if one does
}

// readController reads the lease. Nil: this role may not, as the one of workflows, and nothing is known of controllers.
func readController(ctx context.Context, st *store.Store, now time.Time, o audit.Options) (*controllerView, error) {
	l, err := st.Lease(ctx)
	if errors.Is(err, store.ErrRefused) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	vacancy := o.Vacancy(l, now)
	return &controllerView{Leads: vacancy == "", Holder: l.Holder, Term: l.Term, RenewedAt: l.Renewed, Health: l.Health, vacancy: vacancy}, nil
}

// vacant reports whether it is known that none leads.
func (v *controllerView) vacant() bool { return v != nil && !v.Leads }

// noLeader is the error of who finds work while none leads.
func (v *controllerView) noLeader() error {
	return mark(errNoLeader, fmt.Errorf("no controller leads, and there is work: %s; start `remuda controller` on this store", v.vacancy))
}

// render is the head of the fleet's picture.
func (v *controllerView) render(now store.Time, s sheet) string {
	if v == nil {
		return ""
	}
	if !v.Leads {
		return s.alarm("controller  none leads: " + v.vacancy)
	}
	leads := fmt.Sprintf("%s leads, term %d", v.Holder, v.Term)
	if v.Holder == "" {
		leads = fmt.Sprintf("none leads at this moment: the lease was given up %s ago, after term %d", ageText(v.RenewedAt, now), v.Term)
	}
	parts := []string{leads}
	for _, last := range []struct {
		what string
		at   store.Time
	}{{"scan", v.ScannedAt}, {"sweep", v.SweptAt}} {
		if !last.at.IsZero() {
			parts = append(parts, fmt.Sprintf("last %s %s ago", last.what, ageText(last.at, now)))
		}
	}
	if v.ControllerVersion != "" {
		parts = append(parts, v.ControllerVersion)
	}
	text := s.line("controller  " + strings.Join(parts, ", "))
	if g := v.GitHub; g.Limit > 0 {
		left := fmt.Sprintf("github      %d of %d calls left", g.Remaining, g.Limit)
		if !g.ResetAt.IsZero() {
			left += fmt.Sprintf(", all of them again in %s", short(max(0, g.ResetAt.Sub(now.Time))))
		}
		text += s.line(left)
	}
	text += budgetLine(v.Budget, s)
	for _, out := range []struct {
		service string
		outage  store.Outage
	}{{"github      ", v.GitHubOutage}, {"fleet       ", v.FleetOutage}} {
		if out.outage.Reason != "" {
			text += s.alarm(out.service + reconciler.OutageText(out.outage) + lastedText(now.Sub(out.outage.Since.Time)))
		}
	}
	if v.ConfigRefused != "" {
		text += s.alarm(fmt.Sprintf("settings    refused since %s, and those before stay in force: %s", refusedAt(v.ConfigRefusedAt.Time), printable(v.ConfigRefused)))
	}
	for _, held := range []struct {
		since store.Time
		why   string
	}{
		{v.BreakerOpenAt, "too many instances went silent at once, and none is given up"},
		{v.ListingIncompleteAt, "the fleet's listing lacks too many at once, and none is given up"},
	} {
		if !held.since.IsZero() {
			text += s.alarm(fmt.Sprintf("held back   for %s: %s", ageText(held.since, now), held.why))
		}
	}
	return text
}

// budgetLine says how much of the month's budget is used, and what is off for it.
func budgetLine(b store.Budget, s sheet) string {
	if b.Monthly == 0 {
		return ""
	}
	text := "budget      " + printable(b.Text())
	if b.Off != "" {
		text += "; off: " + b.Off
	}
	if b.Warns || b.Off != "" || !b.UnknownSince.IsZero() {
		return s.alarm(text)
	}
	return s.line(text)
}

// controllerHint tells a waiting client once that no controller does what it waits for.
type controllerHint struct {
	store *store.Store
	clock clock.Clock
	audit audit.Options
	next  every
	given bool
}

func newControllerHint(st *store.Store, clk clock.Clock, o audit.Options) *controllerHint {
	return &controllerHint{store: st, clock: clk, audit: o, next: every{period: hintAfter, next: clk.Now().Add(hintAfter)}}
}

// slowLook is how long a look takes only while the store is in trouble: its calls take some milliseconds.
const slowLook = time.Second

// look tells it if it is so. untouched says that no controller has answered; where the lease may not be read, nothing else
// shows that none leads. trouble is the store's, and not the controller's, which cannot renew its lease either; so is a look since
// began that took long.
func (h *controllerHint) look(ctx context.Context, show *progress, untouched bool, began time.Time, trouble error) {
	now := h.clock.Now()
	if trouble != nil || now.Sub(began) >= slowLook {
		h.next.next = now.Add(hintAfter)
	}
	if h.given || !h.next.due(now) {
		return
	}
	v, err := readController(ctx, h.store, now, h.audit)
	why := ""
	switch {
	case err != nil: // the store's trouble is shown, and is another
	case v.vacant():
		why = v.vacancy
	case untouched:
		why = fmt.Sprintf("no controller has taken this up for %s", hintAfter)
	case v == nil:
		h.given = true // it cannot be seen
	}
	if why != "" {
		show.note("%s: is `remuda controller` running on this store?", why)
		h.given = true
	}
}
