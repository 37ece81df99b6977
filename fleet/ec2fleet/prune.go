package ec2fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/remuda-run/remuda/fleet"
)

const (
	// keepVersions are enough to look back at. EC2 allows 10,000 of a template (EC2 User Guide,
	// "Launch template restrictions"), and every edit makes one.
	keepVersions = 10
	// pruneChunk is how many one call deletes (EC2 API, DeleteLaunchTemplateVersions).
	pruneChunk = 200
)

// prune deletes versions of the template that nothing can need any more. Nothing goes within the
// created limit of a change of the default, or of Open, which knows of no change before it: a
// launch of the old default may still be repeated.
func (ts *templates) prune(ctx context.Context, live *types.LaunchTemplate) error {
	now := ts.clock.Now()
	ts.mu.Lock()
	settled := now.Sub(ts.switchedAt) >= ts.opts.CreatedLimit
	ts.mu.Unlock()
	if !settled || aws.ToInt64(live.LatestVersionNumber) <= keepVersions {
		return nil
	}
	versions, err := ts.versions(ctx, live)
	if err != nil || len(versions) <= keepVersions {
		return err
	}
	machines, err := ts.lister.list(ctx, "")
	if err != nil {
		return err
	}
	var errs []error
	for chunk := range slices.Chunk(spare(versions, machines, now.Add(-ts.opts.CreatedLimit)), pruneChunk) {
		errs = append(errs, ts.deleteVersions(ctx, live, chunk))
	}
	return errors.Join(errs...)
}

// spare returns the versions beyond the newest keepVersions that are neither the default, nor used by
// a machine that is not ended, nor younger than before.
func spare(versions []types.LaunchTemplateVersion, machines []fleet.Machine, before time.Time) []string {
	used := make(map[string]bool)
	for _, m := range machines {
		used[m.TemplateVersion] = used[m.TemplateVersion] || m.State != fleet.Ended
	}
	versions = slices.SortedFunc(slices.Values(versions), func(a, b types.LaunchTemplateVersion) int {
		return -cmp.Compare(aws.ToInt64(a.VersionNumber), aws.ToInt64(b.VersionNumber))
	})
	var out []string
	for _, v := range versions[min(keepVersions, len(versions)):] {
		number := strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10)
		young := v.CreateTime == nil || v.CreateTime.After(before)
		if !aws.ToBool(v.DefaultVersion) && !young && !used[templateVersion(aws.ToString(v.LaunchTemplateId), number)] {
			out = append(out, number)
		}
	}
	return out
}

func (ts *templates) deleteVersions(ctx context.Context, live *types.LaunchTemplate, versions []string) error {
	out, err := ts.ec2.DeleteLaunchTemplateVersions(ctx, &ec2.DeleteLaunchTemplateVersionsInput{
		LaunchTemplateId: live.LaunchTemplateId, Versions: versions,
	})
	resource := fmt.Sprintf("versions %s of %s", strings.Join(versions, ", "), ts.templateResource())
	if err != nil {
		return explain(err, "ec2:DeleteLaunchTemplateVersions", resource)
	}
	var errs []error
	for _, u := range out.UnsuccessfullyDeletedLaunchTemplateVersions {
		code := types.LaunchTemplateErrorCode("")
		if u.ResponseError != nil {
			code = u.ResponseError.Code
		}
		if code != types.LaunchTemplateErrorCodeLaunchTemplateVersionDoesNotExist { // another was first
			errs = append(errs, fmt.Errorf("ec2:DeleteLaunchTemplateVersions on version %d of %s: %s", aws.ToInt64(u.VersionNumber), ts.templateResource(), code))
		}
	}
	return errors.Join(errs...)
}
