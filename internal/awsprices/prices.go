// Package awsprices knows what EC2's instances cost: on demand by the price list, spot by the newest of its price history.
//
// Prices are list prices in US dollars per hour, of Linux on shared hardware in one region, without what an account has
// negotiated or paid in advance. All of a region's are read at once and kept in memory, so that asking for one is no call.
package awsprices

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/store"
)

// refreshEvery is how long prices count. EC2 moves spot prices "gradually based on long-term trends" (EC2 User Guide, "Spot
// Instance pricing history"), and lists change within months.
const refreshEvery = 24 * time.Hour

// SpotAPI is what is called of EC2.
type SpotAPI = ec2.DescribeSpotPriceHistoryAPIClient

// ListAPI is what is called of the price list.
type ListAPI = pricing.GetProductsAPIClient

// Prices are those of one region. They are safe for concurrent use.
type Prices struct {
	region string
	spot   SpotAPI
	list   ListAPI
	clock  clock.PassiveClock

	refreshing sync.Mutex // held by the one that asks AWS

	mu         sync.Mutex
	spotPrices sheet[place]
	onDemand   sheet[string] // by instance type
}

// place is where a spot instance of a type would run.
type place struct{ instanceType, zone string }

// sheet is what one of the two sources said last.
type sheet[K comparable] struct {
	dollars map[K]float64
	due     time.Time // when it is to be read again; zero: it was never read
}

// New returns the prices of a region, of which none is known before the first Refresh.
func New(region string, spot SpotAPI, list ListAPI, clk clock.PassiveClock) *Prices {
	return &Prices{region: region, spot: spot, list: list, clock: clk}
}

// PerHour returns what an instance costs, in dollars per hour, and false if that is not known. It makes no call.
func (p *Prices) PerHour(usageClass, instanceType, zone string) (float64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if usageClass == store.Spot {
		dollars, known := p.spotPrices.dollars[place{instanceType, zone}]
		return dollars, known
	}
	dollars, known := p.onDemand.dollars[instanceType]
	return dollars, known
}

// Refresh reads those prices that are older than a day. What cannot be read stays as it is; an error names the call that
// failed and what the operator can do, and the next Refresh tries it again.
func (p *Prices) Refresh(ctx context.Context) error {
	p.refreshing.Lock()
	defer p.refreshing.Unlock()
	return errors.Join(
		renew(p, &p.spotPrices, func() (map[place]float64, error) { return readSpot(ctx, p.spot, p.region, p.clock.Now()) }),
		renew(p, &p.onDemand, func() (map[string]float64, error) { return readList(ctx, p.list, p.region) }),
	)
}

// renew reads a sheet if that is due.
func renew[K comparable](p *Prices, s *sheet[K], read func() (map[K]float64, error)) error {
	p.mu.Lock()
	due := s.due
	p.mu.Unlock()
	if p.clock.Now().Before(due) {
		return nil
	}
	dollars, err := read()
	if err != nil {
		return fmt.Errorf("read prices: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.dollars, s.due = dollars, p.clock.Now().Add(refreshEvery)
	return nil
}

// dollarsIn reads a price of AWS, and returns false for what is none.
func dollarsIn(text string) (float64, bool) {
	dollars, err := strconv.ParseFloat(text, 64)
	return dollars, err == nil && dollars > 0 && !math.IsInf(dollars, 0)
}
