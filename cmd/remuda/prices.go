package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awsprices"
	"github.com/remuda-run/remuda/internal/config"
	"github.com/remuda-run/remuda/internal/logkey"
	"github.com/remuda-run/remuda/internal/prices"
	"github.com/remuda-run/remuda/reconciler"
)

// priced is what machines cost, and what keeps that true.
type priced struct {
	prices  reconciler.Prices           // nil: none is known
	refresh func(context.Context) error // nil: they stay as they are
}

// pricesOf returns what machines cost, as far as cfg says. It asks nobody for prices: refresh does.
func pricesOf(ctx context.Context, cfg config.Config, clk clock.PassiveClock, log *slog.Logger) (priced, error) {
	switch path := cfg.Costs.Prices; path {
	case "":
		return priced{}, nil
	case config.PricesAWS:
		home, err := fleetAWS(ctx, cfg)
		if err != nil {
			return priced{}, fmt.Errorf("costs.prices: %w", err)
		}
		listed, ok := awsprices.ListRegion(home.Region)
		if !ok {
			return priced{}, asUsage(fmt.Errorf("costs.prices: must be a file in %s, for whose prices in dollars AWS cannot be asked, got %s", home.Region, path))
		}
		list := pricing.NewFromConfig(home, func(o *pricing.Options) { o.Region = listed })
		p := awsprices.New(home.Region, ec2.NewFromConfig(home), list, clk)
		return priced{p, toldOnce(log, p.Refresh)}, nil
	default:
		list, err := prices.Read(path)
		if err != nil {
			return priced{}, asUsage(fmt.Errorf("costs.prices: %w", err))
		}
		return priced{prices: list}, nil
	}
}

// toldOnce tells an error of refresh when it is another than the last: machines are launched without prices, too, and the next round
// tries again. A round that was cut off, as the controller leads no longer, says nothing of prices.
func toldOnce(log *slog.Logger, refresh func(context.Context) error) func(context.Context) error {
	last := ""
	return func(ctx context.Context) error {
		err := refresh(ctx)
		if errors.Is(ctx.Err(), context.Canceled) {
			return err
		}
		if err != nil && err.Error() != last {
			log.Warn("prices cannot be read; machines are launched all the same, and those whose price is not known are in no dollars", logkey.Error, err)
		}
		if last = ""; err != nil {
			last = err.Error()
		}
		return nil
	}
}
