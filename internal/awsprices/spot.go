package awsprices

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/remuda-run/remuda/internal/awserr"
)

// product is the system whose spot prices count.
const product = "Linux/UNIX"

// readSpot returns the prices in force at now of every type in every zone of the region: a history begins with the last
// change before its start (EC2 API, DescribeSpotPriceHistory), so one that begins and ends now has nothing else.
func readSpot(ctx context.Context, api SpotAPI, region string, now time.Time) (map[place]float64, error) {
	pages := ec2.NewDescribeSpotPriceHistoryPaginator(api, &ec2.DescribeSpotPriceHistoryInput{
		ProductDescriptions: []string{product}, StartTime: aws.Time(now), EndTime: aws.Time(now),
	})
	out := map[place]float64{}
	newest := map[place]time.Time{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, awserr.Explain(err, "ec2:DescribeSpotPriceHistory", "region "+region)
		}
		for _, one := range page.SpotPriceHistory {
			where, at := place{string(one.InstanceType), aws.ToString(one.AvailabilityZone)}, aws.ToTime(one.Timestamp)
			if dollars, ok := dollarsIn(aws.ToString(one.SpotPrice)); ok && !newest[where].After(at) {
				out[where], newest[where] = dollars, at
			}
		}
	}
	return out, nil
}
