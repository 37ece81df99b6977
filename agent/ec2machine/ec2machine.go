// Package ec2machine is an EC2 instance under the agent: who it is, when EC2 will take it away, and
// how it ends.
//
// It asks the instance metadata service by version 2 alone, and needs no permission of EC2: the
// instance's end is a power-off, which terminates it because its launch template says so
// (InstanceInitiatedShutdownBehavior). Its principal in the store is what STS calls it. See
// docs/architecture.md#agent.
package ec2machine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/cenkalti/backoff/v4"
	"k8s.io/utils/clock"

	"github.com/remuda-run/remuda/agent"
	"github.com/remuda-run/remuda/agent/scrub"
	"github.com/remuda-run/remuda/internal/atomicfile"
	"github.com/remuda-run/remuda/internal/logkey"
)

// TagName is the tag that names the installation an instance belongs to.
const TagName = "remuda-name"

// NoticePoll is how often to look for an interruption notice (EC2 User Guide, "Spot Instance
// interruption notices": every 5 seconds).
const NoticePoll = 5 * time.Second

// Options configure Open. All are required.
type Options struct {
	Dir   string        // of the agent; must exist
	Name  string        // of the installation that the instance must belong to
	Limit time.Duration // for finding out who the instance is
	Clock clock.PassiveClock
	Log   *slog.Logger
}

// Host is the instance that this process runs on. It is safe for concurrent use.
type Host struct {
	Identity
	*ServiceClock

	meta   *imds.Client
	log    *slog.Logger
	silent atomic.Bool // the metadata service did not answer last time
}

// Open finds out who the instance is. An agent that was started anew on the same boot knows it from
// the last one. If that takes longer than Options.Limit the machine is powered off: without a name it
// can have no dead-man timer. ErrForeign means that the instance belongs to another installation;
// what its boot scheduled then ends it.
func Open(ctx context.Context, o Options) (*Host, error) {
	if o.Dir == "" || o.Name == "" || o.Limit <= 0 || o.Clock == nil || o.Log == nil {
		return nil, errors.New("open instance: dir, name, limit, clock and log must be set")
	}
	h := &Host{meta: imds.New(imds.Options{EnableFallback: aws.FalseTernary}), ServiceClock: NewServiceClock(o.Clock), log: o.Log}
	limited, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	err := h.identify(limited, o)
	switch {
	case err == nil:
		return h, nil
	case limited.Err() != nil && ctx.Err() == nil:
		err = fmt.Errorf("open instance: not known within %s: %w", o.Limit, err)
		o.Log.Error("powering off: this machine cannot learn its identity", logkey.Error, err)
		return nil, errors.Join(err, PowerOff(context.WithoutCancel(ctx)))
	}
	return nil, fmt.Errorf("open instance: %w", err)
}

// identify fills in h.Identity, from the cache or from the metadata service.
func (h *Host) identify(ctx context.Context, o Options) error {
	file := filepath.Join(o.Dir, identityFile)
	cached, boot, err := readIdentity(file)
	if err != nil {
		return err
	}
	if cached.known(boot, o.Name) {
		h.Identity = cached
		return nil
	}
	try := func() error {
		h.Identity, err = h.ask(ctx, o.Name)
		if errors.Is(err, ErrForeign) {
			return backoff.Permanent(err)
		}
		return err
	}
	again := func(err error, wait time.Duration) {
		h.log.Warn("the instance's identity is not known yet; it is asked for again", logkey.Error, err, logkey.Seconds, wait.Seconds())
	}
	pause := backoff.NewExponentialBackOff(backoff.WithInitialInterval(retryFirst),
		backoff.WithMaxInterval(retryMax), backoff.WithMaxElapsedTime(0))
	if rerr := backoff.RetryNotify(try, backoff.WithContext(pause, ctx), again); rerr != nil {
		if err == nil || errors.Is(err, ErrForeign) {
			return rerr
		}
		return fmt.Errorf("%w: %w", rerr, err)
	}
	if cached.InstanceID != "" && cached.InstanceID != h.InstanceID {
		h.log.Warn("state of another instance was found and dropped", logkey.InstanceID, cached.InstanceID)
		if err := errors.Join(agent.Forget(o.Dir), scrub.Forget(o.Dir)); err != nil { // the image was made of a machine in use
			return fmt.Errorf("forget the state of another instance: %w", err)
		}
	}
	h.Boot = boot
	if err := atomicfile.WriteJSON(file, h.Identity, 0o600); err != nil {
		return fmt.Errorf("write identity: %w", err)
	}
	return nil
}

// retryFirst and retryMax bound the pause between two tries of a service of the machine's own host,
// which takes calls by the hundred per second and instance.
const (
	retryFirst = 200 * time.Millisecond
	retryMax   = 5 * time.Second
)
