package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/store"
)

// What prices are named is what is used: nothing, a file, or AWS, which is asked by a chore and not before.
func TestPrices_Named(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	cfg := config.Default()
	if p, err := pricesOf(t.Context(), cfg, clock.RealClock{}, slog.New(slog.DiscardHandler)); err != nil || p.prices != nil || p.refresh != nil {
		t.Errorf("pricesOf() = %+v, %v, want nothing", p, err)
	}
	cfg.Costs.Prices = "/nowhere/prices.yaml"
	if _, err := pricesOf(t.Context(), cfg, clock.RealClock{}, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "costs.prices: ") {
		t.Errorf("pricesOf() of no file = %v, want an error that names the setting", err)
	}
	cfg.Fleet, cfg.Costs.Prices = "ec2://remuda?region=eu-west-1", config.PricesAWS
	p, err := pricesOf(t.Context(), cfg, clock.RealClock{}, slog.New(slog.DiscardHandler))
	if err != nil || p.prices == nil || p.refresh == nil {
		t.Fatalf("pricesOf() of AWS = %+v, %v", p, err)
	}
	if _, known := p.prices.PerHour(store.Spot, "c6i.large", "eu-west-1a"); known {
		t.Error("a price is known before AWS was asked")
	}
	cfg.Fleet = "ec2://remuda?region=cn-north-1"
	if _, err = pricesOf(t.Context(), cfg, clock.RealClock{}, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "costs.prices: must be a file in cn-north-1") {
		t.Errorf("pricesOf() of AWS in China = %v, want an error that asks for a file", err)
	}
}

// An error is told once, another one again, and so is the same after it had passed, but not that of a controller that leads no
// longer. None stops the chore.
func TestPrices_ToldOnce(t *testing.T) {
	var out strings.Builder
	var err error
	refresh := toldOnce(slog.New(slog.NewTextHandler(&out, nil)), func(context.Context) error { return err })
	denied, away := errors.New("denied"), errors.New("away")
	for _, err = range []error{nil, denied, denied, away, nil, away} {
		if got := refresh(t.Context()); got != nil {
			t.Errorf("refresh() = %v, want nil", got)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	err = context.Canceled
	if got := refresh(over); !errors.Is(got, context.Canceled) {
		t.Errorf("refresh() of a term that is over = %v", got)
	}
	if told := strings.Count(out.String(), "prices cannot be read"); told != 3 {
		t.Errorf("told %d times, want 3:\n%s", told, out.String())
	}
}
