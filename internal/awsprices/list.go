package awsprices

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"github.com/remuda-run/remuda/internal/awserr"
)

// service is EC2's code in the price list.
const service = "AmazonEC2"

// ListRegion is where the price list is asked for the prices of a region: it answers for all, from few (AWS Billing User
// Guide, "AWS Price List service endpoints"). It is none where prices are no dollars, in China, and where the credentials of
// the region are none of the list's, in GovCloud and in isolated regions.
func ListRegion(region string) (string, bool) {
	for _, apart := range [...]string{"cn-", "us-gov-", "us-iso", "eu-iso", "eusc-"} {
		if strings.HasPrefix(region, apart) {
			return "", false
		}
	}
	switch area, _, _ := strings.Cut(region, "-"); area {
	case "eu", "me", "af", "il":
		return "eu-central-1", true
	case "ap":
		return "ap-south-1", true
	}
	return "us-east-1", true
}

// wanted is what an instance of ours is in the price list: its price is that of running on demand, of Linux without further
// software, on shared hardware.
var wanted = [...][2]string{
	{"operatingSystem", "Linux"}, {"tenancy", "Shared"}, {"preInstalledSw", "NA"}, {"capacitystatus", "Used"},
	{"licenseModel", "No License required"}, {"marketoption", "OnDemand"},
}

// readList returns the on-demand price of every type of a region. Prices in another currency than dollars are not known.
func readList(ctx context.Context, api ListAPI, region string) (map[string]float64, error) {
	in := &pricing.GetProductsInput{ServiceCode: aws.String(service), Filters: []types.Filter{equal("regionCode", region)}}
	for _, f := range wanted {
		in.Filters = append(in.Filters, equal(f[0], f[1]))
	}
	out := map[string]float64{}
	pages := pricing.NewGetProductsPaginator(api, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, awserr.Explain(err, "pricing:GetProducts", "prices of "+region)
		}
		for _, text := range page.PriceList {
			if instanceType, dollars, ok := priceIn(text); ok {
				out[instanceType] = dollars
			}
		}
	}
	return out, nil
}

func equal(field, value string) types.Filter {
	return types.Filter{Type: types.FilterTypeTermMatch, Field: aws.String(field), Value: aws.String(value)}
}

// offer is what is read of one product of the list (AWS Billing User Guide, "Reading the service price list file").
type offer struct {
	Product struct {
		Attributes struct {
			InstanceType string `json:"instanceType"`
		} `json:"attributes"`
	} `json:"product"`
	Terms struct {
		OnDemand map[string]struct {
			PriceDimensions map[string]struct {
				Unit         string            `json:"unit"`
				PricePerUnit map[string]string `json:"pricePerUnit"`
			} `json:"priceDimensions"`
		} `json:"OnDemand"`
	} `json:"terms"`
}

// priceIn returns the type and the hourly price of a product, and false if it has none in dollars.
func priceIn(text string) (instanceType string, dollars float64, ok bool) {
	var o offer
	if json.Unmarshal([]byte(text), &o) != nil || o.Product.Attributes.InstanceType == "" {
		return "", 0, false
	}
	for _, term := range o.Terms.OnDemand {
		for _, d := range term.PriceDimensions {
			if price, ok := dollarsIn(d.PricePerUnit["USD"]); ok && d.Unit == "Hrs" {
				return o.Product.Attributes.InstanceType, price, true
			}
		}
	}
	return "", 0, false
}
