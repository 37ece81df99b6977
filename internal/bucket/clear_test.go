package bucket

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/remuda-run/remuda/internal/awserr"
	"github.com/remuda-run/remuda/internal/awstest"
)

// Of a bucket with versioning nothing is left, so that it can be deleted, over more than one page; then there is nothing
// to do, nor once the bucket is gone.
func TestClear_LeavesNoVersion(t *testing.T) {
	const name, region = "remuda-clear", "eu-west-1"
	client := s3.NewFromConfig(awstest.Config(t, awstest.Moto(t)), func(o *s3.Options) { o.UsePathStyle = true })
	b := &Bucket{name, client}
	place := &types.CreateBucketConfiguration{LocationConstraint: region}
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(name), CreateBucketConfiguration: place}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket: aws.String(name), VersioningConfiguration: &types.VersioningConfiguration{Status: types.BucketVersioningStatusEnabled},
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 1003 {
		key := fmt.Sprintf("logs/%d", max(i, 2)) // three versions of one
		if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(name), Key: &key, Body: strings.NewReader("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(name), Key: aws.String("logs/9")}); err != nil {
		t.Fatal(err)
	}
	for _, try := range []struct {
		apply bool
		want  int
	}{{false, 1004}, {true, 1004}, {true, 0}} {
		if n, err := b.Clear(t.Context(), try.apply); n != try.want || err != nil {
			t.Fatalf("Clear(%t) = %d, %v, want %d", try.apply, n, err, try.want)
		}
	}
	if _, err := client.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String(name)}); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Clear(t.Context(), true); n != 0 || err != nil {
		t.Errorf("Clear of no bucket = %d, %v", n, err)
	}
}

// What others keep in the bucket stays.
func TestClear_KeepsWhatIsNotOurs(t *testing.T) {
	s, b := opened(t)
	for _, key := range []string{"release.json", "program/a/remuda", "runner/a/x.tar.gz", "logs/a", "release.json.old", "programs/a", "payroll/key"} {
		s.Set(name, key, []byte("x"))
	}
	if n, err := b.Clear(t.Context(), true); n != 4 || err != nil {
		t.Errorf("Clear = %d, %v, want 4", n, err)
	}
	if n := s.Objects(name); n != 3 {
		t.Errorf("%d objects are left, want the 3 of others", n)
	}
}

// What S3 refuses is named, with call and remedy.
func TestClear_Refused(t *testing.T) {
	s, b := opened(t)
	s.Set(name, "logs/a", []byte("x"))
	for call, resource := range map[string]string{"s3:ListBucketVersions": "bucket remuda-1", "s3:DeleteObjectVersion": "bucket remuda-1"} {
		s.Allow(func(_, action, _ string) bool { return action != call })
		n, err := b.Clear(t.Context(), true)
		if n != 0 || awserr.ClassOf(err) != awserr.Denied || !strings.Contains(err.Error(), call+" on "+resource+": access denied: allow "+call) {
			t.Errorf("Clear without %s = %d, %v", call, n, err)
		}
	}
	if s.Object(name, "logs/a") == nil {
		t.Error("it is gone all the same")
	}
}
