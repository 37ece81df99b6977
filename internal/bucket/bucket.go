// Package bucket keeps the objects of an installation in S3: what is published for machines, which Release names, and what
// machines printed last. See docs/data-model.md.
package bucket

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/remuda-run/remuda/internal/awserr"
)

// Bucket is one bucket. It is safe for concurrent use.
type Bucket struct {
	name   string
	client *s3.Client
}

// Open calls nothing.
func Open(cfg aws.Config, name string) *Bucket {
	return &Bucket{name, s3.NewFromConfig(cfg, func(o *s3.Options) {
		// We give the SHA-256 of what we write; a CRC beside it would have the body sent in chunks, signed at their end.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	})}
}

// URL is where machines find an object.
func (b *Bucket) URL(key string) string { return "s3://" + b.name + "/" + key }

// errAbsent says that there is no such object, errChanged that another wrote it meanwhile.
var (
	errAbsent  = errors.New("no such object")
	errChanged = errors.New("another wrote it meanwhile")
)

// explain names call, object and remedy.
func (b *Bucket) explain(err error, call, key string) error {
	var answer *awshttp.ResponseError
	switch errors.As(err, &answer); {
	case awserr.Code(err) == "NoSuchBucket": // beside which nothing is absent
	case answer != nil && answer.HTTPStatusCode() == http.StatusNotFound: // of HEAD nothing else comes
		err = fmt.Errorf("%w: %w", errAbsent, err)
	case answer != nil && (answer.HTTPStatusCode() == http.StatusPreconditionFailed || answer.HTTPStatusCode() == http.StatusConflict):
		err = fmt.Errorf("%w: %w", errChanged, err)
	}
	return awserr.Explain(err, call, strings.TrimSuffix("bucket "+b.name+"/"+key, "/"))
}

// Read opens an object. Who calls closes it.
func (b *Bucket) Read(ctx context.Context, key string) (io.ReadCloser, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, b.explain(err, "s3:GetObject", key)
	}
	return out.Body, nil
}

// get reads an object of at most limit bytes, and its version.
func (b *Bucket) get(ctx context.Context, key string, limit int64) (content []byte, version string, err error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, "", b.explain(err, "s3:GetObject", key)
	}
	defer func() { err = errors.Join(err, out.Body.Close()) }()
	content, err = io.ReadAll(io.LimitReader(out.Body, limit+1))
	switch {
	case err != nil:
		return nil, "", b.explain(err, "s3:GetObject", key)
	case int64(len(content)) > limit:
		return nil, "", fmt.Errorf("%s has more than %d bytes", b.URL(key), limit)
	}
	return content, aws.ToString(out.ETag), nil
}

// has reports whether there is an object. Who may not list the bucket is refused where there is none.
func (b *Bucket) has(ctx context.Context, key string) (bool, error) {
	_, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key})
	err = b.explain(err, "s3:GetObject", key)
	if errors.Is(err, errAbsent) {
		return false, nil
	}
	return err == nil, err
}

// put writes an object that has a checksum. If version is not nil, it must be the one there, "" for none.
func (b *Bucket) put(ctx context.Context, key string, body io.ReadSeeker, sum [32]byte, version *string) error {
	in := &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: body, ChecksumSHA256: aws.String(encoded(sum))}
	switch {
	case version != nil && *version == "":
		in.IfNoneMatch = aws.String("*")
	case version != nil:
		in.IfMatch = version
	}
	_, err := b.client.PutObject(ctx, in)
	return b.explain(err, "s3:PutObject", key)
}

func hexed(sum [32]byte) string { return hex.EncodeToString(sum[:]) }
