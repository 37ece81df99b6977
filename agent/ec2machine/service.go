package ec2machine

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/internal/awserr"
)

// Principal returns the name under which IAM knows the instance, and so the store: <unique id of its
// role>:<instance id>. It calls sts:GetCallerIdentity, which needs no permission (STS API Reference),
// once, with the SDK's retries.
func (h *Host) Principal(ctx context.Context, cfg aws.Config) (string, error) {
	out, err := sts.NewFromConfig(h.Observe(cfg)).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", fmt.Errorf("find principal of %s: %w (the instance needs an instance profile, and a way to STS of %s)",
			h.InstanceID, awserr.Explain(err, "sts:GetCallerIdentity", "region "+cfg.Region), cfg.Region)
	}
	principal := aws.ToString(out.UserId)
	if role, ok := strings.CutSuffix(principal, ":"+h.InstanceID); !ok || role == "" {
		return "", fmt.Errorf("find principal of %s: must be <role>:%s, got %q: these credentials (%s) are not those of the instance's profile",
			h.InstanceID, h.InstanceID, principal, aws.ToString(out.Arn))
	}
	return principal, nil
}

// ServiceClock knows the clock of AWS.
type ServiceClock struct {
	clock  clock.PassiveClock
	offset atomic.Int64
}

// NewServiceClock returns one that knows nothing yet. clk is the computer's clock.
func NewServiceClock(clk clock.PassiveClock) *ServiceClock { return &ServiceClock{clock: clk} }

// Offset is the clock of AWS minus that of the machine, as the answers to calls with a configuration
// of Observe showed last; 0 before. It is exact to a second and half the time of a call.
func (c *ServiceClock) Offset() time.Duration { return time.Duration(c.offset.Load()) }

// Observe returns cfg with a client that reads the clock of each service it calls.
func (c *ServiceClock) Observe(cfg aws.Config) aws.Config {
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = http.DefaultClient
	}
	cfg.HTTPClient = observer{c, cfg.HTTPClient}
	return cfg
}

// observer is an HTTP client that looks at dates.
type observer struct {
	c    *ServiceClock
	next aws.HTTPClient
}

// slow is how long a call may take to show the time: the answer may have been dated at its
// beginning or at its end.
const slow = 5 * time.Second

// Do implements aws.HTTPClient.
func (o observer) Do(r *http.Request) (*http.Response, error) {
	sent := o.c.clock.Now()
	resp, err := o.next.Do(r)
	if err != nil {
		return resp, err
	}
	took := o.c.clock.Since(sent)
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil && took < slow {
		date = date.Add(time.Second / 2) // cut off by the header's form
		o.c.offset.Store(int64(date.Sub(sent.Add(took / 2).Round(0))))
	}
	return resp, nil
}
