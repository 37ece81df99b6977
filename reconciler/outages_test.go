package reconciler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/githubapi"
)

// A service that does not serve is told once, with what it means, and once when it serves again; what fails once is no
// news, another reason is, and a call that we cut off says nothing.
func TestOutages_ToldOncePerChange_H63(t *testing.T) {
	var out bytes.Buffer
	clk := clocktesting.NewFakeClock(dawn)
	o := newOutages(clk, slog.New(slog.NewTextHandler(&out, nil)))
	down, refused := fmt.Errorf("call: %w: 503", githubapi.ErrUnavailable), fmt.Errorf("call: %w: 401", githubapi.ErrRefused)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, step := range []struct {
		cut    bool // by us
		err    error
		reason string
		log    string
	}{
		{false, down, ReasonGitHubDown, ""},
		{false, nil, "", ""},
		{false, down, ReasonGitHubDown, ""},
		{false, down, ReasonGitHubDown, "GitHub does not answer"},
		{false, down, ReasonGitHubDown, ""},
		{true, nil, "", "a service serves again"},
		{true, down, "", ""},
		{false, refused, ReasonGitHubRefuses, ""},
		{false, down, ReasonGitHubDown, ""},
		{false, down, ReasonGitHubDown, "GitHub does not answer"},
		{false, refused, ReasonGitHubRefuses, ""},
		{false, refused, ReasonGitHubRefuses, "repairs the credentials"},
		{false, githubapi.ErrBusy, "", "serves again"},
	} {
		ctx := t.Context()
		if step.cut {
			ctx = over
		}
		o.note(ctx, serviceGitHub, step.err)
		is, _ := o.of(serviceGitHub)
		if is.reason != step.reason || step.reason != "" && !strings.Contains(is.text, step.err.Error()) {
			t.Errorf("after %v: %+v, want %q", step.err, is, step.reason)
		}
		if shown := o.lasting(serviceGitHub).Reason; shown != "" && shown != step.reason || step.log != "" && shown != step.reason {
			t.Errorf("after %v it shows %q, want %q", step.err, shown, step.reason)
		}
		if got := out.String(); (step.log == "") != (got == "") || !strings.Contains(got, step.log) {
			t.Errorf("after %v it logs %q, want %q in it", step.err, got, step.log)
		}
		out.Reset()
		clk.Step(outageAfter)
	}
	if _, fails := o.of(serviceFleet); fails {
		t.Error("another service fails with it")
	}
}

// What a fleet answers is no outage, whatever it says.
func TestOutages_OfTheFleet(t *testing.T) {
	for err, want := range map[error]string{
		fleet.ErrNoCapacity: "", fleet.ErrUnsatisfiable: "", fleet.ErrRefused: "",
		fleet.ErrThrottled: ReasonFleetThrottled, errors.New("dial tcp: timeout"): ReasonFleetDown,
	} {
		if got := outageOf(serviceFleet, fmt.Errorf("launch: %w", err)); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

// Each call fails with a text of its own. One of them is told, and another at most as often as a place in line.
func TestOutages_OneErrorAtATime_H63(t *testing.T) {
	clk := clocktesting.NewFakeClock(dawn)
	o := newOutages(clk, slog.New(slog.DiscardHandler))
	says := func(call, want string) {
		t.Helper()
		o.note(t.Context(), serviceGitHub, fmt.Errorf("%s: %w", call, githubapi.ErrUnavailable))
		if is, _ := o.of(serviceGitHub); !strings.Contains(is.text, want) {
			t.Errorf("after the failure of %s it says %q, want that of %s", call, is.text, want)
		}
	}
	says("delete runner 1", "delete runner 1")
	clk.Step(besideEvery - 1)
	says("delete runner 2", "delete runner 1")
	clk.Step(1)
	says("delete runner 3", "delete runner 3")
}

// A local fault has a separate reason, and the lease carries its cause.
func TestOutages_OfThisSide_ReviewB13b(t *testing.T) {
	var out bytes.Buffer
	clk := clocktesting.NewFakeClock(dawn)
	o := newOutages(clk, slog.New(slog.NewTextHandler(&out, nil)))
	fault := fmt.Errorf("list runners: %w: name resolution failed", githubapi.ErrLocal)
	o.note(t.Context(), serviceGitHub, fault)
	clk.Step(outageAfter)
	o.note(t.Context(), serviceGitHub, fault)
	is, _ := o.of(serviceGitHub)
	shown := o.lasting(serviceGitHub)
	if is.reason != ReasonGitHubLocal || shown.Reason != ReasonGitHubLocal || shown.Detail != fault.Error() {
		t.Errorf("the outage is %+v, shown as %+v", is, shown)
	}
	for _, text := range []string{is.text, OutageText(shown), out.String()} {
		if strings.Contains(text, "does not answer") || !strings.Contains(text, "not reached") || !strings.Contains(text, "name resolution failed") {
			t.Errorf("%q does not name the cause, or names another", text)
		}
	}
}
