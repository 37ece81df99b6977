package ec2fleet

import (
	"net/url"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/fleet/ec2fleet/ec2test"
	"github.com/remuda-run/remuda/internal/awstest"
)

func TestMain(m *testing.M) { awstest.Main(m) }

// slow is longer than a test may take until the versions that it makes are there, by real time.
const slow = time.Hour

// config repeats calls without a pause: what is tested is what comes of it.
func config(t testing.TB, endpoint string) aws.Config {
	cfg := awstest.Config(t, endpoint)
	cfg.Retryer = func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			o.RateLimiter = ratelimit.None
		})
	}
	return cfg
}

func fleetURL(name string) *url.URL { return &url.URL{Scheme: "ec2", Host: name} }

// options are good ones for a server.
func options(s *ec2test.Server) Options {
	return Options{
		Subnets: s.Subnets(), SecurityGroups: []string{ec2test.Group}, AMI: ec2test.AMI, InstanceProfile: ec2test.Profile,
		UserData: "#!/bin/sh\necho hello\n", RootVolumeGiB: 40, Tags: map[string]string{"team": "build"}, Clock: clock.RealClock{},
	}
}

// opened opens a fleet and checks nothing.
func opened(t testing.TB, endpoint, name string, o Options) *Fleet {
	t.Helper()
	f, err := Open(t.Context(), fleetURL(name), config(t, endpoint), o)
	if err != nil {
		t.Fatalf("Open error = %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// fresh is ready at a server of its own.
func fresh(t testing.TB, change func(*Options)) (*ec2test.Server, *Fleet) {
	t.Helper()
	s := ec2test.New(t)
	return s, ready(t, s, change)
}

// ready is opened with its launch template made.
func ready(t testing.TB, s *ec2test.Server, change func(*Options)) *Fleet {
	t.Helper()
	o := options(s)
	if change != nil {
		change(&o)
	}
	f := opened(t, s.URL, "test", o)
	if _, err := f.Ensure(t.Context(), true); err != nil {
		t.Fatalf("Ensure error = %v", err)
	}
	return f
}

// spec is one that c6i.large, m5.large and r6i.large satisfy.
func spec(token string, count int) fleet.Spec {
	return fleet.Spec{
		Token: token, Count: count, ResourceClass: "small", UsageClass: spot, CPU: 2, Mem: 4096, AllowedTypes: []string{"*"},
	}
}

func planned(t testing.TB, f *Fleet, s fleet.Spec) fleet.Plan {
	t.Helper()
	p, err := f.Plan(t.Context(), s)
	if err != nil {
		t.Fatalf("Plan(%+v) error = %v", s, err)
	}
	return p
}

func launched(t testing.TB, f *Fleet, s fleet.Spec) fleet.Outcome {
	t.Helper()
	out, err := f.Launch(t.Context(), planned(t, f, s))
	if err != nil {
		t.Fatalf("Launch(%s) error = %v", s.Token, err)
	}
	return out
}

func idsOf(machines []fleet.Machine) []string {
	var ids []string
	for _, m := range machines {
		ids = append(ids, m.ID)
	}
	return ids
}

// parted is the server's image with a root device.
func parted(rootDevice string) types.Image {
	return types.Image{ImageId: aws.String(ec2test.AMI), RootDeviceName: aws.String(rootDevice)}
}
