// Package ec2fleet is a fleet whose machines are EC2 instances.
//
// A launch is one CreateFleet call of type instant on a launch template that this package keeps in
// step with its options (Ensure). Its complete input is frozen in the plan, and the plan's token is
// the call's ClientToken: EC2 answers a repetition with the first call's instances. What is ours is
// known by one tag, TagName; nothing else is listed or terminated (H59).
//
// EC2 takes at most four InstanceRequirements in a call ("more than the maximum allowed number of
// InstanceRequirements (4)") and refuses different ones that overlap, as well as two subnets of one
// zone ("duplicate instance pools"). So all overrides of a call carry the same requirements, one per
// zone, for at most four zones: see choose. See docs/architecture.md#fleet.
package ec2fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/lazyregexp"
	"github.com/remuda-run/remuda/internal/logkey"
)

// Tags of every machine, and of its volumes and its fleet. TagName marks the launch template too.
const (
	TagName   = "remuda-name"   // the installation
	TagLaunch = "remuda-launch" // the launch's token
	TagClass  = "remuda-class"  // the resource class
)

// Tags that EC2 itself sets on what it launches from a template.
const (
	tagTemplate        = "aws:ec2launchtemplate:id"
	tagTemplateVersion = "aws:ec2launchtemplate:version"
)

// Usage classes, as a spec and EC2 name them.
const (
	spot     = "spot"
	onDemand = "on-demand"
)

// callLimit bounds one method of a Fleet, all its calls and their repetitions by the SDK included. A
// CreateFleet of type instant answers when its instances are launched, which takes seconds.
const callLimit = 2 * time.Minute

var errCallLimit = fmt.Errorf("no answer of EC2 within %s", callLimit)

// Fleet is an open EC2 fleet. It starts no goroutine.
type Fleet struct {
	*client
	rest   *kind            // of classes that the options do not name
	kinds  map[string]*kind // by class
	lister *lister

	mu        sync.Mutex
	busyUntil time.Time // no launch before

	answers answers

	closed atomic.Bool
}

// client is what calls AWS for one installation.
type client struct {
	opts   Options
	name   string
	ec2    *ec2.Client
	iam    *iam.Client
	ssm    *ssm.Client
	quotas *servicequotas.Client
	log    *slog.Logger
	clock  clock.PassiveClock
}

var _ fleet.Fleet = (*Fleet)(nil)

// nameForm is the form of an installation's name: it becomes part of the name of a launch template,
// which takes 3 to 128 of these characters (EC2 API, CreateLaunchTemplate).
var nameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// Open returns the fleet of the installation that u names, ec2://<name>?region=…; cfg must be of that
// region. It calls nothing. What the fleet needs is made by Ensure.
func Open(_ context.Context, u *url.URL, cfg aws.Config, opts Options) (*Fleet, error) {
	name, err := installation(u, cfg.Region)
	if err != nil {
		return nil, fmt.Errorf("open fleet: %w", err)
	}
	if err := opts.complete(); err != nil {
		return nil, fmt.Errorf("open fleet %s: %w", name, err)
	}
	c := &client{
		opts: opts, name: name, ec2: ec2.NewFromConfig(cfg), iam: iam.NewFromConfig(cfg), ssm: ssm.NewFromConfig(cfg),
		quotas: servicequotas.NewFromConfig(cfg),
		log:    opts.Log.With(logkey.Component, "ec2fleet"), clock: opts.Clock,
	}
	f := &Fleet{client: c}
	f.rest, f.kinds = newKinds(c)
	f.lister = f.used()[0].lister // whichever: each knows the roles of all
	if opts.baseUsed() {
		f.lister = f.rest.lister
	}
	return f, nil
}

func installation(u *url.URL, region string) (string, error) {
	query := u.Query()
	want := query.Get("region")
	query.Del("region")
	if u.Scheme != "ec2" || u.User != nil || u.Path != "" || u.Fragment != "" || len(query) != 0 || !nameForm().MatchString(u.Host) {
		return "", fmt.Errorf("url %s: want ec2://<name>?region=<region>, the name of 1 to 100 letters, digits, '.', '_' and '-'", u.Redacted())
	}
	if region == "" || want != "" && want != region {
		return "", fmt.Errorf("url %s: the configuration's region must be that of the url, got %q", u.Redacted(), region)
	}
	return u.Host, nil
}

// Close makes later calls fail. The machines live on.
func (f *Fleet) Close() error {
	f.closed.Store(true)
	return nil
}

var errClosed = errors.New("fleet is closed")

// begin checks that f may be used and bounds the calls to come.
func (f *Fleet) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if f.closed.Load() {
		return nil, nil, errClosed
	}
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callLimit, errCallLimit)
	return ctx, cancel, nil
}

// within makes the calls of one method of f. What they are for is said in an error.
func within[T any](ctx context.Context, f *Fleet, what string, calls func(context.Context) (T, error)) (T, error) {
	var out T
	ctx, cancel, err := f.begin(ctx)
	if err == nil {
		defer cancel()
		out, err = calls(ctx)
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}
