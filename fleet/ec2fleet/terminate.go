package ec2fleet

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/fleet"
	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/lazyregexp"
	"github.com/remuda-run/remuda/internal/logkey"
)

const (
	// terminateChunk is how many ids share a call. EC2 advises at most 1,000 (EC2 API,
	// TerminateInstances), but one bad id fails the whole call (H67), and the single calls that follow
	// come out of a bucket of 100 (EC2 Developer Guide, "Request throttling": terminate actions).
	terminateChunk = 100
	// terminateAtOnce bounds the single calls in flight; that bucket refills at 5 a second.
	terminateAtOnce = 8
	// ownedChunk is how many values a filter takes (EC2 API, "Filter").
	ownedChunk = 200
)

// idForm is the form of an instance's id; nothing else can be one of our machines.
var idForm = lazyregexp.New(`^i-[0-9a-f]{8,17}$`)

// codeGone is EC2's word for an id it does not know, or no longer. Of a machine too new to be seen
// it says the same, which is why the caller repeats until the machine is listed as ended.
const codeGone = "InvalidInstanceID.NotFound"

// Terminate keeps the contract of fleet.Fleet. Machines that this handle did not launch or list
// lately are looked up first: only those with our mark are terminated (H59).
func (f *Fleet) Terminate(ctx context.Context, ids ...string) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !idForm().MatchString(id) })
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	ctx, cancel, err := f.begin(ctx)
	if err != nil {
		return fleet.TerminateErrors(ids, err)
	}
	defer cancel()
	var known, strange []string
	for _, id := range ids {
		if f.lister.own.has(id) {
			known = append(known, id)
		} else {
			strange = append(strange, id)
		}
	}
	found, failed := f.owned(ctx, strange)
	errs := []error{failed}
	for chunk := range slices.Chunk(slices.Concat(known, found), terminateChunk) {
		errs = append(errs, f.terminate(ctx, chunk))
	}
	return errors.Join(errs...)
}

// owned returns which of the ids carry our mark.
func (f *Fleet) owned(ctx context.Context, ids []string) ([]string, error) {
	var ours []string
	var errs []error
	for chunk := range slices.Chunk(ids, ownedChunk) {
		found, err := f.lister.instances(ctx, filter("tag:"+TagName, f.name), filter("instance-id", chunk...))
		for _, i := range found {
			ours = append(ours, aws.ToString(i.InstanceId))
		}
		if err != nil {
			errs = append(errs, fleet.TerminateErrors(chunk, err))
		}
	}
	return ours, errors.Join(errs...)
}

// terminate ends machines in one call. If EC2 refuses that for one of them, each gets its own, so
// that none suffers for another.
func (f *Fleet) terminate(ctx context.Context, ids []string) error {
	err := f.terminateCall(ctx, ids)
	class := awserr.ClassOf(err)
	if class == awserr.Denied {
		left, lookErr := f.living(ctx, ids)
		if lookErr != nil {
			return fleet.TerminateErrors(ids, errors.Join(err, lookErr))
		}
		if len(left) == 0 {
			return nil
		}
		if len(left) < len(ids) {
			return f.terminate(ctx, left)
		}
	}
	switch {
	case err == nil:
		return nil
	case len(ids) == 1:
		return single(ids[0], err)
	case !definite(class):
		return fleet.TerminateErrors(ids, err) // more calls would fare no better
	}
	f.log.Debug("terminate one by one", logkey.Count, len(ids), logkey.Error, err)
	var mu sync.Mutex
	var errs []error
	var calls errgroup.Group
	calls.SetLimit(terminateAtOnce)
	for _, id := range ids {
		calls.Go(func() error {
			if err := single(id, f.terminateCall(ctx, []string{id})); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
			return nil
		})
	}
	_ = calls.Wait() // every error is in errs
	return errors.Join(errs...)
}

// living returns those of ids that EC2 lists and that have not ended. To a policy whose condition is the mark,
// as ours is, a machine that is gone carries none: EC2 says UnauthorizedOperation then, not codeGone, and
// for all machines of a call that names it. So a denial is believed only of what is still there.
func (f *Fleet) living(ctx context.Context, ids []string) ([]string, error) {
	found, err := f.lister.instances(ctx, filter("instance-id", ids...))
	var left []string
	for _, i := range found {
		if stateOf(i) != fleet.Ended {
			left = append(left, aws.ToString(i.InstanceId))
		}
	}
	slices.Sort(left)
	return left, err
}

func (f *Fleet) terminateCall(ctx context.Context, ids []string) error {
	_, err := promptly(ctx, func(ctx context.Context) (*ec2.TerminateInstancesOutput, error) {
		return f.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	})
	resource := "instance " + ids[0]
	if len(ids) > 1 {
		resource = "several instances"
	}
	return explain(err, "ec2:TerminateInstances", resource)
}

// single is the result of a call for one id.
func single(id string, err error) error {
	if err == nil || awserr.Code(err) == codeGone {
		return nil
	}
	return &fleet.TerminateError{ID: id, Cause: err}
}
