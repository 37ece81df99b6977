package dynamostore

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/remuda-run/remuda/store"
)

// batchKeys is how many keys BatchGetItem takes (DynamoDB, "Quotas"), and batches how many such calls of
// one Get run at once: the vitals of 10,000 instances, 200 calls of some 10 ms, then take a quarter of a second.
const (
	batchKeys = 100
	batches   = 8
)

// segments is how many parts of the table a scan reads at once. A page takes DynamoDB some 100 ms, so
// 8 parts of a table of 10,000 instances (16 MB with their vitals) take a quarter of a second; more would
// cost an idle table a read unit each, every few minutes.
const segments = 8

// Get implements store.Table. One key is read by GetItem, which is all that an agent may do.
func (t *Table) Get(ctx context.Context, c store.Consistency, keys ...store.Key) ([]store.Item, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	keys = distinct(keys)
	switch len(keys) {
	case 0:
		return nil, nil
	case 1:
		return t.getOne(ctx, c, keys[0])
	}
	var mu sync.Mutex
	var out []store.Item
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(batches)
	for chunk := range slices.Chunk(keys, batchKeys) {
		group.Go(func() error {
			items, err := t.getBatch(ctx, c, chunk)
			mu.Lock()
			defer mu.Unlock()
			out = append(out, items...)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// distinct returns keys without repetitions, which BatchGetItem refuses.
func distinct(keys []store.Key) []store.Key {
	seen := make(map[store.Key]bool, len(keys))
	out := make([]store.Key, 0, len(keys))
	for _, k := range keys {
		if !seen[k] && k.Partition != "" && k.Sort != "" { // no item has an empty part, and DynamoDB refuses to look
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

func (t *Table) getOne(ctx context.Context, c store.Consistency, key store.Key) ([]store.Item, error) {
	in := &dynamodb.GetItemInput{TableName: &t.name, Key: keyOf(key), ConsistentRead: aws.Bool(c == store.Consistent)}
	var found answer
	err := repeat(ctx, upTo(getTries), func() error {
		found = answer{}
		_, err := bounded(ctx, t.itemLimit, "dynamodb:GetItem", t.resource(), t.db.GetItem, in, found.into)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.unexpired(found.items), nil
}

// errUnprocessed says that DynamoDB left keys of a batch for later, for its load or because the answer would
// have been too large.
var errUnprocessed = fmt.Errorf("%w: keys were left unprocessed", store.ErrUnavailable)

// getBatch reads up to batchKeys keys. What is left unprocessed is asked for again after a pause, as long as
// every getTries answers bring something.
func (t *Table) getBatch(ctx context.Context, c store.Consistency, keys []store.Key) ([]store.Item, error) {
	pending := types.KeysAndAttributes{ConsistentRead: aws.Bool(c == store.Consistent)}
	for _, k := range keys {
		pending.Keys = append(pending.Keys, keyOf(k))
	}
	var found []store.Item
	pauses := upTo(getTries)
	err := repeat(ctx, pauses, func() error {
		in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{t.name: pending}}
		var some answer
		out, err := bounded(ctx, t.itemLimit, "dynamodb:BatchGetItem", t.resource(), t.db.BatchGetItem, in, some.into)
		if err != nil {
			return err
		}
		found = append(found, some.items...)
		left := out.UnprocessedKeys[t.name].Keys
		if len(left) == 0 {
			return nil
		}
		if len(left) < len(pending.Keys) {
			pauses.Reset()
		}
		pending.Keys = left
		return fmt.Errorf("dynamodb:BatchGetItem on %s: %w: %d of %d", t.resource(), errUnprocessed, len(left), len(keys))
	})
	if err != nil {
		return nil, err
	}
	return t.unexpired(found), nil
}

// unexpired leaves out what counts as absent.
func (t *Table) unexpired(items []store.Item) []store.Item {
	now := t.clock.Now().Unix()
	return slices.DeleteFunc(items, func(item store.Item) bool { return expired(item, now) })
}

// Scan implements store.Table. yield runs on the caller's goroutine only, while the next pages are being
// read.
func (t *Table) Scan(ctx context.Context, yield func(store.Item) error) error {
	if err := t.usable(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, reading := errgroup.WithContext(ctx)
	pages := make(chan []store.Item)
	for n := range int32(segments) {
		group.Go(func() error { return t.scanSegment(reading, n, pages) })
	}
	var failed error // of the readers; set before pages is closed
	go func() {
		failed = group.Wait()
		close(pages)
	}()
	var stopped error // by yield
	for page := range pages {
		if stopped != nil {
			continue // until every reader has seen that it is over
		}
		for _, item := range t.unexpired(page) {
			if stopped = yield(item); stopped != nil {
				cancel()
				break
			}
		}
	}
	if stopped != nil {
		return stopped
	}
	return failed
}

// scanSegment sends every page of one part of the table. A page may be empty and still not the last.
func (t *Table) scanSegment(ctx context.Context, segment int32, pages chan<- []store.Item) error {
	in := &dynamodb.ScanInput{
		TableName: &t.name, ConsistentRead: aws.Bool(true), Segment: aws.Int32(segment), TotalSegments: aws.Int32(segments),
	}
	for {
		var out *dynamodb.ScanOutput
		var page answer
		err := repeat(ctx, upTo(scanTries), func() (err error) {
			page = answer{}
			out, err = bounded(ctx, t.pageLimit, "dynamodb:Scan", t.resource(), t.db.Scan, in, page.into)
			return err
		})
		if err != nil {
			return err
		}
		select {
		case pages <- page.items:
		case <-ctx.Done():
			return ctx.Err()
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return nil
		}
	}
}
