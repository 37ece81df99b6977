package bucket

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/remuda-run/remuda/internal/awserr"
)

// clearChunk is how many versions one call deletes (S3 API, DeleteObjects).
const clearChunk = 1000

// ours reports whether an object is of those that this package and machines write. Others in the bucket are somebody's.
func ours(key *string) bool {
	k := aws.ToString(key)
	return k == ReleaseKey || strings.HasPrefix(k, Program+"/") || strings.HasPrefix(k, Runner+"/") || strings.HasPrefix(k, logsPrefix)
}

// Clear deletes every version of every object of ours, since S3 deletes no bucket that holds any, and returns how many; without
// apply, how many there are. A bucket that is gone holds none.
func (b *Bucket) Clear(ctx context.Context, apply bool) (versions int, _ error) {
	var all []types.ObjectIdentifier // before any is deleted: pages would not go on from one that is gone
	pages := s3.NewListObjectVersionsPaginator(b.client, &s3.ListObjectVersionsInput{Bucket: &b.name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if awserr.Code(err) == "NoSuchBucket" {
			break
		}
		if err != nil {
			return 0, b.explain(err, "s3:ListBucketVersions", "")
		}
		for _, v := range page.Versions {
			if ours(v.Key) {
				all = append(all, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
			}
		}
		for _, v := range page.DeleteMarkers {
			if ours(v.Key) {
				all = append(all, types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
			}
		}
	}
	if !apply {
		return len(all), nil
	}
	var errs []error
	for chunk := range slices.Chunk(all, clearChunk) {
		kept, err := b.deleteVersions(ctx, chunk)
		errs, versions = append(errs, err), versions+len(chunk)-kept
	}
	return versions, errors.Join(errs...)
}

// deleteVersions also returns how many are still there. S3 refuses each by itself, in an answer that is no error.
func (b *Bucket) deleteVersions(ctx context.Context, all []types.ObjectIdentifier) (kept int, _ error) {
	out, err := b.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &b.name, Delete: &types.Delete{Objects: all, Quiet: aws.Bool(true)}})
	if err != nil {
		return len(all), b.explain(err, "s3:DeleteObjectVersion", "")
	}
	if len(out.Errors) == 0 {
		return 0, nil
	}
	first := out.Errors[0]
	refusal := &smithy.GenericAPIError{
		Code: aws.ToString(first.Code), Message: fmt.Sprintf("%s (%d of %d versions are kept)", aws.ToString(first.Message), len(out.Errors), len(all)),
	}
	return len(out.Errors), b.explain(refusal, "s3:DeleteObjectVersion", aws.ToString(first.Key))
}
