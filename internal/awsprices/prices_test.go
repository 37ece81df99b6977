package awsprices_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/smithy-go"
	testclock "k8s.io/utils/clock/testing"

	"github.com/remuda-run/remuda/internal/awsprices"
	"github.com/remuda-run/remuda/store"
)

var start = time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)

// history answers with one page for each list of prices.
type history struct {
	pages [][]types.SpotPrice
	calls []*ec2.DescribeSpotPriceHistoryInput
	err   error
}

func (h *history) DescribeSpotPriceHistory(
	_ context.Context, in *ec2.DescribeSpotPriceHistoryInput, _ ...func(*ec2.Options),
) (*ec2.DescribeSpotPriceHistoryOutput, error) {
	h.calls = append(h.calls, in)
	if h.err != nil {
		return nil, h.err
	}
	i := len(aws.ToString(in.NextToken))
	out := &ec2.DescribeSpotPriceHistoryOutput{SpotPriceHistory: h.pages[i]}
	if i+1 < len(h.pages) {
		out.NextToken = aws.String(strings.Repeat("x", i+1))
	}
	return out, nil
}

// list is the same of the price list.
type list struct {
	pages [][]string
	calls []*pricing.GetProductsInput
	err   error
}

func (l *list) GetProducts(_ context.Context, in *pricing.GetProductsInput, _ ...func(*pricing.Options)) (*pricing.GetProductsOutput, error) {
	l.calls = append(l.calls, in)
	if l.err != nil {
		return nil, l.err
	}
	i := len(aws.ToString(in.NextToken))
	out := &pricing.GetProductsOutput{PriceList: l.pages[i]}
	if i+1 < len(l.pages) {
		out.NextToken = aws.String(strings.Repeat("x", i+1))
	}
	return out, nil
}

func spotPrice(instanceType, zone, dollars string, at time.Time) types.SpotPrice {
	return types.SpotPrice{
		InstanceType: types.InstanceType(instanceType), AvailabilityZone: aws.String(zone), SpotPrice: aws.String(dollars), Timestamp: aws.Time(at),
	}
}

func product(instanceType, unit, prices string) string {
	return `{"product":{"attributes":{"instanceType":"` + instanceType + `"}},"terms":{"OnDemand":{"A.B":{"priceDimensions":{"A.B.C":{"unit":"` +
		unit + `","pricePerUnit":` + prices + `}}}}}}`
}

func known() (*history, *list) {
	return &history{pages: [][]types.SpotPrice{
			{spotPrice("c6i.large", "eu-west-1a", "0.0400", start.Add(-time.Hour)), spotPrice("c6i.large", "eu-west-1b", "0.0500", start.Add(-time.Hour))},
			{spotPrice("c6i.large", "eu-west-1a", "0.0300", start.Add(-2*time.Hour)), spotPrice("m6i.large", "eu-west-1a", "dear", start)},
		}}, &list{pages: [][]string{
			{product("c6i.large", "Hrs", `{"USD":"0.0960000000"}`), product("c6i.xlarge", "Hrs", `{"CNY":"1.5"}`)},
			{product("m6i.large", "Quantity", `{"USD":"9"}`), "{", product("r6i.large", "Hrs", `{"USD":"0.1480"}`)},
		}}
}

func TestPrices_OfARegion(t *testing.T) {
	spot, listed := known()
	p := awsprices.New("eu-west-1", spot, listed, testclock.NewFakePassiveClock(start))
	if _, ok := p.PerHour(store.Spot, "c6i.large", "eu-west-1a"); ok {
		t.Error("a price is known before any was read")
	}
	if err := p.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		usage, instanceType, zone string
		want                      float64 // 0: not known
	}{
		{store.Spot, "c6i.large", "eu-west-1a", 0.04}, // the newest, on whatever page
		{store.Spot, "c6i.large", "eu-west-1b", 0.05},
		{store.Spot, "c6i.large", "eu-west-1c", 0},
		{store.Spot, "m6i.large", "eu-west-1a", 0}, // no number
		{store.OnDemand, "c6i.large", "eu-west-1c", 0.096},
		{store.OnDemand, "r6i.large", "", 0.148},
		{store.OnDemand, "c6i.xlarge", "", 0}, // no dollars
		{store.OnDemand, "m6i.large", "", 0},  // not by the hour
	} {
		got, ok := p.PerHour(tt.usage, tt.instanceType, tt.zone)
		if got != tt.want || ok != (tt.want != 0) {
			t.Errorf("PerHour(%s, %s, %s) = %v, %t, want %v", tt.usage, tt.instanceType, tt.zone, got, ok, tt.want)
		}
	}
	in := spot.calls[0]
	if !slices.Equal(in.ProductDescriptions, []string{"Linux/UNIX"}) || !in.StartTime.Equal(start) || !in.EndTime.Equal(start) {
		t.Errorf("the history was asked for %v from %v to %v, want what Linux costs now", in.ProductDescriptions, in.StartTime, in.EndTime)
	}
	filters := map[string]string{}
	for _, f := range listed.calls[0].Filters {
		filters[aws.ToString(f.Field)] = aws.ToString(f.Value)
	}
	if filters["regionCode"] != "eu-west-1" || filters["tenancy"] != "Shared" || filters["operatingSystem"] != "Linux" {
		t.Errorf("the list was asked for %v", filters)
	}
}

// Prices are read once a day, and at once where that failed, which takes nothing away from what was known.
func TestPrices_RefreshedDaily(t *testing.T) {
	spot, listed := known()
	clk := testclock.NewFakePassiveClock(start)
	p := awsprices.New("eu-west-1", spot, listed, clk)
	refused := &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized"}
	listed.err = refused
	err := p.Refresh(t.Context())
	if !errors.Is(err, refused) || !strings.Contains(err.Error(), "pricing:GetProducts") {
		t.Errorf("Refresh() = %v, want an error that names the call", err)
	}
	if got, _ := p.PerHour(store.Spot, "c6i.large", "eu-west-1a"); got != 0.04 {
		t.Errorf("a spot price = %v where only the list failed, want 0.04", got)
	}
	listed.err = nil
	reads := func(wantSpot, wantList int) {
		t.Helper()
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(spot.calls) != wantSpot || len(listed.calls) != wantList {
			t.Errorf("%d calls for spot prices and %d for the list, want %d and %d", len(spot.calls), len(listed.calls), wantSpot, wantList)
		}
	}
	reads(2, 3) // two pages each; the list was refused once
	clk.SetTime(start.Add(24*time.Hour - time.Second))
	reads(2, 3)
	clk.SetTime(start.Add(24 * time.Hour))
	reads(4, 5)
	clk.SetTime(start.Add(48 * time.Hour))
	spot.err, listed.err = refused, refused
	if err := p.Refresh(t.Context()); err == nil {
		t.Error("Refresh() = nil where both were refused")
	}
	if got, _ := p.PerHour(store.OnDemand, "c6i.large", ""); got != 0.096 {
		t.Errorf("a price that was known = %v after a refresh that failed, want 0.096", got)
	}
}

func TestListRegion(t *testing.T) {
	for region, want := range map[string]string{ // "": no list has its prices in dollars
		"eu-west-1": "eu-central-1", "us-west-2": "us-east-1", "sa-east-1": "us-east-1", "ap-southeast-2": "ap-south-1",
		"me-south-1": "eu-central-1", "cn-north-1": "", "us-gov-west-1": "", "us-iso-east-1": "",
	} {
		if got, ok := awsprices.ListRegion(region); got != want || ok != (want != "") {
			t.Errorf("ListRegion(%s) = %q, %t, want %q", region, got, ok, want)
		}
	}
}

// FuzzPrices: whatever the list says of a product, a price is more than nothing, and nothing breaks.
func FuzzPrices(f *testing.F) {
	f.Add(product("c6i.large", "Hrs", `{"USD":"0.096"}`))
	f.Add(product("c6i.large", "Hrs", `{"USD":"-1"}`))
	f.Add(product("c6i.large", "Hrs", `{"USD":"+Inf"}`))
	f.Add(`{"terms":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := awsprices.New("eu-west-1", &history{pages: [][]types.SpotPrice{nil}}, &list{pages: [][]string{{text}}}, testclock.NewFakePassiveClock(start))
		if err := p.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, ok := p.PerHour(store.OnDemand, "c6i.large", ""); ok && (!(got > 0) || math.IsInf(got, 0)) {
			t.Errorf("PerHour() = %v of %q", got, text)
		}
	})
}
