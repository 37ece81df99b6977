package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/remuda-run/remuda/internal/machinelog"
)

// logsPrefix begins the keys of logs. The bucket's life cycle deletes what has it after machinelog.Keep.
const logsPrefix = "logs/"

// maxLog bounds what is read as the log of a machine, in bytes: four sources, each at most six times as long in JSON.
const maxLog = 4 * 6 * machinelog.SourceBytes

// Logs keeps logs in a bucket, by principal. A machine may write under its own alone, and read nothing.
type Logs struct {
	Bucket *Bucket
	// Principal is of whom it is that puts, as STS has it: AROA…:i-…. Who only gets needs none.
	Principal string
}

var _ machinelog.Store = Logs{}

// logKey is the one object of a machine.
func logKey(principal string) string { return logsPrefix + principal + "/last.json" }

// Put implements machinelog.Store.
func (s Logs) Put(ctx context.Context, l machinelog.Log) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("keep output of machine %s: %w", l.InstanceID, err)
	}
	return s.Bucket.put(ctx, logKey(s.Principal), bytes.NewReader(text), sha256.Sum256(text), nil)
}

// Get implements machinelog.Store. Which role a machine had is found in the bucket: there are few.
func (s Logs) Get(ctx context.Context, id string) (machinelog.Log, error) {
	var none machinelog.Log
	if !machinelog.ValidID(id) {
		return none, machinelog.ErrNone
	}
	pages := s3.NewListObjectsV2Paginator(s.Bucket.client, &s3.ListObjectsV2Input{Bucket: &s.Bucket.name, Prefix: aws.String(logsPrefix), Delimiter: aws.String(":")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return none, s.Bucket.explain(err, "s3:ListBucket", logsPrefix)
		}
		for _, role := range page.CommonPrefixes { // logs/AROA…:
			key := logKey(strings.TrimPrefix(aws.ToString(role.Prefix), logsPrefix) + id)
			// Listed rather than tried: who may list only what begins so is not told that an object is absent.
			found, err := s.Bucket.client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &s.Bucket.name, Prefix: &key})
			if err != nil {
				return none, s.Bucket.explain(err, "s3:ListBucket", logsPrefix)
			}
			if len(found.Contents) > 0 {
				return s.read(ctx, key)
			}
		}
	}
	return none, machinelog.ErrNone
}

func (s Logs) read(ctx context.Context, key string) (l machinelog.Log, err error) {
	text, _, err := s.Bucket.get(ctx, key, maxLog)
	if err == nil {
		if err = json.Unmarshal(text, &l); err != nil {
			err = fmt.Errorf("read %s: %w", s.Bucket.URL(key), err)
		}
	}
	return l, err
}
